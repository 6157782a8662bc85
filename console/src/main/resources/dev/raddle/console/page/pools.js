// The pools: what runs and waits, what is stuck and where, and what a drain waits for.

import { html } from './html.js';
import { Code, Facts, Name, Nothing, Since, State, Taken } from './parts.js';
import { count, counted, isolated, moment } from './words.js';

export const query = () => ({});

const SHOWN = 10; // tasks of a stack

const isDraining = pool => pool.drainingSeenAt != null;
const trouble = pool => (pool.stuck?.length ? 2 : 0) + (isDraining(pool) ? 1 : 0);

export function Pools({ data }) {
  const names = data.order.filter(name => data.rows[name]);
  const worstFirst = names.toSorted((a, b) => trouble(data.rows[b]) - trouble(data.rows[a]));
  return html`
    <h1 tabindex="-1">Pools</h1>
    ${names.length === 0 && html`<${Nothing} text="No pool is watched. One appears here with:" code="console.watch(pool);"/>`}
    ${worstFirst.map(name => html`<${Pool} key=${name} name=${name} pool=${data.rows[name]}/>`)}`;
}

function Pool({ name, pool }) {
  const stuck = pool.stuck || [];
  if (pool.state === 'unreadable') {
    return html`<section class="card"><h2><${Name} text=${name}/> <${State} state=${pool.state}/></h2><p>The size of its queue, which is the program's, throws an exception.</p></section>`;
  }
  return html`<section class="card">
    <h2><${Name} text=${name}/> <${State} state=${stuck.length > 0 ? 'stuck' : pool.state}/></h2>
    ${isDraining(pool) && html`<p class="verdict stop full"><strong>It is draining, for at least <${Since} row=${pool} of="drainingSeen"/>, seen first at ${moment(pool.drainingSeenAt)}.</strong>
      ${' '}${pool.active ? counted(pool.active, 'task still runs', 'tasks still run') : 'No task runs'}, ${count(pool.queued)} queued, ${count(pool.handedBack)} handed back.</p>`}
    ${stuck.length > 0 && html`<p class="verdict stop failed"><strong>${counted(stuck.length, 'task is', 'tasks are')} stuck.</strong> ${pool.active >= pool.maxThreads ? 'All threads are taken.' : ''}</p>`}
    <${Facts} of=${[
      ['running', html`${count(pool.active)} of ${count(pool.maxThreads)} <${Taken} taken=${pool.active} limit=${pool.maxThreads} keeps=${pool.queued > 0}/>`],
      ['queued', count(pool.queued) + (pool.capacity == null ? '' : ' of ' + count(pool.capacity))],
      ['threads', count(pool.threads) + ', core ' + count(pool.coreThreads) + ', most so far ' + count(pool.largestThreads)],
      ['accepted', count(pool.accepted)], ['completed', count(pool.completed)],
      ['rejected', count(pool.rejected)], ['handed back', count(pool.handedBack)], ['removed', count(pool.removed)]]}/>
    ${alike(stuck).map(([stack, each]) => html`<div class="stack" key=${stack}>
      ${each.length > 1 && html`<p><strong>${counted(each.length, 'task')} with one stack${pool.queued > 0 && each[0].waitsForResult ? ', which waits for another task; ' + counted(pool.queued, 'task') + (pool.queued === 1 ? ' is' : ' are') + ' queued here' : ''}:</strong></p>`}
      <ul class="plain">${each.slice(0, SHOWN).map(one => html`<li key=${one.thread + one.task}><strong><${Name} text=${one.task} most=${120}/></strong> has run for <${Since} row=${one} of="ranSince"/> in <${Name} text=${one.thread}/></li>`)}
        ${each.length > SHOWN && html`<li>and ${count(each.length - SHOWN)} more</li>`}</ul>
      <${Code} text=${stack} label=${'Stack of ' + isolated(each[0].task)}/></div>`)}
  </section>`;
}

/** The tasks by their stacks, the most of one stack first. */
function alike(stuck) {
  const found = new Map();
  for (const each of stuck) found.set(each.stack, [...found.get(each.stack) || [], each]);
  return [...found].sort((a, b) => b[1].length - a[1].length);
}
