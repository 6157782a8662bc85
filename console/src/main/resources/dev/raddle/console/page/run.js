// One run, while it goes on or after it: its failures, its graph, and when each of its nodes waited and ran.

import { now } from './clock.js';
import { Graph } from './graph.js';
import { html, useMemo, useSignal } from './html.js';
import { Chip, Code, Facts, Filter, Name, Progress, State, Table, Took } from './parts.js';
import { change, route } from './route.js';
import { count, counted, length, moment, sentence, signOf, stateName } from './words.js';

const PAGE = 200;
const GROUPS = 50; // more groups are not listed
const STEPS = 100; // of a curve
const CRITICAL = 200; // more nodes of the critical path are not listed
const STATES = ['failed', 'timed-out', 'rejected', 'cancelled', 'running', 'waiting', 'pending', 'succeeded', 'degraded', 'skipped'];
const isFailure = state => state === 'failed' || state === 'timed-out' || state === 'rejected';

const rank = node => { const found = STATES.indexOf(stateName(node.state)); return found < 0 ? STATES.length : found; };
const start = node => node.startedAt ?? node.readyAt ?? Infinity;
const took = node => node.startedAt == null ? -1 : (node.endedAt ?? node.to) - node.startedAt;
/** Whether a node has run, but since when is not known: a journal has only the number of its attempts. */
const isVague = node => node.startedAt == null && (node.state === 'running' || Boolean(node.facts?.some(([name]) => name === 'attempts')));
const waited = node => node.readyAt == null || isVague(node) ? -1 : (node.startedAt ?? node.endedAt ?? node.to) - node.readyAt;
const earlier = (a, b) => start(a) < start(b) ? -1 : start(a) > start(b) ? 1 : 0;

/** The orders of the table, by the words of its columns. */
const ORDERS = {
  state: (a, b) => rank(a) - rank(b) || earlier(a, b),
  start: earlier,
  waited: (a, b) => waited(b) - waited(a),
  took: (a, b) => took(b) - took(a),
  name: (a, b) => a.id < b.id ? -1 : 1,
  group: (a, b) => String(a.group ?? '\uFFFF').localeCompare(String(b.group ?? '\uFFFF'), 'en', { numeric: true }),
};
const orderOf = by => { const order = ORDERS[by.replace(/^-/, '')] || ORDERS.state; return by.startsWith('-') ? (a, b) => order(b, a) : order; };

/**
 * Data: {row, nodes, edges, critical, facts, text}. The children follow the facts of the run. What can be done with a node
 * stands below its name (below: (node, id) => content) and in its details (actions: id => content).
 */
export function Run({ data, below, actions, children }) {
  const { row, nodes = {}, edges = [], critical = [] } = data;
  const chosen = useSignal(null), params = route.value.params; // the filters and the order are in the address
  const filter = params.state || null, by = params.sort || 'state', page = Number(params.page || 0);
  const ids = useMemo(() => Object.keys(nodes), [nodes]);
  const to = row.endedAt ?? (row.startedAt == null ? null : now.value);
  const timed = id => ({ ...nodes[id], id, from: row.startedAt, to });

  const numbers = new Map(STATES.map(state => [state, 0]));
  ids.forEach(id => { const state = stateName(nodes[id].state); numbers.set(state, (numbers.get(state) || 0) + 1); });
  const wanted = (params.text || '').toLowerCase();
  const matches = id => (!filter || stateName(nodes[id].state) === filter)
    && (!wanted || [id, nodes[id].group, nodes[id].error, nodes[id].why].some(part => part?.toLowerCase().includes(wanted)));
  const rows = ids.filter(matches).map(timed).sort(orderOf(by));
  const isFiltered = Boolean(filter || wanted), matching = isFiltered ? new Set(rows.map(node => node.id)) : null;
  const last = Math.max(0, Math.ceil(rows.length / PAGE) - 1), at = Math.max(0, Math.min(page, last)) || 0, shown = rows.slice(at * PAGE, (at + 1) * PAGE);
  const failed = ids.filter(id => isFailure(stateName(nodes[id].state)) && nodes[id].error) // those that ran come before their consequences
    .sort((a, b) => (nodes[a].startedAt == null) - (nodes[b].startedAt == null) || earlier(nodes[a], nodes[b]));

  const groups = useMemo(() => groupsOf(nodes, row.startedAt, to), [nodes, row.startedAt, to]), hasGroups = groups.length > 0;
  const columns = useMemo(() => columnsFor(below, hasGroups), [below, hasGroups]);
  const choose = id => { chosen.value = chosen.value === id ? null : id; };
  const details = id => html`<${Details} id=${id} node=${timed(id)} edges=${edges} choose=${choose}>${actions?.(id)}<//>`;
  const known = ids.length > 0;
  return html`
    <h1 tabindex="-1"><${Name} text=${row.label || row.name} most=${200}/> <${State} state=${row.state}/></h1>
    ${failed.slice(0, 5).map(id => html`<p key=${id} class="verdict stop failed"><strong><${Name} text=${id}/> ${stateName(nodes[id].state).replace('-', ' ')}:</strong>${' '}
      <${Name} text=${nodes[id].error} most=${300}/></p>`)}
    ${failed.length > 5 && html`<p class="dim">And ${count(failed.length - 5)} more failures, the first rows of the table.</p>`}
    <${Facts} of=${[['started', row.startedAt != null && moment(row.startedAt)], [row.endedAt == null ? 'running for' : 'took', row.startedAt != null && html`<${Took} row=${row}/>`],
      ['error', row.error && html`<${Name} text=${row.error} most=${500}/>`], ['nodes', known && html`<${Progress} row=${row}/>`], ...(data.facts || []).map(([name, value]) => [name, html`<${Name} text=${value} most=${500}/>`])].filter(([, value]) => value)}/>
    ${children}
    ${known && html`<div class="bar" role="group" aria-label="Filter by state">
      ${[...numbers].filter(([, number]) => number > 0).map(([state, number]) => html`<${Chip} key=${state} on=${filter === state}
        click=${() => change({ state: filter === state ? '' : state, page: '' })}><span class=${'s-' + state} aria-hidden="true">${signOf(state)}</span> ${count(number)} ${state.replace('-', ' ')}<//>`)}
      <${Filter} value=${params.text} name="text" label="Part of a name, group or error"/></div>`}
    <section><h2>Graph <span class="dim">${counted(ids.length, 'node')}, ${counted(edges.length, 'edge')}</span></h2>
      <${Graph} nodes=${nodes} edges=${edges} critical=${critical} matching=${matching} chosen=${chosen.value} choose=${choose}/>
      <div aria-live="polite">${chosen.value != null && nodes[chosen.value] && details(chosen.value)}</div></section>
    <section><h2>Timeline <span class="dim">${isFiltered ? count(rows.length) + ' of ' + counted(ids.length, 'node') : ''}</span></h2>
      <${Table} label="Nodes" columns=${columns} ids=${shown.map(node => node.id)} rows=${Object.fromEntries(shown.map(node => [node.id, node]))} sort="state"
        question=${by + at} detail=${(node, id) => details(id)} empty=${known ? 'No node matches.' : 'The nodes are not known.'}/>
      ${last > 0 && html`<nav class="bar pages" aria-label="Pages of the table">
        <button type="button" class="small" disabled=${at === 0} onClick=${() => change({ page: at - 1 })}>Previous</button>
        <span>${count(at * PAGE + 1)} to ${count(Math.min(rows.length, (at + 1) * PAGE))} of ${count(rows.length)}</span>
        <button type="button" class="small" disabled=${at === last} onClick=${() => change({ page: at + 1 })}>Next</button></nav>`}</section>
    ${hasGroups && html`<section><h2>Groups <span class="dim">${groups.length > GROUPS ? 'those of ' + count(groups.length) + ' that waited most' : 'how many nodes ran, and above them how many waited'}</span></h2>
      <${Table} label="Groups" name="groups" columns=${GROUP} ids=${groups.slice(0, GROUPS).map(group => group.name)} rows=${Object.fromEntries(groups.slice(0, GROUPS).map(group => [group.name, group]))}/></section>`}
    ${critical.length > 1 && html`<section><h2>Critical path <span class="dim">${critical.length > CRITICAL ? 'the last ' + count(CRITICAL) + ' of ' + count(critical.length) : 'why the run took as long as it did'}</span></h2>
      <${Table} label="Critical path" name="path" columns=${LENGTHS} ids=${critical.slice(-CRITICAL)} rows=${Object.fromEntries(critical.slice(-CRITICAL).map(id => [id, timed(id)]))}
        detail=${(node, id) => details(id)}/></section>`}
    ${data.text && html`<section><h2>Journal</h2><${Code} text=${data.text} label="Journal"/></section>`}`;
}

const lengthOf = millis => html`<span class="nowrap">${millis < 0 ? '—' : length(millis)}</span>`;

const LENGTHS = [
  { title: 'Node', by: node => node.id, cell: node => html`<${Name} text=${node.id} most=${40}/>` },
  { title: 'Waited', by: waited, number: true, cell: node => lengthOf(waited(node)) },
  { title: 'Took', by: took, number: true, cell: node => lengthOf(took(node)) },
];

const GROUP = [
  { title: 'Group', by: group => group.name, cell: group => html`<${Name} text=${group.name} most=${40}/>` },
  { title: 'Nodes', by: group => group.nodes, number: true, cell: group => count(group.nodes) },
  { title: 'When', cell: group => html`<${Curves} group=${group}/>` },
  { title: 'Waited in all', by: group => group.waited, number: true, cell: group => lengthOf(group.waited) },
  { title: 'Took in all', by: group => group.took, number: true, cell: group => lengthOf(group.took) },
];

/** The groups, and how many of their nodes waited and ran in each step of the run. Those that waited most come first. */
function groupsOf(nodes, from, to) {
  const groups = new Map(), width = Math.max(1, to - from) / STEPS;
  // The sum of all steps up to one is how many there were in it. A moment within a step counts for the rest of it.
  const add = (steps, moment, number) => {
    const at = Math.max(0, Math.min(STEPS, (moment - from) / width)), step = Math.floor(at), past = at - step;
    steps[step] += number * (1 - past);
    steps[step + 1] += number * past;
  };
  for (const id in nodes) {
    const node = { ...nodes[id], to };
    if (!node.group) continue;
    if (!groups.has(node.group)) groups.set(node.group, { name: node.group, nodes: 0, waited: -1, took: -1, waits: new Float64Array(STEPS + 2), runs: new Float64Array(STEPS + 2) });
    const group = groups.get(node.group), end = node.endedAt ?? to;
    group.nodes++;
    if (waited(node) >= 0) { // known
      group.waited = Math.max(0, group.waited) + waited(node);
      add(group.waits, node.readyAt, 1);
      add(group.waits, node.startedAt ?? end, -1);
    }
    if (took(node) >= 0) {
      group.took = Math.max(0, group.took) + took(node);
      add(group.runs, node.startedAt, 1);
      add(group.runs, end, -1);
    }
  }
  return [...groups.values()].sort((a, b) => b.waited - a.waited || b.took - a.took);
}

/** How many nodes of a group ran in each step of the run, and in light above them how many waited. */
function Curves({ group }) {
  const sums = steps => { let sum = 0; return [...steps.slice(0, STEPS)].map(step => sum += step); };
  const runs = sums(group.runs), waits = sums(group.waits), all = runs.map((number, step) => number + waits[step]), most = Math.max(1, ...all);
  const peak = numbers => count(Math.round(Math.max(...numbers)));
  if (group.took < 0 && group.waited < 0) return null; // the times are not known
  const area = (kind, numbers) => html`<polygon class=${kind} points=${'0,10 ' + numbers.map((number, step) => {
    const y = (10 - 10 * number / most).toFixed(2);
    return step + ',' + y + ' ' + (step + 1) + ',' + y;
  }).join(' ') + ' 100,10'}/>`;
  return html`<svg class="when curves" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
    aria-label=${'at most about ' + [group.took >= 0 && peak(runs) + ' running', group.waited >= 0 && peak(waits) + ' waiting'].filter(Boolean).join(' and ')}>
    ${group.waited > 0 && area('waits', all)}${area('fill-succeeded', runs)}</svg>`;
}

function columnsFor(below, hasGroups) {
  return [
    { title: 'Node', sort: 'name', cell: node => html`<${Name} text=${node.id} most=${40}/>`,
      below: node => html`<p class="why">${node.why ? html`<${Name} text=${sentence(node.why)} most=${300}/>` : ''}${node.error ? html` <${Name} text=${node.error} most=${200}/>` : ''}${below?.(node, node.id)}</p>` },
    { title: 'State', sort: 'state', cell: node => html`<${State} state=${node.state}/>${node.attempts?.length > 1 ? html`<br/><span class="dim nowrap">${counted(node.attempts.length, 'attempt')}</span>` : ''}` },
    ...hasGroups ? [{ title: 'Group', wide: true, sort: 'group', cell: node => node.group ? html`<${Name} text=${node.group} most=${30}/>` : '' }] : [],
    { title: 'When', sort: 'start', cell: node => html`<${Bars} node=${node}/>` },
    { title: 'Waited', number: true, wide: true, sort: 'waited', cell: node => lengthOf(waited(node)) },
    { title: 'Took', number: true, sort: 'took', cell: node => lengthOf(took(node)) },
  ];
}

/** The time of a node within that of its run: light while it waits, and a bar for each of its attempts. */
function Bars({ node }) {
  const first = node.readyAt ?? node.startedAt, end = node.endedAt ?? node.to;
  if (first == null || node.from == null) return null;
  const span = Math.max(1, node.to - node.from), x = moment => Math.max(0, Math.min(100, 100 * (moment - node.from) / span));
  const attempts = node.attempts?.length ? node.attempts : node.startedAt == null && !isVague(node) ? [] : [{ startedAt: node.startedAt ?? first, endedAt: end }];
  const bar = (kind, from, until, key) => html`<rect key=${key} class=${kind} x=${x(from)} y="1" width=${Math.max(0.4, x(until) - x(from))} height="8"/>`;
  return html`<svg class="when" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
    aria-label=${'from ' + length(first - node.from) + ' to ' + length(end - node.from) + ' after the start' + (attempts.length > 1 ? ', ' + count(attempts.length) + ' attempts' : '')}>
    ${bar('waits', first, end, 'waits')}
    ${attempts.map((attempt, i) => bar('attempt fill-' + (attempt.error || i < attempts.length - 1 ? 'failed' : stateName(node.state)), attempt.startedAt, attempt.endedAt ?? end, i))}</svg>`;
}

function Details({ id, node, edges, choose, children }) {
  const links = list => html`${list.slice(0, 50).map(([name, kind], i) => html`${i ? ', ' : ''}<button type="button" class="plain link" onClick=${() => choose(name)}><${Name} text=${name} most=${40}/></button>${kind && kind !== 'must' ? ' (' + kind + ')' : ''}`)}
    ${list.length > 50 && ' and ' + count(list.length - 50) + ' more'}`;
  const needs = edges.filter(edge => edge[1] === id).map(edge => [edge[0], edge[2]]), needed = edges.filter(edge => edge[0] === id).map(edge => [edge[1], edge[2]]);
  return html`<div class="details"><h3><${Name} text=${id} most=${200}/></h3><${Facts} of=${[
    ['state', html`<${State} state=${node.state}/>`],
    ['why', node.why && html`<${Name} text=${sentence(node.why)} most=${2000}/>`],
    ['error', node.error && html`<${Name} text=${node.error} most=${2000}/>`],
    ['group', node.group && html`<${Name} text=${node.group}/>`],
    ['started', node.startedAt != null && moment(node.startedAt)],
    ['ended', node.endedAt != null && moment(node.endedAt)],
    ['waited', waited(node) >= 0 && length(waited(node))],
    ['took', took(node) >= 0 && length(took(node))],
    ['waited and ran', node.readyAt != null && isVague(node) && length((node.endedAt ?? node.to) - node.readyAt)],
    ...(node.facts || []).map(([name, value]) => [name, html`<${Name} text=${value} most=${2000}/>`]),
    ['needs', needs.length > 0 && links(needs)],
    ['needed by', needed.length > 0 && links(needed)]].filter(([, value]) => value)}/>
    ${node.attempts?.length > 1 && html`<ol class="attempts">${node.attempts.map((attempt, i) => html`<li key=${i}>${moment(attempt.startedAt)}, ${length((attempt.endedAt ?? node.to) - attempt.startedAt)}
      ${attempt.error && html`: <${Name} text=${attempt.error} most=${300}/>`}</li>`)}</ol>`}
    ${node.text && html`<${Code} text=${node.text} label="Output"/>`}
    ${children}</div>`;
}
