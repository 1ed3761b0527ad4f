// Okabe and Ito's colours, which colour-blind readers tell apart; each with a dash and a marker of its own, so that none
// is needed. Black and yellow cannot be seen on every ground: they give way there.
const COLOURS = {
  light: ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000', '#857A00'],
  dark: ['#56B4E9', '#E69F00', '#2FC79B', '#E79AC4', '#D55E00', '#3D8FD1', '#F5F5F5', '#F0E442'],
};
const DASHES = ['solid', [7, 3], [2, 3], [9, 3, 2, 3], [14, 4], [5, 2, 1, 2, 1, 2], [3, 6], [10, 2, 4, 2]];
const MARKERS = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle', 'emptyDiamond'];

const systemDark = matchMedia('(prefers-color-scheme: dark)');
let printing = false;

const isDark = () => {
  const asked = document.documentElement.dataset.theme;
  return !printing && (asked ? asked === 'dark' : systemDark.matches);
};

const styleOf = (number) => {
  const i = number % DASHES.length;
  return { colour: COLOURS[isDark() ? 'dark' : 'light'][i], dash: DASHES[i], marker: MARKERS[i] };
};

const variable = (of) => getComputedStyle(document.documentElement).getPropertyValue(of).trim();

const themeListeners = [];
const themeChanged = () => themeListeners.forEach((listener) => listener());
systemDark.addEventListener('change', themeChanged);

const setTheme = (theme) => {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeChanged();
};

document.querySelector('.theme').addEventListener('change', (event) => setTheme(event.target.value));
