// A caption stays in sight while its table scrolls.
const captionOf = (text) => el('caption', {}, el('span', {}, whole(text)));

// Tables that scroll within themselves, with a caption and headings that a screen reader can use.
const table = ({ caption, columns, rows, tall = false, kind = '' }) => {
  const cell = (column, value, i) => {
    const content = value instanceof Node ? value : name(value ?? '');
    const attributes = { class: [column.number ? 'number' : '', column.strong ? 'strong' : ''].join(' ').trim() || null };
    return i === 0 ? el('th', { ...attributes, scope: 'row' }, content) : el('td', attributes, content);
  };
  return el('div', { class: `scroll${tall ? ' tall' : ''}`, tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', { class: kind },
      captionOf(caption),
      el('thead', {}, el('tr', {}, columns.map((c) => el('th', { scope: 'col', class: c.number ? 'number' : null }, c.title)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, row.map((value, i) => cell(columns[i], value, i)))))));
};

// A table that is made when it is asked for.
const laterTable = (make) => {
  const details = el('details', { class: 'data' }, el('summary', {}, 'Data as a table'));
  details.addEventListener('toggle', () => {
    details.querySelectorAll(':scope > :not(summary)').forEach((old) => old.remove());
    if (details.open) details.append(...[make()].flat());
  });
  onFilter(() => { if (details.open) { details.open = false; } });
  return details;
};

// A table of the report: final texts, of which the filters take rows away.
const figureTable = (run, of) => {
  const columns = of.columns.map((column) => ({ title: column.title, number: column.number }));
  const content = (cell) => (typeof cell === 'string' ? (cell === '-' ? '–' : cell) : wordMark(cell.outcome, cell.word));
  const place = el('div');
  const draw = () => {
    const rows = of.rows.filter(isShown);
    place.replaceChildren(rows.length === 0 && of.rows.length > 0
      ? el('p', { class: 'empty' }, 'The filter leaves nothing of this table.')
      : table({ caption: [of.title, ...of.about].join(' '), columns, rows: rows.map((row) => row.cells.map((cell, i) => (of.columns[i].subject && run.labels[row.subject]) || content(cell))) }));
  };
  onFilter(draw);
  draw();
  return [place, of.notes.length > 0 && el('ul', { class: 'lines' }, of.notes.filter((note) => note).map((note) => el('li', {}, name(note.trim()))))];
};

const figureGroup = (run, group) => [
  group.heading && el('h3', {}, name(group.heading)),
  group.lines.map((line) => el('p', { class: 'soft' }, name(line))),
  group.tables.flatMap((of) => figureTable(run, of)),
].flat(2).filter(Boolean);
