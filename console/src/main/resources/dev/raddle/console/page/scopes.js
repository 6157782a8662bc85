// Open scopes as a tree, with the tasks of each.

import { html } from './html.js';
import { Code, Name, Nothing, Since, State, Table } from './parts.js';
import { count, counted, isolated } from './words.js';

export const query = () => ({});

const DEEPEST = 12; // further in, scopes are shown below each other

const columns = [
  { title: 'Watched as', by: row => row.name, cell: row => html`<${Name} text=${row.name}/>` },
  { title: 'Count', by: row => row.count, number: true, cell: row => count(row.count) },
  { title: 'Oldest', by: row => -row.oldestAt, number: true, cell: row => html`<span class="nowrap"><${Since} row=${row} of="oldest"/></span>` },
  { title: 'Watched at', by: row => row.place, cell: row => row.place ? html`<span class="type"><${Name} text=${row.place} most=${120}/></span>` : '' },
];

function treesOf(rows) {
  const path = [{ children: [] }];
  for (const row of rows) {
    const level = Math.min(row.depth, DEEPEST), scope = { ...row, children: [] };
    path[level].children.push(scope);
    path[level + 1] = scope;
  }
  return path[0].children;
}

export function Scopes({ data }) {
  const roots = treesOf(data.scopes || []), names = data.byName || [];
  return html`
    <h1 tabindex="-1">Scopes</h1>
    ${names.length > 0 && html`<${Table} label="Scopes by name" columns=${columns} ids=${names.map(each => each.name)} rows=${Object.fromEntries(names.map(each => [each.name, each]))} sort="count"/>`}
    ${data.total > 0 && html`<h2>Open scopes <span class="dim">${data.total > data.scopes.length ? 'the first of ' + count(data.total) : 'the oldest first'}</span></h2>`}
    ${roots.length === 0 ? html`<${Nothing} text="No scope is watched, or none is open. One appears here with:" code='console.watch("request", scope);'/>`
      : html`<ul class="tree">${roots.map((scope, i) => html`<${Scope} key=${scope.id ?? i} scope=${scope}/>`)}</ul>`}`;
}

function Scope({ scope }) {
  const { children, tasks } = scope;
  const waiting = tasks.filter(task => String(task.state).toUpperCase() === 'WAITING').length;
  return html`<li><details open>
    <summary><strong><${Name} text=${scope.name}/></strong> <${State} state=${scope.state}/>
      <span class="dim"> ${scope.depth > DEEPEST ? 'at depth ' + scope.depth + ', ' : ''}${counted(tasks.length - waiting, 'running task')}${waiting ? ', ' + count(waiting) + ' waiting' : ''}${scope.startedBy ? html`, threads from <${Name} text=${scope.startedBy}/>` : ''}${
        scope.owner ? html`, owned by <${Name} text=${scope.owner}/>` : ''}</span></summary>
    <ul>${tasks.map((task, i) => html`<${Task} key=${'t' + i + task.name} task=${task}/>`)}
      ${children.map((child, i) => html`<${Scope} key=${'s' + i + child.name} scope=${child}/>`)}</ul></details></li>`;
}

function Task({ task }) {
  const line = html`<${Name} text=${task.name}/> <${State} state=${task.state}/> <span class="dim">for <${Since} row=${task}/>${task.thread ? html` in <${Name} text=${task.thread}/>` : ''}</span>`;
  return html`<li>${task.stack ? html`<details><summary>${line}</summary><${Code} text=${task.stack} label=${'Stack of ' + isolated(task.name)}/></details>` : html`<div class="leaf">${line}</div>`}</li>`;
}
