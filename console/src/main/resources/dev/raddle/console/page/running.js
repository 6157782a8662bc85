// What runs now in all groups, the longest first: tasks that are in the same place are one row.

import { html } from './html.js';
import { incident } from './incident.js';
import { Code, Copy, Filter, Name, Since, Table } from './parts.js';
import { link } from './route.js';
import { count, counted, length, sentence } from './words.js';
import { now } from './clock.js';

export const query = params => ({ filter: params.filter || '' });

const hrefOf = task => link('group', { executor: task.executor, key: task.key });
const lockText = row => row.lock == null ? '' : 'all wait for ' + row.lock + (row.owner == null ? '' : ', which ' + row.owner + ' has');

/** The innermost frame of the program, or else of all. */
function placeOf(stack) {
  const frames = stack.split('\n').map(line => line.trim().replace(/^at (\S+\/)?/, '')).filter(Boolean);
  return frames.find(frame => !/^(java|jdk|sun|dev\.raddle\.(flow|group|kernel|lock|pool|scope|structured|task|time))\./.test(frame)) || frames[0] || '';
}

const columns = [
  { title: 'Task', by: row => row.tasks[0].name, cell: row => html`<${Name} text=${row.tasks[0].name}/>${row.count > 1 && html` <span class="dim">and ${counted(row.count - 1, 'other')}</span>`}`,
    below: row => row.lock != null && html`<p class="why"><${Name} text=${sentence(lockText(row))} most=${200}/></p>` },
  { title: 'Runs for', by: row => -row.sinceAt, number: true, cell: row => html`<span class="nowrap"><${Since} row=${row}/></span>` },
  { title: 'Tasks', by: row => row.count, number: true, cell: row => count(row.count) },
  { title: 'Groups', by: row => row.groups, cell: row => html`<a href=${hrefOf(row.tasks[0])}><${Name} text=${row.tasks[0].key} most=${40}/></a>${row.groups > 1 ? ' and ' + count(row.groups - 1) + ' more' : ''}` },
  { title: 'Where', wide: true, by: row => placeOf(row.stack), cell: row => html`<span class="type"><${Name} text=${placeOf(row.stack)} most=${90}/></span>` },
];

const text = row => [counted(row.count, 'task') + ' in ' + counted(row.groups, 'group') + ', the oldest for ' + length(row.sinceAt == null ? null : now.peek() - row.sinceAt),
  ...row.tasks.map(task => '    ' + task.name + ' of group ' + task.key + ' (' + task.executor + ')'), row.lock == null ? '' : '    ' + lockText(row), row.stack.trimEnd()];

export function Running({ data, params, question }) {
  const detail = row => html`<p>${row.tasks.map((task, i) => html`${i ? ', ' : ''}<a key=${task.ref} href=${hrefOf(task)}><${Name} text=${task.name}/> <span class="dim">of <${Name} text=${task.key} most=${40}/></span></a>`)}${row.count > row.tasks.length && ', …'}</p>
    <${Code} text=${row.stack} label=${'Stack of ' + counted(row.count, 'task')}/>
    <${Copy} what="this row with its stack, for a ticket" text=${() => incident(data, text(row))}>Copy for a ticket<//>`;
  return html`<h1 tabindex="-1">Running now</h1>
    <div class="bar"><${Filter} value=${params.filter} label="Part of a key"/>
      <span class="dim" role="status">${counted(data.total, 'task')}${data.total > data.looked ? ', the stacks of the ' + count(data.looked) + ' that have run for longest' : ''}</span></div>
    <${Table} label="Running now" columns=${columns} ids=${data.order} rows=${data.rows} detail=${detail} question=${question}
      empty=${params.filter ? 'No group that matches runs a task.' : 'No task runs in a group.'}/>`;
}
