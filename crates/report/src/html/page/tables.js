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

const numbers = (run, of) => {
  const host = run.venue === 'host';
  const many = new Set(of.rows.map((row) => row.probe)).size > 1;
  const columns = [
    { title: 'Subject' }, ...(many ? [{ title: 'Probe' }] : []), { title: 'Load' }, { title: 'Median', number: true }, { title: 'p99', number: true },
    { title: 'Max', number: true, strong: true }, { title: host ? 'Max of CPUs' : 'Max of seeds', number: true },
    { title: host ? 'Cells' : 'Seeds', number: true }, { title: 'Samples', number: true }, { title: 'Looked at', number: true },
    { title: 'Missed', number: true },
  ];
  const place = el('div');
  const draw = () => {
    const rows = of.rows.filter(isShown);
    place.replaceChildren(rows.length === 0 ? el('p', { class: 'empty' }, 'The filter leaves nothing of this table.') : table({
      caption: `Times in ${of.unit}. Each figure rests on: ${of.rests.replace('each figure rests on: ', '')}.`,
      columns,
      rows: rows.map((r) => [r.label, ...(many ? [r.probe] : []), r.load, r.median, r.p99 || '–', r.max, r.of_seeds || '–', r.seeds, r.samples, r.observation_time, r.missed]),
    }));
  };
  onFilter(draw);
  draw();
  return [el('h3', {}, `${of.probe}: ${of.title}`), place];
};
