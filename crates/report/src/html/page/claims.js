// The claims of a study: whether each holds now, then and now in one drawing, and the figures.
const HOLDS = {
  holds: ['✓', 'PASS'],
  'holds in part': ['✓', 'PASS'],
  'does not hold': ['≠', 'FAIL'],
  'not told': ['?', 'INCONCLUSIVE'],
  'not asked': ['–', 'NONE'],
};

const claimMark = (verdict) => {
  const [sign, kind] = HOLDS[verdict];
  return el('span', { class: `outcome ${kind}` }, el('span', { 'aria-hidden': 'true' }, sign), ` ${verdict}`);
};

const percent = (at) => `${(100 * at).toFixed(2)}%`;

const chartMark = (range, kind) => range && [
  el('span', { class: `interval ${kind}`, style: { left: percent(range.low), width: percent(Math.max(0, range.high - range.low)) } }),
  el('span', { class: `mark ${kind}`, style: { left: percent(range.best) } }),
];

// A row a figure: where the article has it and where we have it, on one axis of factors.
const claimChart = (claim) => el('div', { class: 'claim-chart' },
  el('p', { class: 'title' }, name(claim.says)),
  el('div', { class: 'axis-rows', 'aria-hidden': 'true' },
    claim.chart.rows.map((row) => [
      el('span', { class: 'of' }, name(row.of)),
      el('span', { class: 'track' },
        claim.chart.ticks.map((tick) => el('span', { class: `grid${tick.label === '1' ? ' one' : ''}`, style: { left: percent(tick.at) } })),
        chartMark(row.then_at, 'then'), chartMark(row.now_at, 'now')),
      el('span', { class: 'value' }, row.then_at ? '' : name(row.then)),
    ]),
    el('span', { class: 'of soft' }, 'factor'),
    el('span', { class: 'track ticks' }, claim.chart.ticks.map((tick) => el('span', { class: 'tick', style: { left: percent(tick.at) } }, tick.label))),
    el('span', { class: 'value' })));

// A series as two lines: factors upwards, the series to the right.
const CHART = { width: 430, height: 190, left: 40, right: 14, top: 10, bottom: 34 };
const seriesChart = (claim) => {
  const { rows, ticks, series } = claim.chart;
  const x = (at) => CHART.left + at * (CHART.width - CHART.left - CHART.right);
  const y = (at) => CHART.height - CHART.bottom - at * (CHART.height - CHART.top - CHART.bottom);
  const text = (words, attributes) => { const node = svg('text', attributes); node.textContent = words; return node; };
  const points = (kind) => rows.map((row, nth) => [series[nth], row[`${kind}_at`]]).filter(([, range]) => range);
  const drawn = (kind) => {
    const all = points(kind);
    if (all.length < 2) return [];
    return [
      svg('polyline', { class: `line ${kind}`, points: all.map(([at, range]) => `${x(at)},${y(range.best)}`).join(' ') }),
      ...all.map(([at, range]) => svg('line', { class: `bar ${kind}`, x1: x(at), x2: x(at), y1: y(range.low), y2: y(range.high) })),
      ...all.map(([at, range]) => svg('circle', { class: `point ${kind}`, cx: x(at), cy: y(range.best), r: 4 })),
    ];
  };
  return el('div', { class: 'claim-chart' },
    el('p', { class: 'title' }, name(claim.says)),
    svg('svg', { class: 'series', viewBox: `0 0 ${CHART.width} ${CHART.height}`, 'aria-hidden': 'true' },
      ...ticks.flatMap((tick) => [
        svg('line', { class: 'grid', x1: CHART.left, x2: CHART.width - CHART.right, y1: y(tick.at), y2: y(tick.at) }),
        text(tick.label, { class: 'label', x: CHART.left - 6, y: y(tick.at) + 4, 'text-anchor': 'end' }),
      ]),
      ...rows.map((row, nth) => text(row.of, { class: 'label', x: x(series[nth]), y: CHART.height - CHART.bottom + 18, 'text-anchor': nth === 0 ? 'start' : nth === rows.length - 1 ? 'end' : 'middle' })),
      ...drawn('then'), ...drawn('now')));
};

const drawnClaims = (run) => run.claims.claims.filter((claim) => claim.chart);

const claimCharts = (run) => drawnClaims(run).length > 0 && el('section', { class: 'then-and-now-picture', 'aria-label': 'Then and now' },
  el('h2', {}, run.claims.heading.split(':')[0]),
  el('p', { class: 'soft' },
    drawnClaims(run).some((claim) => claim.chart.has_then) && [el('span', { class: 'mark then' }), ` ${run.claims.claims[0].verb}, a range as a bar; `],
    el('span', { class: 'mark now' }), ' ours, with the interval over the seeds. Factors to the first figure of each claim, further right is more.'),
  el('div', { class: 'claim-charts' }, drawnClaims(run).map((claim) => (claim.chart.series ? seriesChart(claim) : claimChart(claim)))));

const claimLine = (claim) => el('li', {}, claimMark(claim.verdict), ' ', name(claim.says),
  claim.notes.length > 0 && el('ul', {}, claim.notes.map((note) => el('li', { class: 'soft' }, name(note)))));

// What a study's page begins with.
const firstScreen = (run) => [
  run.question && el('p', { class: 'question' }, whole(run.question)),
  run.claims && el('div', { class: 'claims' },
    el('p', { class: 'summary' }, run.claims.summary),
    el('ul', { class: 'claim-list' }, run.claims.claims.map(claimLine))),
  run.claims && claimCharts(run),
];

const thenAndNow = (run) => [
  el('p', {}, `${run.claims.heading}. ${run.claims.caption}`),
  ...run.claims.claims.map((claim) => el('div', { class: 'then-and-now' },
    el('h3', {}, name(claim.says)),
    el('p', {}, claimMark(claim.verdict)),
    figureTable(run, claim.table),
    el('ul', { class: 'lines' }, [...claim.pairs, ...claim.notes.filter((note) => !claim.pairs.includes(note)), ...claim.terms].map((line) => el('li', {}, name(line)))),
    el('p', {}, el('strong', {}, 'Why: '), name(claim.why)),
    el('p', { class: 'soft' }, 'Source: ', name(claim.source)))),
];
