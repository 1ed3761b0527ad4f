// The page: one section a run, with common filters.
const page = JSON.parse(document.getElementById('data').textContent);
const main = document.getElementById('main');
const single = page.runs.length === 1;
if (!single) main.append(el('h1', {}, `${page.runs.length} runs of worstcase`));
const bar = filterBar(page.runs);
if (bar) main.append(bar);
page.runs.forEach((run) => main.append(runSection(run, single)));
document.querySelector('footer').append(
  `Made by worstcase ${page.tool_version} from stored records; nothing was measured for it, and the page asks no server for anything. `,
  typeof echarts === 'undefined' ? '' : 'Drawn with Apache ECharts, © The Apache Software Foundation, Apache License 2.0 (its notice is in this file).');
