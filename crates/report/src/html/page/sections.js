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

// The same of a class of demand.
const MET = { PASS: '✓', FAIL: '✗', INCONCLUSIVE: '–' };
const metMark = (met) => el('span', { class: `outcome ${met.outcome}` }, el('span', { 'aria-hidden': 'true' }, MET[met.outcome]), ` ${met.words}`);

const demands = (run) => [
  table({
    caption: `Who meets what uses of a machine need, with the largest latency under all loads, in ${run.demands.unit}; the cost is time, as multiples of the first option’s.`,
    columns: [{ title: 'Option' }, { title: 'Largest latency', number: true, strong: true }, { title: 'hackbench', number: true },
      { title: 'switch', number: true }, ...run.demands.classes.map((c) => ({ title: c.title }))],
    rows: run.demands.options.map((o) => [o.label, o.max, o.hackbench, o.switch, ...o.met.map(metMark)]),
  }),
  el('ul', { class: 'lines' }, run.demands.classes.map((c) => el('li', {}, el('strong', {}, name(`${c.title}: ${c.answer}`)), ' ', name(c.why)))),
];

const trimmed = (run) => {
  const place = el('div');
  const first = run.trimmed.rows.some((row) => row.first);
  const columns = [{ title: 'Subject' }, { title: 'Probe' }, { title: 'Load' }, { title: 'Trimmed mean', number: true, strong: true },
    { title: 'Mean of all', number: true }, { title: 'Min', number: true }, { title: 'Max', number: true },
    { title: 'Values', number: true }, { title: 'Measured again', number: true },
    ...(first ? [{ title: 'Mean first', number: true }, { title: 'Max first', number: true }] : [])];
  const draw = () => {
    const rows = run.trimmed.rows.filter(isShown);
    place.replaceChildren(rows.length === 0 ? el('p', { class: 'empty' }, 'The filter leaves nothing of this table.') : table({
      caption: `Net cost of a switch in ${run.trimmed.unit}: as published, each seed without its best and its worst tenth, and of all values.`,
      columns,
      rows: rows.map((r) => [run.labels[r.subject] ?? r.subject, r.probe, r.load, r.trimmed, r.mean, r.min, r.max, r.values, r.again,
        ...(first ? r.first ?? ['–', '–'] : [])]),
    }));
  };
  onFilter(draw);
  draw();
  return [place, el('p', {}, run.trimmed.again)];
};

// A sign and a word, as of the verdicts.
const AGREEMENTS = { agrees: ['✓', 'PASS'], differs: ['≠', 'FAIL'], 'cannot be compared': ['–', 'INCONCLUSIVE'] };

const thenAndNow = (run) => [
  el('p', {}, 'Published figures are of the machines of their time, in real time. Only the order of figures and the factors between them compare; a factor is to the first figure of a group, with its interval over the seeds.'),
  ...run.then_and_now.map((group) => {
    const [sign, kind] = AGREEMENTS[group.verdict];
    const factors = group.rows.some((row) => row.factor_then);
    const ours = group.rows.some((row) => row.now);
    const cells = group.rows.some((row) => row.cell);
    return el('div', { class: 'then-and-now' },
      el('h3', {}, name(group.what)),
      el('p', {}, el('span', { class: `outcome ${kind}` }, el('span', { 'aria-hidden': 'true' }, sign), ` ${group.verdict}`)),
      table({
        caption: ours ? `Ours in ${group.unit}.` : 'No figures of ours.',
        columns: [{ title: 'Figure' }, { title: 'Then', number: true }, ...(factors ? [{ title: 'Factor then', number: true }] : []),
          ...(ours ? [{ title: 'Now', number: true, strong: true }, { title: 'Factor now', number: true }] : []),
          ...(cells ? [{ title: 'Our cell' }] : [])],
        rows: group.rows.map((row) => [row.of, row.then, ...(factors ? [row.factor_then || '–'] : []),
          ...(ours ? [row.now || '–', row.factor_now || '–'] : []), ...(cells ? [row.cell] : [])]),
      }),
      el('ul', { class: 'lines' }, group.reasons.map((reason) => el('li', {}, name(reason)))),
      el('p', {}, el('strong', {}, 'Why: '), name(group.why)),
      el('p', { class: 'soft' }, 'Source: ', name(group.source)));
  }),
];

// Headings of the sections that a run has, in order.
const sections = (run) => [
  run.answer.verdicts.length > 0 && ['Verdicts', () => verdicts(run)],
  run.ranking && ['Ranking: the verdict and its cost', () => ranking(run)],
  run.demands && ['Classes of demand', () => demands(run)],
  run.pictures.length > 0 && ['Pictures', () => pictureGroups(run)],
  run.breakdowns.length > 0 && ['Why: the worst samples', () => run.breakdowns.map((breakdown) => breakdownPart(run, breakdown))],
  run.tables.length > 0 && ['Numbers', () => run.tables.flatMap((of) => numbers(run, of))],
  run.trimmed && ['Trimmed and untrimmed: the cost of a switch', () => trimmed(run)],
  run.then_and_now.length > 0 && ['Then and now', () => thenAndNow(run)],
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
