// Whom a followed program's thread waited for: what was found, and its worst cycle as on a terminal.
const cyclePart = (run, cycle) => {
  const label = run.labels[cycle.subject] ?? cycle.subject;
  const node = el('div', { class: 'cycle' },
    el('h3', {}, name(cycle.program), ` (`, name(label), `, `, name(cycle.load), `)`),
    el('ul', { class: 'lines' }, cycle.sentences.map((line) => el('li', {}, name(line)))),
    cycle.lines.length > 0 && el('pre', { tabindex: '0', role: 'region', 'aria-label': 'The worst cycle' }, cycle.lines.join('\n')));
  onFilter(() => { node.hidden = !isShown(cycle); });
  return node;
};
