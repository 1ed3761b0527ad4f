// A picture: heading, how to read it, panels, and its data as a table.
const probesOf = (run, picture) => {
  const own = (picture.panels ?? []).map((panel) => panel.probe).filter(Boolean);
  if (own.length > 0) return [...new Set(own)];
  const words = picture.id.split('-');
  return run.probes.filter((probe) => words.includes(probe.split(':')[0]));
};

const panelNodes = (picture, group) => {
  if (picture.kind === 'dots') {
    return picture.panels.filter(isShown).map((panel) => dotsPanel(picture, panel, group));
  }
  if (picture.kind === 'bars') return picture.panels.filter(isShown).flatMap((panel) => barsPanel(picture, panel));
  if (picture.kind === 'requests') return picture.panels.filter(isShown).map((panel) => requestsPanel(picture, panel, group));
  const kind = CURVES[picture.kind];
  return picture.panels.filter(isShown).flatMap((panel) => {
    const series = panel.series.filter(isShown);
    if (series.length === 0) return [];
    const about = `${picture.title}, ${panel.label}. ${series.map((one) => kind.says(one, picture)).join('. ')}.`;
    const host = chart(about, kind.option(picture, { ...panel, series }));
    return [{ hosts: [host], node: el('div', { class: 'panel' }, panel.label && el('p', { class: 'panel-title' }, name(panel.label)), legend(series, kind.more), host) }];
  });
};

const pictureTables = (picture) => {
  const panels = picture.panels.filter(isShown);
  if (picture.kind === 'dots') return dotsTable(picture, panels);
  if (picture.kind === 'bars') return barsTable(picture, panels);
  if (picture.kind === 'requests') return requestsTable(picture, panels);
  return panels.map((panel) => CURVES[picture.kind].table(picture, panel, panel.series.filter(isShown)));
};

// Pictures of one question stay together: `dots-wakeup-latency-shm` is of `wakeup-latency`.
const questionOf = (run, picture) => {
  const probe = probesOf(run, picture)[0]?.replace(/^io\+/, 'io:').split(':')[0];
  const words = picture.id.split('-');
  const quantity = QUANTITIES.find((one) => words.includes(one));
  return [probe, quantity].filter(Boolean).join(', ') || 'All together';
};
const QUANTITIES = ['irq_latency', 'after_irq', 'handler', 'scheduling', 'return', 'unexplained', 'jitter', 'latency'];

// One question is open, the others are a key away.
const pictureGroups = (run) => {
  const groups = new Map();
  for (const picture of run.pictures) {
    const question = questionOf(run, picture);
    if (!groups.has(question)) groups.set(question, []);
    groups.get(question).push(picture);
  }
  if (groups.size === 1) return run.pictures.map((picture) => pictureFigure(run, picture));
  return [...groups].map(([question, pictures], i) => {
    const node = el('details', { class: 'group', open: i === 0 },
      el('summary', {}, el('h3', {}, name(question)), el('span', { class: 'soft' }, plural(pictures.length, 'picture'))),
      pictures.map((picture) => pictureFigure(run, picture, 'h4')));
    const probes = probesOf(run, pictures[0]);
    onFilter(() => { node.hidden = probes.length > 0 && probes.every((probe) => hidden.probe.has(probe)); });
    return node;
  });
};

const pictureFigure = (run, picture, heading = 'h3') => {
  const probes = probesOf(run, picture);
  const id = freshId();
  const node = el('figure', { 'aria-labelledby': id, 'data-picture': picture.id },
    el('figcaption', {}, el(heading, { id, class: 'title' }, picture.title), el('p', { class: 'about' }, picture.about)));
  if (picture.kind === 'heat') {
    node.append(heatMap(picture));
  } else if (picture.kind === 'drawn') {
    node.append(el('img', { class: 'drawn', alt: picture.about, src: `data:image/svg+xml,${encodeURIComponent(picture.svg)}` }));
  } else {
    const place = el('div', { class: ['dots', 'requests'].includes(picture.kind) && picture.panels.length > 1 ? 'panels wide' : 'panels' });
    let hosts = [];
    const draw = () => {
      hosts.forEach(dropChart);
      const made = panelNodes(picture, id);
      hosts = made.flatMap((panel) => panel.hosts);
      place.replaceChildren(...(made.length > 0 ? made.map((panel) => panel.node) : [el('p', { class: 'empty' }, 'The filter leaves nothing of this picture.')]));
    };
    onFilter(draw);
    draw();
    node.append(place, laterTable(() => pictureTables(picture)));
  }
  const hide = () => { node.hidden = probes.length > 0 && probes.every((probe) => hidden.probe.has(probe)); };
  onFilter(hide);
  return node;
};
