// Why a sample was late: its spans as a timeline, each with a name, and its flame graph.
const timeline = (breakdown) => {
  const whole = Math.max(breakdown.latency_ns, 1);
  const lane = (span) => el('span', { class: span.is_path ? '' : 'delay', 'aria-hidden': 'true', style: { 'margin-left': `${100 * span.start_ns / whole}%`, width: `${100 * span.length_ns / whole}%` } });
  const row = (span) => el('tr', {},
    el('th', { scope: 'row' }, name(span.text), span.details.map((line) => el('small', {}, name(line)))),
    el('td', { class: 'lane' }, lane(span)),
    el('td', { class: 'number' }, span.start),
    el('td', { class: 'number strong' }, span.length));
  return el('div', { class: breakdown.spans.length > 25 ? 'scroll tall' : 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Timeline of the sample' },
    el('table', { class: 'timeline' },
      captionOf(`From the due time to the sample; ${breakdown.unit}. Striped: what delayed it. Plain: the way that every wake-up takes.`),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Span'), el('th', { scope: 'col', class: 'lane' }, 'Time'), el('th', { scope: 'col', class: 'number' }, 'From'), el('th', { scope: 'col', class: 'number' }, 'Takes'))),
      el('tbody', {}, breakdown.spans.map(row), el('tr', {}, el('th', { scope: 'row' }, 'sum'), el('td'), el('td'), el('td', { class: 'number strong' }, breakdown.sum)))));
};

const breakdownPart = (run, breakdown) => {
  const label = run.labels[breakdown.subject] ?? breakdown.subject;
  const node = el('details', { class: 'breakdown' },
    el('summary', {}, el('strong', {}, name(label)), `, ${breakdown.load}: ${breakdown.latency} ${breakdown.unit.split(' at ')[0]} late – `, name(breakdown.mechanism)),
    el('div', {},
      el('p', {}, name(breakdown.sentence)),
      breakdown.remedy && el('p', {}, el('strong', {}, 'What would help: '), name(breakdown.remedy)),
      el('p', { class: 'soft' }, 'Cell ', el('code', {}, name(breakdown.cell)), `, sample ${breakdown.index}. When the timer was due: `, name(breakdown.at_due)),
      timeline(breakdown),
      breakdown.flame && el('h4', {}, 'Flame graph: what ran between the due time and the sample'),
      breakdown.flame && flameGraph(breakdown.flame),
      breakdown.flame && laterTable(() => table({
        caption: 'Functions by the time in themselves',
        columns: [{ title: 'Function' }, { title: 'Time (us)', number: true }, { title: 'Part (%)', number: true }],
        rows: flameFunctions(breakdown.flame).map(([of, ns]) => [of, figure(ns / 1000), figure(100 * ns / breakdown.flame.v)]),
      })),
      breakdown.notes.map((note) => el('p', { class: 'soft' }, `Note: `, name(note)))));
  onFilter(() => { node.hidden = !isShown(breakdown); });
  return node;
};
