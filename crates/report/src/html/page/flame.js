// A flame graph as nested boxes, the caller above what it called. A box fills the width when it is chosen; the first one
// brings all back. Arrow keys walk through the boxes.
const FLAME_ROW = 20;
const FLAME_HUES = ['#F4C08A', '#F2D58F', '#EFB19A', '#F6CFA6', '#EBC57B', '#F0BBA0'];

const flameGraph = (root, unit) => {
  const node = el('div', { class: 'flame', role: 'group', 'aria-label': 'Flame graph: the wider a box, the longer its function ran. Its functions are in the table below.' });
  const colour = (of) => FLAME_HUES[[...of].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) >>> 0, 7) % FLAME_HUES.length];
  const draw = (path) => {
    const top = path[path.length - 1];
    const boxes = [];
    let depth = 0;
    const box = (of, left, width, level, way) => {
      depth = Math.max(depth, level);
      const share = `${figure(of.v / 1000)} us, ${figure(100 * of.v / root.v)} %`;
      boxes.push(el('button', {
        type: 'button', tabindex: boxes.length === 0 ? '0' : '-1', title: `${of.n}: ${share}`, 'aria-label': `${of.n}: ${share}`,
        style: { left: `${left}%`, width: `${width}%`, top: `${level * FLAME_ROW}px`, background: colour(of.n) },
        onclick: () => { draw(way); node.firstChild.focus(); },
      }, width > 1.5 ? of.n : ''));
    };
    const walk = (of, left, width, level, way) => {
      box(of, left, width, level, way);
      let at = left;
      for (const called of of.c ?? []) {
        const part = width * called.v / of.v;
        walk(called, at, part, level + 1, [...way, called]);
        at += part;
      }
    };
    path.slice(0, -1).forEach((of, level) => box(of, 0, 100, level, path.slice(0, level + 1)));
    walk(top, 0, 100, path.length - 1, path);
    node.replaceChildren(...boxes);
    node.style.setProperty('height', `${(depth + 1) * FLAME_ROW}px`);
  };
  node.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const boxes = [...node.children];
    const next = boxes[boxes.indexOf(document.activeElement) + step];
    if (!step || !next) return;
    event.preventDefault();
    boxes.forEach((box) => box.setAttribute('tabindex', box === next ? '0' : '-1'));
    next.focus();
  });
  draw([root]);
  return node;
};

const flameFunctions = (root) => {
  const times = new Map();
  const walk = (of) => {
    const self = of.v - (of.c ?? []).reduce((sum, called) => sum + called.v, 0);
    times.set(of.n, (times.get(of.n) ?? 0) + self);
    (of.c ?? []).forEach(walk);
  };
  (root.c ?? []).forEach(walk);
  return [...times].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]).slice(0, 25);
};
