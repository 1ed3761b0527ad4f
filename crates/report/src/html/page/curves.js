// Histograms, percentile curves and lines: several series in a panel, each with a colour, a dash and a marker.
const lineStyle = (of, width = 2) => {
  const { colour, dash, marker } = styleOf(of.style);
  const empty = marker.startsWith('empty');
  return {
    symbol: marker.replace('empty', '').toLowerCase(),
    itemStyle: { color: empty ? variable('--card') : colour, borderColor: colour, borderWidth: empty ? 1.5 : 0 },
    lineStyle: { color: colour, type: dash, width },
  };
};

const histogramSeries = (picture, one) => {
  const { edges, y } = picture;
  const floor = y.from;
  const data = one.counts.map((count, i) => [edges[i], count > 0 ? count : floor, edges[i + 1], count]);
  data.push([edges[edges.length - 1], floor, edges[edges.length - 1], 0]);
  const style = lineStyle(one);
  const last = one.counts.findLastIndex((count) => count > 0);
  return {
    type: 'line', step: 'end', name: one.label, data, ...style, showSymbol: false, symbolSize: 7,
    areaStyle: { color: style.lineStyle.color, opacity: 0.1, origin: 'start' },
    markPoint: last < 0 ? undefined : {
      silent: true, symbol: style.symbol, symbolSize: 9, label: { show: false },
      data: [{ coord: [Math.min(one.max, picture.x.to), one.counts[last]] }],
    },
  };
};

const histogramOption = (picture, panel) => () => ({
  tooltip: { ...tooltip(() => []), trigger: 'axis', formatter: (at) => {
    const [from, , to] = at[0].value;
    const lines = at.map((one) => `${one.seriesName}: ${grouped(one.value[3])}`);
    return el('div', {}, [`${figure(from)} to ${withUnit(figure(to), picture.x.unit)}`, ...lines].map((line) => el('div', {}, name(line))));
  } },
  xAxis: axisOf(picture.x),
  yAxis: axisOf(picture.y, { vertical: true }),
  grid: { left: 8, right: 28, top: 30, bottom: 26, containLabel: true },
  series: panel.series.map((one, i) => ({
    ...histogramSeries(picture, one),
    markLine: i === 0 ? limitLine(picture.limit, 'xAxis') : undefined,
  })),
});

// 1 in 1000 is above: 99.9 % are not.
const nines = (oneIn) => {
  const digits = Math.max(0, Math.ceil(Math.log10(oneIn)) - 2);
  return `${Number((100 - 100 / oneIn).toFixed(digits + (Math.log10(oneIn) % 1 === 0 ? 0 : 1)))} %`;
};

// A marker at every so many points of a curve: enough to tell curves apart.
const MARKED = 12;

const percentilesOption = (picture, panel) => () => ({
  tooltip: { ...tooltip(() => []), trigger: 'axis', formatter: (at) => {
    const lines = at.map(({ seriesName, value }) => (value[2] === 'max' ? `${seriesName}: largest of ${plural(value[0], 'sample')} ${figure(value[1])}` : `${seriesName}: ${nines(value[0])} are at most ${figure(value[1])}`));
    return el('div', {}, lines.map((line) => el('div', {}, name(line))));
  } },
  xAxis: { ...axisOf(picture.x, { label: nines }), name: 'part of the samples' },
  yAxis: axisOf(picture.y, { vertical: true }),
  grid: { left: 8, right: 30, top: 30, bottom: 26, containLabel: true },
  series: panel.series.flatMap((one, i) => {
    const style = lineStyle(one);
    return [
      { type: 'line', name: one.label, data: one.points, ...style, showAllSymbol: true, symbolSize: (_, { dataIndex }) => (dataIndex % MARKED === 0 ? 6 : 0.1), markLine: i === 0 ? limitLine(picture.limit, 'yAxis') : undefined },
      { type: 'scatter', name: one.label, data: [[...one.max, 'max']], symbol: style.symbol, symbolSize: 11, itemStyle: { color: 'transparent', borderColor: style.lineStyle.color, borderWidth: 2 } },
    ];
  }),
});

// Whiskers of an interval.
const whiskers = (one, named) => ({
  type: 'custom', name: one.label, silent: true, encode: { x: 0, y: [1, 2] },
  data: one.points.filter((p) => p.interval).map((p) => [p.x, ...p.interval]),
  renderItem: (_, api) => {
    const [low, high] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
    const style = { stroke: styleOf(one.style).colour, lineWidth: 1.5 };
    const bar = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style });
    return { type: 'group', children: [bar(low[0], low[1], high[0], high[1]), bar(low[0] - 4, low[1], low[0] + 4, low[1]), bar(high[0] - 4, high[1], high[0] + 4, high[1])] };
  },
});

const linesOption = (picture, panel) => () => ({
  tooltip: tooltip(({ seriesName, value }) => [seriesName, `${axisName(picture.x)}: ${picture.x.names?.[value[0]] ?? figure(value[0])}`, `${axisName(picture.y)}: ${figure(value[1])}`]),
  xAxis: axisOf(picture.x),
  yAxis: axisOf(picture.y, { vertical: true }),
  grid: { left: 8, right: 28, top: 30, bottom: 26, containLabel: true },
  series: panel.series.flatMap((one, i) => [
    { type: 'line', name: one.label, data: one.points.map((p) => [p.x, p.y]), ...lineStyle(one), symbolSize: 8, showAllSymbol: true, markLine: i === 0 ? limitLine(picture.limit, 'yAxis') : undefined },
    whiskers(one),
  ]),
});

const CURVES = {
  histogram: {
    option: histogramOption,
    more: (one) => `, max ${figure(one.max)}`,
    says: (one, picture) => `${one.label}: ${plural(one.samples, 'sample')}, max ${withUnit(figure(one.max), picture.x.unit)}`,
    table: (picture, panel, series) => table({
      caption: `${picture.title}, ${panel.label}: samples from (${picture.x.unit}) to below`,
      tall: true,
      columns: [{ title: 'From' }, { title: 'To', number: true }, ...series.map((s) => ({ title: s.label, number: true }))],
      rows: picture.edges.slice(0, -1).map((from, i) => [figure(from), figure(picture.edges[i + 1]), ...series.map((s) => grouped(s.counts[i]))])
        .filter((row) => row.slice(2).some((count) => count !== '0')),
    }),
  },
  percentiles: {
    option: percentilesOption,
    more: (one) => `, max ${figure(one.max[1])}`,
    says: (one, picture) => `${one.label}: largest of ${plural(one.max[0], 'sample')} ${withUnit(figure(one.max[1]), picture.y.unit)}`,
    table: (picture, panel, series) => table({
      caption: `${picture.title}, ${panel.label}: at most (${picture.y.unit}) are`,
      tall: true,
      columns: [{ title: 'Series' }, { title: 'Part of the samples', number: true }, { title: `At most (${picture.y.unit})`, number: true }],
      rows: series.flatMap((s) => [...s.points.map(([x, y]) => [s.label, nines(x), figure(y)]), [s.label, 'all', figure(s.max[1])]]),
    }),
  },
  lines: {
    option: linesOption,
    says: (one, picture) => `${one.label}: ${plural(one.points.length, 'point')}, from ${figure(Math.min(...one.points.map((p) => p.y)))} to ${withUnit(figure(Math.max(...one.points.map((p) => p.y))), picture.y.unit)}`,
    table: (picture, panel, series) => table({
      caption: `${picture.title}, ${panel.label}`,
      tall: true,
      columns: [{ title: 'Series' }, { title: axisName(picture.x), number: true }, { title: axisName(picture.y), number: true }, { title: 'Interval', number: true }],
      rows: series.flatMap((s) => s.points.map((p) => [s.label, picture.x.names?.[p.x] ?? figure(p.x), figure(p.y), p.interval ? `${figure(p.interval[0])} to ${figure(p.interval[1])}` : '–'])),
    }),
  },
};
