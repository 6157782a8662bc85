// One group: who holds its slots, for how long and where in the code; what waits, and why?

import { now } from './clock.js';
import { html, useEffect, useMemo, useSignal } from './html.js';
import { Failures } from './failures.js';
import { ask } from './controls.js';
import { Code, Copy, Facts, Name, Since, Table, Until } from './parts.js';
import { costs, Holders, stopOf, taken } from './groups.js';
import { changeLines, holderLine, incident, taskLine } from './incident.js';
import { stackOf } from './stream.js';
import { count, counted, isolated, length, moment, percent, periods, perSecond, sentence } from './words.js';
import { Changes, Curves, Says } from './wrong.js';

const STACKS = 20; // of so many holders at most

export const query = params => ({ executor: params.executor ?? '', key: params.key ?? '' });

export function Group({ data, params }) {
  const { executor = '', key = '' } = params, { row, controls, changes = [] } = data; // an address has no empty parameters
  const found = useSignal(null), order = data.order || { running: [], waiting: [] };
  const some = of => Object.values(data.waiting || {}).some(task => task[of] != null), priorities = some('priority'), slots = some('slots');
  const columns = useMemo(() => columnsFor(executor, key, controls, priorities, slots), [executor, key, controls, priorities, slots]);
  if (!row) {
    return html`<h1 tabindex="-1"><${Name} text=${key} most=${200}/></h1>
      <p>The group has no task now.</p>`;
  }
  return html`
    <h1 tabindex="-1"><${Name} text=${key} most=${200}/> <span class="dim small-text">group of <${Name} text=${executor}/></span></h1>
    <${Verdict} row=${row} finding=${data.finding}/>
    <${Facts} of=${[
      ['running', taken(row)],
      ['waiting', count(row.waiting) + (row.capacity == null ? '' : ' of ' + count(row.capacity))],
      ['oldest wait', row.waiting > 0 ? html`<${Since} row=${row} of="oldest"/>` : null],
      ['weight', row.weight && count(row.weight)],
      ['share of slot-time', row.share == null ? null : percent(row.share)],
      ['starts', perSecond(row.startsPerSecond)],
      ['rate', row.rate && periods(row.rate)],
      ['breaker', row.breaker],
      ['rejected', count(row.rejected)],
      ['failed', count(row.failed)]]}/>
    <div class="bar"><${Copy} what="this group with its holders, stacks and changes, for a ticket" text=${() => ticket(data, params, found.value)}>Copy for a ticket<//></div>
    ${controls && html`<${Controls} executor=${executor} group=${key} row=${row}/>`}
    <${Curves} history=${data.history} series=${data.series} changes=${changes} span=${params.span}/>
    <section><h2>Running <span class="dim">${count(data.tasks)}${data.tasks > order.running.length ? ', the first ' + count(order.running.length) : ''}${
      row.running > data.tasks ? ', with ' + counted(row.running, 'slot') : ''}</span></h2>
      <${AllStacks} executor=${executor} group=${key} refs=${order.running} running=${data.running} found=${found}/>
      <${Table} label="Running tasks" name="running" columns=${columns.running} ids=${order.running} rows=${data.running || {}} detail=${columns.stack}
        empty="No task runs."/></section>
    <section><h2>Waiting <span class="dim">${count(row.waiting)}${row.waiting > order.waiting.length ? ', the first ' + count(order.waiting.length) : ''}</span></h2>
      <${Table} label="Waiting tasks" name="waiting" columns=${columns.waiting} ids=${order.waiting} rows=${data.waiting || {}} empty="No task waits."/></section>
    <section><h2>Failures</h2><${Failures} failures=${data.failures} label="Failures of the group" name="failures"/></section>
    ${changes.length > 0 && html`<section><h2>Changes</h2><${Changes} changes=${changes}/></section>`}`;
}

/** The columns of tasks; those of priorities and costs only if one of them is not that of all. */
function columnsFor(executor, key, controls, priorities, slots) {
  const target = name => 'task “' + isolated(name) + '” of group “' + isolated(key) + '”';
  const cancel = { title: 'Control', cell: (row, ref) => html`<button type="button" class="small" onClick=${() => ask({
    title: 'Cancel ' + target(row.name) + '?', verb: 'Cancel the task', grave: true,
    text: 'A waiting task never runs. A running one is interrupted, and holds its slot until it returns.',
    request: { action: 'cancelTask', executor, key, ref } })}>Cancel…</button>` };
  const running = [
    { title: 'Task', by: row => row.name, cell: row => html`<${Name} text=${row.name}/>` },
    { title: 'Runs for', by: row => -row.sinceAt, number: true, cell: row => html`<span class="nowrap"><${Since} row=${row}/></span>` },
    { title: 'Thread', by: row => row.thread, wide: true, cell: row => html`<${Name} text=${row.thread} most=${40}/>` },
  ];
  const waiting = [
    { title: 'Task', by: row => row.name, cell: row => html`<${Name} text=${row.name}/>` },
    { title: 'Waits for', by: row => -row.sinceAt, number: true, cell: row => html`<span class="nowrap"><${Since} row=${row}/></span>` },
    { title: 'Before it', by: row => row.place, number: true, cell: row => count(row.place) },
    priorities && { title: 'Priority', by: row => row.priority ?? 0, number: true, cell: row => count(row.priority ?? 0) },
    slots && { title: 'Needs slots', by: row => row.slots ?? 1, number: true, cell: row => count(row.slots ?? 1) },
    { title: 'Why', by: row => row.why, cell: row => row.why ? sentence(row.why) : '' },
  ].filter(Boolean);
  return {
    running: controls ? [...running, cancel] : running,
    waiting: controls ? [...waiting, cancel] : waiting,
    stack: (row, ref) => html`<${Stack} executor=${executor} group=${key} task=${ref}/>`,
  };
}

/** What is known of the group, as text; with the stacks if they were compared. */
function ticket(data, { executor = '', key = '' }, found) {
  const { row, running = {}, waiting = {}, order } = data, since = (task, word) => word + (task.sinceAt == null ? '' : ' for ' + length(now.peek() - task.sinceAt));
  return incident(data, 'Group ' + key + ' of ' + executor + ': ' + taken(row) + ' running, ' + count(row.waiting) + ' waiting'
      + (row.oldestAt == null ? '' : ', the oldest for ' + length(now.peek() - row.oldestAt)) + (row.rate ? ', rate ' + periods(row.rate) : ''),
    stopOf(row) && '    ' + stopOf(row) + (row.why ? ': ' + sentence(row.why) : ''), costs(row) && '    ' + costs(row), (row.holders || []).map(holderLine),
    order.running.length > 0 && 'Running:', order.running.slice(0, STACKS).map(ref => running[ref]).filter(Boolean).map(taskLine),
    order.waiting.length > 0 && 'Waiting:', order.waiting.slice(0, 5).map(ref => waiting[ref]).filter(Boolean).map(task => '    ' + task.name + since(task, ',') + (task.why ? ': ' + sentence(task.why) : '')),
    found && found.stacks.flatMap(([frames, names]) => ['', counted(names.length, 'task') + ' here: ' + names.slice(0, 5).join(', '), frames.trimEnd()]), changeLines(data.changes));
}

/** The answer in one or two sentences: what is wrong, or else what waits. */
function Verdict({ row, finding }) {
  const stop = stopOf(row);
  if (finding) return html`<p class=${'verdict says ' + finding.level}><${Says} of=${finding}/></p>`;
  if (!stop) return html`<p class="verdict">Nothing waits. ${row.limit == null ? '' : taken(row) + ' slots are taken.'}</p>`;
  return html`<p class=${'verdict stop ' + stop.replace(' ', '-')}>
    ${row.waiting > 0 ? html`<strong>${counted(row.waiting, 'task waits', 'tasks wait')}${
      row.oldestAt == null ? '' : html`, the oldest for <${Since} row=${row} of="oldest"/>, since ${moment(row.oldestAt)}`}.</strong> `
      : html`<strong>The group is ${stop}.</strong> `}
    ${stop === 'on hold' && html`The hold ends in <${Until} row=${row} of="holdUntil"/>. `}
    ${costs(row) ? costs(row) + ' ' : row.why && 'The next one ' + sentence(row.why).replace(/^W/, 'w') + ' '}
    ${row.holders?.length > 0 && html`Held by <${Holders} of=${row.holders}/>.`}</p>`;
}

/** The stacks of the holders, equal ones together: a hanging callee shows as one stack. */
function AllStacks({ executor, group, refs, running, found }) {
  const busy = useSignal(false);
  if (refs.length < 2) return null;
  const load = async () => {
    busy.value = true;
    const stacks = new Map();
    await Promise.all(refs.slice(0, STACKS).map(async ref => {
      const name = running[ref]?.name ?? ref;
      const frames = await stackOf(executor, group, ref).catch(failure => failure.message);
      if (!stacks.has(frames)) stacks.set(frames, []);
      stacks.get(frames).push(name);
    }));
    found.value = { at: now.value, stacks: [...stacks].sort((a, b) => b[1].length - a[1].length) };
    busy.value = false;
  };
  return html`<div class="bar"><button type="button" class="small" disabled=${busy.value} onClick=${load}>
      Compare the stacks of ${refs.length > STACKS ? 'the first ' + STACKS : 'all ' + refs.length}</button>
      ${found.value && html`<span class="dim">taken at ${moment(found.value.at)}</span>`}</div>
    <div aria-live="polite">${found.value?.stacks.map(([frames, names]) => html`<div key=${frames} class="stack">
      <p><strong>${counted(names.length, 'task is', 'tasks are')} here</strong>: ${names.slice(0, 5).map((name, i) => html`${i ? ', ' : ''}<${Name} text=${name}/>`)}${names.length > 5 ? ', …' : ''}</p>
      <${Code} text=${frames} label=${'Stack of ' + counted(names.length, 'task')}/></div>`)}</div>`;
}

function Controls({ executor, group, row }) {
  const name = 'group “' + isolated(group) + '”', request = action => ({ action, executor, key: group });
  const buttons = [
    row.paused
      ? { label: 'Resume…', title: 'Resume ' + name + '?', verb: 'Resume', text: 'Its tasks start again.', request: request('resume') }
      : { label: 'Pause…', title: 'Pause ' + name + '?', verb: 'Pause', text: 'Running tasks go on. Others wait, and are rejected when the queue is full.', request: request('pause') },
    { label: 'Set limit…', title: 'Set the limit of ' + name, verb: 'Set the limit', request: request('setLimit'),
      text: 'How many of its tasks may run at once. A lower limit takes effect as tasks end.',
      field: { label: 'Limit', type: 'number', min: 1, step: 1, value: row.limit, read: Number } },
    { label: 'Set rate…', title: 'Set the rate of ' + name, verb: 'Set the rate', request: request('setRate'),
      text: 'How many of its tasks may start each second. Leave it empty for no rate.',
      field: { label: 'Starts per second', type: 'number', min: 1, step: 1, value: '', optional: true, read: text => text === '' ? null : text + '/1000' } },
    { label: 'Hold…', title: 'Hold ' + name + ' for a time?', verb: 'Hold', request: request('hold'),
      text: 'Running tasks go on; others wait until the hold ends. Nothing ends it earlier, and a shorter one does not replace it.',
      field: { label: 'Seconds', type: 'number', min: 1, step: 1, value: 60, read: text => Number(text) * 1000 } },
    row.breaker && (row.breaker === 'closed'
      ? { label: 'Open breaker…', title: 'Open the breaker of ' + name + ' for a time?', verb: 'Open it', request: request('openBreaker'),
        text: 'Running tasks go on. Others are rejected, or wait if its rule says so. After that time the probes decide.',
        field: { label: 'Seconds', type: 'number', min: 1, step: 1, value: 60, read: text => Number(text) * 1000 } }
      : { label: 'Reset breaker…', title: 'Reset the breaker of ' + name + '?', verb: 'Reset it', request: request('resetBreaker'),
        text: 'It is closed, and forgets how tasks have ended. Tasks start again.' }),
    { label: 'Evict…', title: 'Evict ' + name + '?', verb: 'Evict', grave: true, request: request('evict'),
      text: 'Its waiting tasks are rejected, ' + count(row.waiting) + ' now. Running tasks go on. Changes of its limits made here are discarded.' },
  ];
  return html`<div class="bar" role="group" aria-label="Controls">${buttons.filter(Boolean).map(button =>
    html`<button type="button" key=${button.label} class="small" onClick=${() => ask(button)}>${button.label}</button>`)}</div>`;
}

/** The stack of a running task, as it is now. */
function Stack({ executor, group, task }) {
  const text = useSignal(null), problem = useSignal(null);
  const load = () => stackOf(executor, group, task).then(
    found => { text.value = found; problem.value = null; },
    failure => { problem.value = failure.message; });
  useEffect(() => { load(); }, [executor, group, task]);
  return html`<div class="stack">
    <button type="button" class="small" onClick=${load}>Take it again</button>
    ${problem.value && html`<p class="problem" role="alert">${problem.value}</p>`}
    ${text.value != null ? html`<${Code} text=${text.value} label="Stack"/>` : !problem.value && html`<p class="dim">Taking the stack…</p>`}</div>`;
}
