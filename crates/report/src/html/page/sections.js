// The sections of a run, the answer first.
const answer = (run) => {
  const a = run.answer;
  return [
    a.unfinished && el('p', { class: 'unfinished' }, el('strong', {}, '⚠ '), whole(a.unfinished)),
    el('div', { class: `answer ${a.outcome ?? ''}` },
      el('p', { class: 'headline' }, a.outcome && [outcomeMark(a.outcome), ' '], whole(a.headline)),
      a.lines.length > 0 && el('ul', { class: 'lines' }, a.lines.map((line) => el('li', {}, whole(line))))),
  ];
};

const verdicts = (run) => {
  const place = el('div');
  const draw = () => place.replaceChildren(table({
    caption: `No latency above ${run.answer.limit}`,
    kind: 'verdicts',
    columns: [{ title: 'Subject' }, { title: 'Verdict' }, { title: 'Why' }, { title: 'Rests on' }],
    rows: run.answer.verdicts.filter(isShown).map((v) => [v.label, outcomeMark(v.outcome),
      v.reasons.length === 1 ? v.reasons[0] : el('ul', {}, v.reasons.map((reason) => el('li', {}, name(reason)))), v.rests_on]),
  }));
  onFilter(draw);
  draw();
  return place;
};

const ranking = (run) => [
  table({
    caption: 'From the first option on; the cost is time, of hackbench and of a hop of switch, as multiples of the first option’s.',
    columns: [{ title: 'Option' }, { title: 'Verdict' }, { title: 'Largest latency, us', number: true },
      { title: 'hackbench', number: true }, { title: 'switch', number: true }],
    rows: run.ranking.options.map((r) => [r.label, outcomeMark(r.outcome), r.max, r.hackbench, r.switch]),
  }),
  el('p', {}, el('strong', {}, name(run.ranking.answer))),
];

const thenAndNow = (run) => table({
  caption: 'Published figures are of the machines of their time, in real time; ours of this run. They do not compare digit by digit.',
  columns: [{ title: 'Published' }, { title: 'Then', number: true }, { title: 'Now: max (median)' }, { title: 'Source' }],
  rows: run.beside.map((b) => [b.label, withUnit(b.value, b.unit),
    b.ours.length === 0 ? el('span', { class: 'soft' }, 'not measured in this run')
      : el('ul', {}, b.ours.map((o) => el('li', {}, el('strong', {}, o.max), ` (${o.median}) ${o.unit}, `, name(o.label)))), b.source || '–']),
});

// Headings of the sections that a run has, in order.
const sections = (run) => [
  run.answer.verdicts.length > 0 && ['Verdicts', () => verdicts(run)],
  run.ranking && ['Ranking: the verdict and its cost', () => ranking(run)],
  run.pictures.length > 0 && ['Pictures', () => pictureGroups(run)],
  run.breakdowns.length > 0 && ['Why: the worst samples', () => run.breakdowns.map((breakdown) => breakdownPart(run, breakdown))],
  run.tables.length > 0 && ['Numbers', () => run.tables.flatMap((of) => numbers(run, of))],
  run.beside.length > 0 && ['Then and now', () => thenAndNow(run)],
  run.losses.length > 0 && ['Losses and warnings', () => el('ul', {}, run.losses.map((line) => el('li', {}, name(line))))],
  run.facts.subjects.length > 0 && ['Measured on', () => factsSection(run)],
  ['Repeat it', () => repeat(run)],
].filter(Boolean);

const runSection = (run, single) => {
  const id = freshId();
  const all = sections(run).map(([title, make]) => ({ title, make, id: freshId() }));
  return el('article', { class: 'run', 'aria-labelledby': id },
    el(single ? 'h1' : 'h2', { id }, name(run.title)),
    answer(run),
    el('nav', { class: 'contents', 'aria-label': `Contents: ${run.title}` }, el('ul', {}, all.map((s) => el('li', {}, el('a', { href: `#${s.id}` }, s.title))))),
    all.map((s) => el('section', { 'aria-labelledby': s.id }, el('h2', { id: s.id }, s.title), s.make())));
};
