// Which subjects, loads and probes are shown, the same in every section. What is not of a subject passes its filter.
const DIMENSIONS = ['subject', 'load', 'probe'];
const hidden = { subject: new Set(), load: new Set(), probe: new Set() };
const filterListeners = [];

const isShown = (of) => DIMENSIONS.every((dimension) => !of[dimension] || !hidden[dimension].has(of[dimension]));
const onFilter = (listener) => filterListeners.push(listener);

const filterValues = (runs) => {
  const labels = Object.assign({}, ...runs.map((run) => run.labels));
  const all = (of) => [...new Set(runs.flatMap((run) => run[of]))];
  return { labels, subject: all('subjects'), load: all('loads'), probe: all('probes') };
};

const filterBar = (runs) => {
  const values = filterValues(runs);
  const chosen = DIMENSIONS.filter((dimension) => values[dimension].length > 1);
  if (chosen.length === 0) return null;
  const count = el('span', { class: 'soft', role: 'status' });
  const say = () => {
    const parts = chosen.map((dimension) => {
      const all = values[dimension];
      const shown = all.filter((value) => !hidden[dimension].has(value)).length;
      return shown === all.length ? `all ${plural(all.length, dimension)}` : `${shown} of ${plural(all.length, dimension)}`;
    });
    count.textContent = ` ${parts.join(', ')}`;
  };
  const changed = () => { say(); filterListeners.forEach((listener) => listener()); };
  const group = (dimension) => {
    const boxes = values[dimension].map((value) => el('input', {
      type: 'checkbox', checked: true, value, 'data-filter': dimension,
      onchange: (event) => { hidden[dimension][event.target.checked ? 'delete' : 'add'](value); changed(); },
    }));
    const all = (to) => () => {
      boxes.forEach((box) => { box.checked = to; hidden[dimension][to ? 'delete' : 'add'](box.value); });
      changed();
    };
    const label = (value) => (dimension === 'subject' ? values.labels[value] ?? value : value);
    return el('fieldset', {},
      el('legend', {}, `${dimension[0].toUpperCase()}${dimension.slice(1)}s`),
      boxes.map((box) => el('label', {}, box, name(label(box.value)))),
      el('button', { type: 'button', onclick: all(true), 'aria-label': `Show all ${dimension}s` }, 'All'),
      el('button', { type: 'button', onclick: all(false), 'aria-label': `Show no ${dimension}` }, 'None'));
  };
  say();
  return el('details', { class: 'filters' },
    el('summary', {}, el('strong', {}, 'Show'), count),
    chosen.map(group));
};
