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

const drawnClaims = (run) => run.claims.claims.filter((claim) => claim.chart);

const claimCharts = (run) => drawnClaims(run).length > 0 && el('section', { class: 'then-and-now-picture', 'aria-label': 'Then and now' },
  el('h2', {}, run.claims.heading.split(':')[0]),
  el('p', { class: 'soft' },
    drawnClaims(run).some((claim) => claim.chart.has_then) && [el('span', { class: 'mark then' }), ' published, a range as a bar; '],
    el('span', { class: 'mark now' }), ' ours, with the interval over the seeds. Factors to the first figure of each claim, further right is more.'),
  el('div', { class: 'claim-charts' }, drawnClaims(run).map(claimChart)));

const claimLine = (claim) => el('li', {}, claimMark(claim.verdict), ' ', name(claim.says),
  claim.notes.length > 0 && el('ul', {}, claim.notes.map((note) => el('li', { class: 'soft' }, name(note)))));

// What a study's page begins with.
const firstScreen = (run) => run.claims && [
  run.question && el('p', { class: 'question' }, whole(run.question)),
  el('div', { class: 'claims' },
    el('p', { class: 'summary' }, run.claims.summary),
    el('ul', { class: 'claim-list' }, run.claims.claims.map(claimLine))),
  claimCharts(run),
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
