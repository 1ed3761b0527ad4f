// What was measured on, and the command that repeats it.
const factTable = (caption, facts) => table({
  caption, kind: 'facts', columns: [{ title: 'Fact' }, { title: 'Value' }], rows: facts.map((fact) => [fact.name, fact.value]),
});

const factsSection = (run) => {
  const { common, subjects } = run.facts;
  const nodes = [];
  if (common.length > 0) nodes.push(factTable(subjects.length > 1 ? `All ${subjects.length} subjects` : run.labels[subjects[0].subject], common));
  for (const subject of subjects.filter((s) => s.facts.length > 0)) {
    const node = factTable(subject.label, subject.facts);
    onFilter(() => { node.hidden = !isShown({ subject: subject.subject }); });
    nodes.push(node);
  }
  return nodes;
};

const repeat = (run) => {
  const command = el('code', { class: 'command', tabindex: '0' }, run.command);
  const button = el('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', () => {
    getSelection().selectAllChildren(command);
    document.execCommand('copy');
    button.textContent = 'Copied';
  });
  return el('div', { class: 'repeat' }, command, button);
};
