// The sections of a run, the answer first.
const answer = (run) => {
  const a = run.answer;
  return [
    a.unfinished && el('p', { class: 'unfinished' }, el('strong', {}, '⚠ '), whole(a.unfinished)),
    el('div', { class: `answer ${a.outcome ?? ''}` },
      el('p', { class: 'headline' }, a.outcome && [outcomeMark(a.outcome), ' '], whole(a.headline)),
      a.lines.length > 0 && el('ul', { class: 'lines' }, a.lines.map((line) => el('li', {}, whole(line)))),
      run.next.length > 0 && el('div', { class: 'next' }, el('p', {}, el('strong', {}, 'Next')),
        el('ul', {}, run.next.map((step) => el('li', {}, `${step.what_for}:`, el('pre', { class: 'command', tabindex: '0' }, step.command)))))),
  ];
};

const verdicts = (run) => {
  const place = el('div');
  const draw = () => place.replaceChildren(table({
    caption: run.answer.asked,
    kind: 'verdicts',
    columns: [{ title: 'Subject' }, { title: 'Verdict' }, { title: 'Why' }, { title: 'Rests on' }],
    rows: run.answer.verdicts.filter(isShown).map((v) => [v.label, outcomeMark(v.outcome),
      v.reasons.length === 1 ? v.reasons[0] : el('ul', {}, v.reasons.map((reason) => el('li', {}, name(reason)))), v.rests_on]),
  }));
  onFilter(draw);
  draw();
  return place;
};


// Headings of the sections that a run has, in order.
const sections = (run) => [
  run.answer.verdicts.length > 0 && ['Verdicts', () => verdicts(run)],
  run.decision.length > 0 && ['To decide by', () => run.decision.flatMap((group) => figureGroup(run, group))],
  run.pictures.length > 0 && ['Pictures', () => pictureGroups(run)],
  run.breakdowns.length > 0 && ['Why: the worst samples', () => run.breakdowns.map((breakdown) => breakdownPart(run, breakdown))],
  run.cycles.length > 0 && ['Why: the worst cycles', () => run.cycles.map((cycle) => cyclePart(run, cycle))],
  run.figures.length > 0 && ['Numbers', () => run.figures.flatMap((group) => figureGroup(run, group))],
  run.claims && ['Claims and their figures', () => thenAndNow(run)],
  run.losses.length > 0 && ['Losses and warnings', () => el('ul', {}, run.losses.map((line) => el('li', {}, name(line))))],
  run.facts.subjects.length > 0 && ['Measured on', () => factsSection(run)],
  ['Repeat it', () => repeat(run)],
].filter(Boolean);

const runSection = (run, single) => {
  const id = freshId();
  const all = sections(run).map(([title, make]) => ({ title, make, id: freshId() }));
  return el('article', { class: 'run', 'aria-labelledby': id },
    el(single ? 'h1' : 'h2', { id }, name(run.title)),
    firstScreen(run),
    answer(run),
    el('nav', { class: 'contents', 'aria-label': `Contents: ${run.title}` }, el('ul', {}, all.map((s) => el('li', {}, el('a', { href: `#${s.id}` }, s.title))))),
    all.map((s) => el('section', { 'aria-labelledby': s.id }, el('h2', { id: s.id }, s.title), s.make())));
};
