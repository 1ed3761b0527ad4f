// Work with files: bars of each I/O scheduler, and where the disk was over time.
const barsHeight = (rows) => `${Math.max(5.5, 2.2 * rows + 2.8)}rem`;

const barsChart = (picture, panel, rows, at) => {
  const scale = panel.scales[at];
  const of = (row) => row.bars[at];
  const says = rows.map((row) => `${row.label}: ${of(row) ? withUnit(of(row).text, scale.unit) : 'no value'}`).join('. ');
  const host = chart(`${picture.title}, ${panel.label}, ${scale.label}. ${says}.`, () => ({
    tooltip: tooltip(({ name: row, value, seriesType }) => (seriesType === 'scatter'
      ? [row, `a seed: ${withUnit(figure(value[0]), scale.unit)}`] : [row, `median over the seeds: ${withUnit(figure(value), scale.unit)}`])),
    grid: { left: 8, right: 56, top: 8, bottom: 34, containLabel: true },
    xAxis: { ...axisOf({ label: `${scale.label}, ${scale.better}`, unit: scale.unit, from: 0, to: scale.to }), splitNumber: 4 },
    yAxis: { type: 'category', inverse: true, data: rows.map((row) => row.label), axisTick: { show: false }, axisLine: { lineStyle: { color: variable('--line') } }, axisLabel: { color: variable('--ink'), width: 130, overflow: 'break' } },
    series: [
      {
        type: 'bar', barWidth: '50%',
        data: rows.map((row) => ({ value: of(row)?.value ?? 0, itemStyle: { color: styleOf(row.style).colour } })),
      },
      // What the bar says stands beyond its seeds.
      {
        type: 'scatter', silent: true, symbolSize: 0.1, itemStyle: { color: 'transparent' },
        data: rows.flatMap((row, i) => (of(row) ? [{ value: [Math.max(of(row).value, ...of(row).seeds), i], label: { show: true, position: 'right', formatter: of(row).text, color: variable('--ink') } }] : [])),
      },
      {
        type: 'scatter', symbol: 'circle', symbolSize: 7, itemStyle: { color: variable('--card'), borderColor: variable('--ink'), borderWidth: 1 },
        data: rows.flatMap((row, i) => (of(row)?.seeds.length > 1 ? of(row).seeds.map((seed) => ({ name: row.label, value: [seed, i] })) : [])),
      },
    ],
  }));
  host.style.setProperty('height', barsHeight(rows.length));
  return host;
};

const barsPanel = (picture, panel) => {
  const rows = panel.rows.filter((row) => isShown(row));
  if (rows.length === 0) return [];
  const hosts = panel.scales.map((_, at) => barsChart(picture, panel, rows, at));
  return [{ hosts, node: el('div', { class: 'panel' }, el('p', { class: 'panel-title' }, name(panel.label)), el('div', { class: 'scales' }, hosts)) }];
};

const barsTable = (picture, panels) => panels.map((panel) => table({
  caption: `${picture.title}, ${panel.label}: median over the seeds, and from the smallest to the largest of them`,
  columns: [{ title: 'I/O scheduler' }, ...panel.scales.flatMap((s) => [{ title: withUnit(s.label, `(${s.unit})`), number: true }, { title: 'Seeds', number: true }])],
  rows: panel.rows.filter((row) => isShown(row)).map((row) => [row.label, ...row.bars.flatMap((bar) => (bar ? [figure(bar.value), `${figure(Math.min(...bar.seeds))} to ${figure(Math.max(...bar.seeds))}`] : ['–', '–']))]),
}));

const line = (from, to, style) => ({ type: 'line', shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style });

// A request: thin while it waits, thick from when the disk is at its place until it is done.
const requestLines = (_, api) => {
  const [arrived, there, ended, low, high] = [0, 1, 2, 3, 4].map((i) => api.value(i));
  const colour = api.visual('color');
  const [from, to] = [api.coord([there, low]), api.coord([ended, high])];
  return {
    type: 'group',
    children: [
      line(api.coord([arrived, low]), from, { stroke: colour, lineWidth: 0.6 }),
      line(from, [Math.max(to[0], from[0] + 1), to[1]], { stroke: colour, lineWidth: 2.4, lineCap: 'round' }),
    ],
  };
};

const requestsPanel = (picture, panel, group) => {
  const { x, y } = picture;
  const counted = panel.series.map((one) => `${one.label}: ${plural(one.requests.length, 'request')}`).join(', ');
  const about = `${picture.title}, ${panel.label}, seed ${panel.seed}: ${panel.said}. ${counted}.`;
  const host = chart(about, () => ({
    tooltip: tooltip(({ seriesName, value }) => [seriesName, `came at ${withUnit(figure(value[0]), x.unit)}`, `the disk was there at ${figure(value[1])}, done at ${figure(value[2])}`, `${y.label}: ${value[3]} ${y.unit}`]),
    dataZoom: ZOOM,
    xAxis: axisOf(x),
    yAxis: axisOf(y, { vertical: true }),
    grid: { left: 8, right: 22, top: 24, bottom: 26, containLabel: true },
    series: [
      ...panel.series.map((one) => ({
        type: 'custom', name: one.label, data: one.requests, encode: { x: [0, 2], y: [3, 4] }, clip: true,
        itemStyle: { color: styleOf(one.style).colour }, renderItem: requestLines,
      })),
      {
        type: 'custom', silent: true, data: panel.moves, encode: { x: [0, 2], y: [1, 3] }, clip: true,
        renderItem: (_, api) => line(api.coord([api.value(0), api.value(1)]), api.coord([api.value(2), api.value(3)]), { stroke: variable('--soft'), lineWidth: 0.6 }),
        markArea: panel.longest ? { silent: true, itemStyle: { color: variable('--ink'), opacity: 0.1 }, data: [panel.longest.map((at) => ({ xAxis: at }))] } : undefined,
      },
    ],
  }), group);
  return { hosts: [host], node: el('div', { class: 'panel' }, el('p', { class: 'panel-title' }, name(panel.label)), el('p', {}, `${panel.said}; seed ${panel.seed}`), legend(panel.series), host) };
};

const requestsTable = (picture, panels) => table({
  caption: `${picture.title}: what each panel shows`,
  columns: [{ title: 'Panel' }, { title: 'Seed', number: true }, { title: 'Longest operation' }, { title: 'Requests drawn' }, { title: 'At the edge', number: true }],
  rows: panels.map((p) => [p.label, grouped(p.seed), p.said, p.series.map((one) => `${one.label} ${grouped(one.requests.length)}`).join(', '), grouped(p.outside)]),
});
