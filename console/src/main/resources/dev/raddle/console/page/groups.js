// All groups: which one waits, for how long, and why?

import { html } from './html.js';
import { Chip, Filter, Name, Since, Spark, Table, Taken } from './parts.js';
import { change, link } from './route.js';
import { count, counted, periods, perSecond, sentence } from './words.js';

const SIZE = 50;

export const isFull = row => row.limit != null && row.running >= row.limit;

/** "2 of 4", "2" if there is no limit. */
export const taken = row => count(row.running) + (row.limit == null ? '' : ' of ' + count(row.limit));

/** What keeps a group from starting tasks, in one word; null if nothing does. */
export function stopOf(row) {
  return row.paused ? 'paused'
    : row.holdUntilAt != null ? 'on hold'
    : row.waiting > 0 && isFull(row) ? 'full'
    : row.waiting > 0 ? 'waiting' : null;
}

const columns = [
  { title: 'Group', sort: 'key', cell: row => html`<${Name} text=${row.key}/>`,
    below: row => {
      const stop = stopOf(row);
      return html`<p class="why">${stop && html`<span class=${'stop ' + stop.replace(' ', '-')}>${stop}</span>`}
        ${row.why ? ' ' + sentence(row.why) : stop ? '' : html`<span class="dim">nothing waits</span>`}
        ${row.several && html` <span class="dim">· <${Name} text=${row.executor} most=${30}/></span>`}</p>`;
    } },
  { title: 'Running', sort: 'running', number: true,
    cell: row => html`<span class="nowrap">${taken(row)}</span> <${Taken} taken=${row.running} limit=${row.limit} keeps=${row.waiting > 0}/>` },
  { title: 'Waiting', sort: 'waiting', number: true, cell: row => html`<${Spark} values=${row.spark}/> ${count(row.waiting)}` },
  { title: 'Oldest wait', sort: 'oldest', number: true,
    cell: row => row.waiting > 0 ? html`<span class="nowrap oldest"><${Since} row=${row} of="oldest"/></span>` : html`<span class="dim">—</span>` },
  { title: 'Starts', number: true, wide: true, cell: row => perSecond(row.startsPerSecond) },
  { title: 'Rate', wide: true, cell: row => row.rate == null ? html`<span class="dim">—</span>` : html`<span class="nowrap">${periods(row.rate)}</span>` },
  { title: 'Rejected', sort: 'rejected', number: true, wide: true, cell: row => count(row.rejected) },
  { title: 'Failed', number: true, wide: true, cell: row => count(row.failed) },
];

const hrefOf = row => link('group', { executor: row.executor, key: row.key });

export function query(params) {
  return { sort: params.sort || 'oldest', filter: params.filter || '', page: params.page || '0', size: SIZE, stopped: params.stopped ? 'true' : '' };
}

export function Groups({ data, params, question }) {
  const names = Object.keys(data.executors || {}), several = names.length > 1;
  const rows = several ? Object.fromEntries(Object.entries(data.rows).map(([id, row]) => [id, { ...row, several }])) : data.rows;
  const pages = Math.max(1, Math.ceil(data.total / SIZE)), page = Math.min(Number(params.page || 0), pages - 1);
  return html`
    <h1 tabindex="-1">Groups</h1>
    ${names.map(name => html`<${Executor} key=${name} name=${name} stats=${data.executors[name]}/>`)}
    <div class="bar">
      <${Filter} value=${params.filter} label="Part of a key"/>
      <${Chip} on=${params.stopped} click=${() => change({ stopped: params.stopped ? '' : '1', page: '' })}>only full or stopped<//>
      <span class="dim" role="status">${counted(data.total, 'group')}</span>
    </div>
    <${Table} label="Groups" columns=${columns} ids=${data.order} rows=${rows} href=${hrefOf} question=${question}
      sort=${{ by: params.sort || 'oldest', change: sort => change({ sort, page: '' }) }}
      empty=${params.filter || params.stopped ? 'No group matches.' : 'No group has a task now.'}/>
    ${pages > 1 && html`<nav class="bar pages" aria-label="Pages">
      <button type="button" class="small" disabled=${page === 0} onClick=${() => change({ page: page - 1 })}>Previous</button>
      <span>${count(page + 1)} of ${count(pages)}</span>
      <button type="button" class="small" disabled=${page + 1 >= pages} onClick=${() => change({ page: page + 1 })}>Next</button></nav>`}`;
}

function Executor({ name, stats }) {
  return html`<p class="executor"><${Name} text=${name}/>: ${count(stats.running)} running, ${count(stats.waiting)} waiting in ${counted(stats.groups, 'group')}${
    stats.cap == null ? '' : html`, ${count(stats.capUsed)} of ${count(stats.cap)} slots of the cap <${Taken} taken=${stats.capUsed} limit=${stats.cap} keeps=${stats.waiting > 0}/>`}</p>`;
}
