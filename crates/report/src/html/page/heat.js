// Subjects by loads as a table of coloured cells: real text, so that it is read, searched, copied and printed as any other.
// The colours are cividis, which is the same to colour-blind readers. The later, the further from the ground: dark on a light
// one, bright on a dark one.
const CIVIDIS = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];

const heatColour = (part) => {
  const at = Math.min(Math.max(part, 0), 1) * (CIVIDIS.length - 1);
  const [low, high] = [CIVIDIS[Math.floor(at)], CIVIDIS[Math.ceil(at)]];
  const rgb = low.map((from, i) => Math.round(from + (high[i] - from) * (at - Math.floor(at))));
  const light = (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) > 130;
  return { background: `rgb(${rgb.join(' ')})`, color: light ? '#111' : '#fff' };
};

const OUTCOMES = { PASS: '✓ PASS', FAIL: '✕ FAIL', INCONCLUSIVE: '? INCONCLUSIVE' };
// The same of a verdict that has a word of its own.
const wordMark = (outcome, word) => el('span', { class: `outcome ${outcome}` }, OUTCOMES[outcome].replace(outcome, word));
const outcomeMark = (outcome) => el('span', { class: `outcome ${outcome}` }, OUTCOMES[outcome]);

const heatMap = (picture) => {
  const span = Math.log(picture.to / picture.from) || 1;
  const loads = picture.x.names;
  const place = el('div');
  const draw = () => {
    const late = (share) => (isDark() ? share : 1 - share);
    const shown = loads.map((_, i) => i).filter((i) => !hidden.load.has(loads[i]));
    const rows = picture.rows.filter((row) => isShown({ subject: row.subject }));
    const judged = picture.rows.some((row) => row.outcome);
    const cell = (found) => {
      if (!found) return el('td', {}, '–');
      const about = [`seeds ${found.seeds}`, `${grouped(found.samples)} samples`, found.median === null ? '' : `median of the seeds' maxima ${figure(found.median)}`, found.interval ? `interval ${figure(found.interval[0])} to ${figure(found.interval[1])}` : '', found.missed > 0 ? `${found.missed} missed` : ''];
      const paint = found.value === null ? {} : heatColour(late(Math.log(found.value / picture.from) / span));
      const notes = [found.above ? '▲ above the limit' : '', found.missed > 0 && found.value !== null ? `${grouped(found.missed)} missed` : ''].filter(Boolean);
      return el('td', { style: paint, title: about.filter(Boolean).join('; ') }, name(found.text), notes.map((note) => el('small', {}, note)));
    };
    place.replaceChildren(rows.length === 0 || shown.length === 0 ? el('p', { class: 'empty' }, 'The filter leaves nothing of this picture.')
      : el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': picture.title },
        el('table', { class: 'heat' },
          captionOf(`${withUnit('Values', picture.unit ? `in ${picture.unit}` : '')}; the ${isDark() ? 'brighter' : 'darker'} a cell, the later.`),
          el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Subject'), judged && el('th', { scope: 'col' }, 'Verdict'), shown.map((i) => el('th', { scope: 'col' }, name(loads[i]))))),
          el('tbody', {}, rows.map((row) => el('tr', {}, el('th', { scope: 'row' }, name(row.label)), judged && el('td', {}, row.outcome ? outcomeMark(row.outcome) : '–'), shown.map((i) => cell(row.cells[i]))))))));
  };
  onFilter(draw);
  themeListeners.push(draw);
  draw();
  return place;
};
