// The pools: what runs and waits, what is stuck and where, and what a drain waits for.

import { html } from './html.js';
import { Code, Facts, Name, Since, State, Taken } from './parts.js';
import { count, counted, moment } from './words.js';

export const query = () => ({});

const isDraining = pool => pool.drainingSeenAt != null;
const trouble = pool => (pool.stuck?.length ? 2 : 0) + (isDraining(pool) ? 1 : 0);

export function Pools({ data }) {
  const names = data.order.filter(name => data.rows[name]);
  const worstFirst = names.toSorted((a, b) => trouble(data.rows[b]) - trouble(data.rows[a]));
  return html`
    <h1 tabindex="-1">Pools</h1>
    ${names.length === 0 && html`<p class="dim">No pool is watched.</p>`}
    ${worstFirst.map(name => html`<${Pool} key=${name} name=${name} pool=${data.rows[name]}/>`)}`;
}

function Pool({ name, pool }) {
  const stuck = pool.stuck || [];
  if (pool.state === 'unreadable') {
    return html`<section class="card"><h2><${Name} text=${name}/> <${State} state=${pool.state}/></h2><p>The size of its queue, which is the program's, throws an exception.</p></section>`;
  }
  return html`<section class="card">
    <h2><${Name} text=${name}/> <${State} state=${pool.state}/></h2>
    ${isDraining(pool) && html`<p class="verdict stop full"><strong>It is draining, for at least <${Since} row=${pool} of="drainingSeen"/>, seen first at ${moment(pool.drainingSeenAt)}.</strong>
      ${' '}${pool.active ? counted(pool.active, 'task still runs', 'tasks still run') : 'No task runs'}, ${count(pool.queued)} queued, ${count(pool.handedBack)} handed back.</p>`}
    ${stuck.length > 0 && html`<p class="verdict stop failed"><strong>${counted(stuck.length, 'task is', 'tasks are')} stuck.</strong> ${pool.active >= pool.max ? 'All threads are taken.' : ''}</p>`}
    <${Facts} of=${[
      ['running', html`${count(pool.active)} of ${count(pool.max)} <${Taken} taken=${pool.active} limit=${pool.max} keeps=${pool.queued > 0}/>`],
      ['queued', count(pool.queued) + (pool.capacity == null ? '' : ' of ' + count(pool.capacity))],
      ['threads', count(pool.threads) + ', core ' + count(pool.core) + ', most so far ' + count(pool.largest)],
      ['accepted', count(pool.accepted)], ['completed', count(pool.completed)],
      ['rejected', count(pool.rejected)], ['handed back', count(pool.handedBack)], ['removed', count(pool.removed)]]}/>
    ${stuck.map(each => html`<div class="stack" key=${each.thread + each.task}>
      <p><strong><${Name} text=${each.task} most=${120}/></strong> has run for <${Since} row=${each} of="ranSince"/> in <${Name} text=${each.thread}/>:</p>
      <${Code} text=${each.stack} label=${'Stack of ' + each.task}/></div>`)}
  </section>`;
}
