// All groups: which one waits, for how long, and why?

import { html } from './html.js';
import { Chip, Filter, Name, Nothing, Since, Spark, Table, Taken } from './parts.js';
import { change, link } from './route.js';
import { count, counted, percent, periods, perSecond, sentence } from './words.js';

const SIZE = 50;

const isFull = row => row.limit != null && row.running >= row.limit;

/** "2 of 4", "2" if there is no limit. */
export const taken = row => count(row.running) + (row.limit == null ? '' : ' of ' + count(row.limit));

/** What keeps a group from starting tasks, in one word; null if nothing does. */
export function stopOf(row) {
  return row.paused ? 'paused'
    : row.holdUntilAt != null ? 'on hold'
    : row.breaker === 'open' ? 'stopped by its breaker'
    : row.breaker === 'half-open' ? 'being probed'
    : row.waiting > 0 && isFull(row) ? 'full'
    : row.waiting > 0 ? 'waiting' : null;
}

/** Why a group with free slots waits: the first task costs more of them. */
export const costs = row => row.waiting > 0 && row.limit != null && row.running > 0 && !isFull(row) && /^waits for a slot of its group(,|$)/.test(row.why)
  ? 'The next one needs more slots than the ' + (row.limit - row.running === 1 ? 'one that is free.' : count(row.limit - row.running) + ' that are free.') : '';

/** Who has what the group waits for: "bulk 12 slots (75 %, weight 1)". */
export const Holders = ({ of }) => (of || []).map((holder, i) => html`${i ? ', ' : ''}<span>${holder.link
  ? html`<a href=${link(holder.link.view, holder.link.params)}><${Name} text=${holder.name} most=${40}/></a>` : html`<${Name} text=${holder.name} most=${40}/>`}${' '}
  ${counted(holder.slots, 'slot')}${holder.groups > 1 ? ' in ' + counted(holder.groups, 'group') : ''} <span class="dim">(${percent(holder.share)}${holder.weight == null ? '' : ', weight ' + count(holder.weight)})</span></span>`);

const columns = [
  { title: 'Group', sort: 'key', cell: row => html`<${Name} text=${row.key}/>`,
    below: row => {
      const stop = stopOf(row);
      return html`<p class="why">${stop && html`<span class=${'stop ' + stop.replace(' ', '-')}>${stop}</span>`}
        ${costs(row) ? ' ' + costs(row) : row.why ? ' ' + sentence(row.why) : stop ? '' : html`<span class="dim">nothing waits</span>`}
        ${row.holders?.length > 0 && html` <span>Held by <${Holders} of=${row.holders}/>.</span>`}
        ${row.several && html` <span class="dim">· <${Name} text=${row.executor} most=${30}/></span>`}</p>`;
    } },
  { title: 'Running', sort: 'running', number: true,
    cell: row => html`<span class="nowrap">${taken(row)}</span> <${Taken} taken=${row.running} limit=${row.limit} keeps=${row.waiting > 0}/>` },
  { title: 'Waiting', sort: 'waiting', number: true, cell: row => count(row.waiting) },
  { title: 'Last minute', wide: true, cell: row => html`<${Spark} values=${row.spark} most=${row.most}/>` },
  { title: 'Oldest wait', sort: 'oldest', number: true,
    cell: row => row.waiting > 0 ? html`<span class="nowrap oldest"><${Since} row=${row} of="oldest"/></span>` : html`<span class="dim">—</span>` },
  { title: 'Weight', sort: 'weight', number: true, wide: true, cell: row => count(row.weight) },
  { title: 'Share', sort: 'share', number: true, wide: true, cell: row => html`<span title="of the slot-time of its executor in the last minute">${percent(row.share)}</span>` },
  { title: 'Starts', sort: 'starts', number: true, wide: true, cell: row => perSecond(row.startsPerSecond) },
  { title: 'Rate', sort: 'rate', wide: true, cell: row => row.rate == null ? html`<span class="dim">—</span>` : html`<span class="nowrap">${periods(row.rate)}</span>` },
  { title: 'Rejected', sort: 'rejected', number: true, wide: true, cell: row => count(row.rejected) },
  { title: 'Failed', sort: 'failed', number: true, wide: true, cell: row => count(row.failed) },
];

const hrefOf = row => link('group', { executor: row.executor, key: row.key });

export function query(params) {
  return { sort: params.sort || 'oldest', filter: params.filter || '', page: params.page || '0', size: SIZE, stopped: params.stopped ? 'true' : '' };
}

export function Groups({ data, params, question }) {
  const names = Object.keys(data.executors || {}), several = names.length > 1;
  const most = Math.max(...Object.values(data.rows).flatMap(row => row.spark ?? [])); // one scale for all curves
  const rows = Object.fromEntries(Object.entries(data.rows).map(([id, row]) => [id, { ...row, several, most }]));
  const pages = Math.max(1, Math.ceil(data.total / SIZE)), page = Math.min(Number(params.page || 0), pages - 1);
  return html`
    <h1 tabindex="-1">Groups</h1>
    ${names.map(name => html`<${Executor} key=${name} name=${name} stats=${data.executors[name]}/>`)}
    <div class="bar">
      <${Filter} value=${params.filter} label="Part of a key"/>
      <${Chip} on=${params.stopped} click=${() => change({ stopped: params.stopped ? '' : '1', page: '' })}>only full or stopped<//>
      <span class="dim" role="status">${counted(data.total, 'group')}${data.unread ? ', ' + count(data.unread) + ' more were not read: those that have something to do come first' : ''}</span>
    </div>
    <${Table} label="Groups" columns=${columns} ids=${data.order} rows=${rows} href=${hrefOf} question=${question}
      sort="oldest"
      empty=${params.filter || params.stopped ? 'No group matches.' : names.length ? 'No group has a task now.' : 'No executor is watched now.'}/>
    ${names.length === 0 && html`<${Nothing} text="An executor appears here when the program watches it:" code='console.watch("orders", executor);'/>`}
    ${pages > 1 && html`<nav class="bar pages" aria-label="Pages">
      <button type="button" class="small" disabled=${page === 0} onClick=${() => change({ page: page - 1 })}>Previous</button>
      <span>${count(page + 1)} of ${count(pages)}</span>
      <button type="button" class="small" disabled=${page + 1 >= pages} onClick=${() => change({ page: page + 1 })}>Next</button></nav>`}`;
}

function Executor({ name, stats }) {
  return html`<p class="executor"><${Name} text=${name}/>: ${count(stats.running)} running, ${count(stats.waiting)} waiting in ${counted(stats.groups, 'group')}${
    stats.cap == null ? '' : html`, ${count(stats.running)} of ${count(stats.cap)} slots of the cap <${Taken} taken=${stats.running} limit=${stats.cap} keeps=${stats.waiting > 0}/>`}</p>`;
}
