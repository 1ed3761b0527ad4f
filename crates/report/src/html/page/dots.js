// A value over time, a dot a sample: a panel a subject, one below the other, on common axes that zoom together.
const extremes = (points) => points.reduce(([low, high], p) => [p[1] < low[1] ? p : low, p[1] > high[1] ? p : high], [points[0], points[0]]);

// The sample that is farthest from 0: of jitter it may be an early one.
const farthest = (points) => points.reduce((worst, p) => (Math.abs(p[1]) > Math.abs(worst[1]) ? p : worst), points[0]);

// A little above the lower end of an axis.
const lowEdge = ({ from, to, log }) => (log ? from * (to / from) ** 0.06 : from + 0.06 * (to - from));

const dotsPanel = (picture, panel, group) => {
  const { x, y, limit } = picture;
  const kept = panel.points.length;
  const behind = kept < panel.samples ? `${grouped(kept)} of ${plural(panel.samples, 'sample')} drawn, the extremes among them` : plural(panel.samples, 'sample');
  const missed = panel.missed > 0 ? `, ${plural(panel.missed, 'period')} missed (marked below)` : '';
  const worst = kept > 0 ? farthest(panel.points) : null;
  const most = worst ? `largest ${withUnit(figure(worst[1]), y.unit)} at ${withUnit(figure(worst[0]), x.unit)}` : 'no sample';
  const about = `${picture.title}, ${panel.label}. ${behind}${missed}; ${most}.`;
  const host = chart(about, () => {
    const { colour } = styleOf(panel.style);
    return {
      tooltip: tooltip(({ value }) => [panel.label, `${axisName(y)}: ${figure(value[1])}`, `${axisName(x)}: ${value[0]}`]),
      dataZoom: ZOOM,
      xAxis: axisOf(x),
      yAxis: axisOf(y, { vertical: true }),
      grid: { left: 8, right: 22, top: 24, bottom: 26, containLabel: true },
      series: [{
        type: 'scatter', name: panel.label, data: panel.points, symbolSize: 3, large: true, largeThreshold: 1500,
        itemStyle: { color: colour, opacity: 0.75 },
        markLine: limitLine(limit, 'yAxis'),
        markArea: { silent: true, itemStyle: { color: variable('--fail'), borderColor: variable('--fail'), borderWidth: 1 }, data: panel.missed_at.map(([from, to]) => [{ xAxis: from, yAxis: y.from }, { xAxis: to, yAxis: lowEdge(y) }]) },
        markPoint: worst ? {
          silent: true, symbol: 'circle', symbolSize: 11, itemStyle: { color: 'transparent', borderColor: variable('--ink'), borderWidth: 2 },
          label: { formatter: figure(worst[1]), color: variable('--ink'), position: worst[0] > (x.from + x.to) / 2 ? 'left' : 'right', distance: 7, fontSize: 12, fontWeight: 'bold' },
          data: [{ coord: worst }],
        } : undefined,
      }],
    };
  }, group);
  return { hosts: [host], node: el('div', { class: 'panel' }, el('p', { class: 'panel-title' }, name(panel.label)), el('p', {}, `${behind}${missed}; ${most}.`), host) };
};

const dotsTable = (picture, panels) => table({
  caption: `${picture.title}: what each panel shows`,
  columns: [
    { title: 'Panel' }, { title: 'Samples', number: true }, { title: 'Dots drawn', number: true }, { title: 'Missed', number: true },
    { title: `Smallest (${picture.y.unit})`, number: true }, { title: `Largest (${picture.y.unit})`, number: true }, { title: `Farthest from 0 at (${picture.x.unit})`, number: true },
  ],
  rows: panels.map((p) => {
    const [low, high] = p.points.length > 0 ? extremes(p.points) : [['', ''], ['', '']];
    return [p.label, grouped(p.samples), grouped(p.points.length), grouped(p.missed), figure(low[1]), figure(high[1]), p.points.length > 0 ? figure(farthest(p.points)[0]) : ''];
  }),
});
