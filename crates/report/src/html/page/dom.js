// Elements from names, attributes and children. Text only ever becomes text.
const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [property, to] of Object.entries(value)) node.style.setProperty(property, to);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
};

const SVG = 'http://www.w3.org/2000/svg';
const svg = (tag, attributes, ...children) => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

// Numbers in groups of three do not break.
const whole = (text) => String(text).replace(/(\d) (?=\d{3}(?!\d))/g, '$1\u202f');

// A name from outside: whatever its direction of writing, it stays within itself.
const name = (text) => el('bdi', {}, whole(text));

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');

// A measured value with three digits that matter.
const figure = (value) => {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6) return grouped(Math.round(value));
  return String(Number(value.toPrecision(size >= 100 ? Math.max(3, Math.ceil(Math.log10(size + 1))) : 3)));
};

const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);
const axisName = (axis) => (axis.unit ? `${axis.label} (${axis.unit})` : axis.label);
const plural = (count, what) => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;

let lastId = 0;
const freshId = () => `e${(lastId += 1)}`;
