// Charts that are drawn when they come into sight, again when colours or filters change, and all of them for the printer.
const charts = new Map();

const drawChart = (host) => {
  const entry = charts.get(host);
  if (!entry || host.clientWidth === 0) return;
  if (!entry.instance) {
    entry.instance = echarts.init(host, null, { renderer: 'canvas' });
    if (entry.group) entry.instance.on('datazoom', () => zoomAlike(entry));
  }
  entry.instance.setOption(common(entry), { notMerge: true });
};

// The charts of a group show the same stretch.
let zooming = false;
const zoomAlike = (from) => {
  if (zooming) return;
  zooming = true;
  const { start, end } = from.instance.getOption().dataZoom[0];
  charts.forEach((entry) => {
    if (entry !== from && entry.group === from.group) entry.instance?.dispatchAction({ type: 'dataZoom', start, end });
  });
  zooming = false;
};

const sight = new IntersectionObserver((seen) => seen.filter((s) => s.isIntersecting).forEach(({ target }) => {
  sight.unobserve(target);
  drawChart(target);
}), { rootMargin: '400px' });

const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => {
  if (!printing) charts.get(target)?.instance?.resize();
}));

const redraw = () => charts.forEach((entry, host) => { if (entry.instance) drawChart(host); });
themeListeners.push(redraw);

// A chart: `option` gives what is special to it, `about` is read to who cannot see it.
const chart = (about, option, group) => {
  const host = el('div', { class: 'chart' });
  charts.set(host, { option, about, group, instance: null });
  sight.observe(host);
  sizes.observe(host);
  return host;
};

const dropChart = (host) => {
  charts.get(host)?.instance?.dispose();
  charts.delete(host);
  sight.unobserve(host);
  sizes.unobserve(host);
};

const common = ({ option, about }) => ({
  animation: false,
  backgroundColor: 'transparent',
  textStyle: { fontFamily: variable('--sans'), color: variable('--ink') },
  aria: { enabled: true, label: { enabled: true, description: about } },
  grid: { left: 8, right: 22, top: 14, bottom: 26, containLabel: true },
  ...option(),
});

const tooltip = (lines) => ({
  trigger: 'item',
  confine: true,
  backgroundColor: variable('--card'),
  borderColor: variable('--line'),
  textStyle: { color: variable('--ink'), fontSize: 13 },
  formatter: (at) => el('div', {}, lines(at).map((line) => el('div', {}, name(line)))),
});

const SIZES = [[1e6, 'M'], [1e3, 'k']];
const short = (value) => {
  const [by, letter] = SIZES.find(([size]) => Math.abs(value) >= size) ?? [1, ''];
  return `${Number((value / by).toPrecision(4))}${letter}`;
};

// Ends of an axis are labelled only if they are round numbers, or if nothing else would be.
const isRound = (value, { from, to, log }) => {
  // An end comes back through a logarithm, rounded.
  const is = (end) => Math.abs(value - end) <= 1e-3 * Math.abs(end);
  if (!is(from) && !is(to)) return true;
  const between = log ? Math.floor(Math.log10(to)) - Math.ceil(Math.log10(from)) >= 0 : true;
  return !between || Math.abs(Number(value.toPrecision(log ? 1 : 2)) - value) <= 1e-9 * Math.abs(value) && !(log && value < 1 && to > 100);
};

// An axis of ECharts from one of ours.
const axisOf = (axis, { vertical = false, label = short } = {}) => {
  const named = axis.names?.length > 0;
  return {
    type: named ? 'category' : axis.log ? 'log' : 'value',
    ...(named ? { data: axis.names } : { min: axis.from, max: axis.to }),
    name: axisName(axis),
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 8 : 26,
    nameTextStyle: { color: variable('--soft'), fontSize: 12, align: vertical ? 'left' : 'center' },
    axisLabel: { color: variable('--soft'), hideOverlap: true, ...(named ? {} : { formatter: (value) => (isRound(value, axis) ? label(value) : '') }) },
    axisLine: { show: !vertical, lineStyle: { color: variable('--line') } },
    axisTick: { show: !vertical, lineStyle: { color: variable('--line') } },
    splitLine: { show: vertical, lineStyle: { color: variable('--grid') } },
    minorSplitLine: { show: false },
  };
};

// The criterion, with its name beside it.
const limitLine = (limit, axis) => (limit === undefined ? undefined : {
  silent: true,
  symbol: 'none',
  lineStyle: { color: variable('--fail'), type: [8, 4], width: 1.5 },
  label: { formatter: `limit ${figure(limit)}`, color: variable('--fail'), position: 'insideEndTop', fontSize: 11 },
  data: [{ [axis]: limit }],
});

// Zooming needs a key, so that the page still scrolls.
const ZOOM = [{ type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false, moveOnMouseMove: 'ctrl' }];

const legend = (series, more = () => '') => el('ul', { class: 'legend' }, series.map((one) => {
  const place = el('li');
  const draw = () => {
    const { colour, dash, marker } = styleOf(one.style);
    const empty = marker.startsWith('empty');
    const shape = marker.replace('empty', '').toLowerCase();
    const paint = { fill: empty ? variable('--card') : colour, stroke: colour, 'stroke-width': 1.5 };
    const shapes = {
      circle: () => svg('circle', { cx: 16, cy: 6, r: 3.5, ...paint }),
      rect: () => svg('rect', { x: 12.5, y: 2.5, width: 7, height: 7, ...paint }),
      triangle: () => svg('path', { d: 'M16 2 L20 9.5 L12 9.5 Z', ...paint }),
      diamond: () => svg('path', { d: 'M16 1.5 L20 6 L16 10.5 L12 6 Z', ...paint }),
    };
    place.replaceChildren(svg('svg', { width: 32, height: 12, 'aria-hidden': 'true' },
      svg('line', { x1: 0, x2: 32, y1: 6, y2: 6, stroke: colour, 'stroke-width': 2, 'stroke-dasharray': dash === 'solid' ? '' : dash.join(' ') }),
      shapes[shape]()), name(`${one.label}${more(one)}`));
  };
  place.redraw = draw;
  draw();
  return place;
}));
themeListeners.push(() => document.querySelectorAll('.legend li').forEach((place) => place.redraw()));

addEventListener('beforeprint', () => {
  printing = true;
  document.querySelectorAll('details.breakdown').forEach((part) => { part.dataset.was = part.open; part.open = true; });
  document.documentElement.dataset.before = document.documentElement.dataset.theme ?? 'system';
  setTheme('light');
  charts.forEach((_, host) => drawChart(host));
});
addEventListener('afterprint', () => {
  printing = false;
  document.querySelectorAll('details.breakdown').forEach((part) => { part.open = part.dataset.was === 'true'; });
  setTheme(document.documentElement.dataset.before);
});
