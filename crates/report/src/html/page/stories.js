// Why a sample was late: its spans as a timeline, each with a name, and its flame graph.
const timeline = (story) => {
  const whole = Math.max(story.latency_ns, 1);
  const lane = (span) => el('span', { class: span.is_path ? '' : 'delay', 'aria-hidden': 'true', style: { 'margin-left': `${100 * span.start_ns / whole}%`, width: `${100 * span.length_ns / whole}%` } });
  const row = (span) => el('tr', {},
    el('th', { scope: 'row' }, name(span.text), span.details.map((line) => el('small', {}, name(line)))),
    el('td', { class: 'lane' }, lane(span)),
    el('td', { class: 'number' }, span.start),
    el('td', { class: 'number strong' }, span.length));
  return el('div', { class: story.spans.length > 25 ? 'scroll tall' : 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Timeline of the sample' },
    el('table', { class: 'timeline' },
      captionOf(`From the due time to the sample; ${story.unit}. Striped: what delayed it. Plain: the way that every wake-up takes.`),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Span'), el('th', { scope: 'col', class: 'lane' }, 'Time'), el('th', { scope: 'col', class: 'number' }, 'From'), el('th', { scope: 'col', class: 'number' }, 'Takes'))),
      el('tbody', {}, story.spans.map(row), el('tr', {}, el('th', { scope: 'row' }, 'sum'), el('td'), el('td'), el('td', { class: 'number strong' }, story.sum)))));
};

const storyPart = (run, story) => {
  const label = run.labels[story.subject] ?? story.subject;
  const node = el('details', { class: 'story' },
    el('summary', {}, el('strong', {}, name(label)), `, ${story.load}: ${story.latency} ${story.unit.split(' at ')[0]} late – `, name(story.mechanism)),
    el('div', {},
      el('p', {}, name(story.sentence)),
      story.remedy && el('p', {}, el('strong', {}, 'What would help: '), name(story.remedy)),
      el('p', { class: 'soft' }, 'Cell ', el('code', {}, name(story.cell)), `, sample ${story.index}. When the timer was due: `, name(story.at_due)),
      timeline(story),
      story.flame && el('h4', {}, 'Flame graph: what ran between the due time and the sample'),
      story.flame && flameGraph(story.flame),
      story.flame && laterTable(() => table({
        caption: 'Functions by the time in themselves',
        columns: [{ title: 'Function' }, { title: 'Time (us)', number: true }, { title: 'Part (%)', number: true }],
        rows: flameFunctions(story.flame).map(([of, ns]) => [of, figure(ns / 1000), figure(100 * ns / story.flame.v)]),
      })),
      story.notes.map((note) => el('p', { class: 'soft' }, `Note: `, name(note)))));
  onFilter(() => { node.hidden = !isShown(story); });
  return node;
};
