// One run of a flow: its graph, when each node ran, and what the others wait for.

import { html, useMemo, useSignal } from './html.js';
import { ask } from './controls.js';
import { Progress, Took } from './flows.js';
import { Graph } from './graph.js';
import { Chip, Facts, Name, State, Table } from './parts.js';
import { counted, length, moment, sentence, signOf, stateName } from './words.js';
import { now } from './stream.js';

const MOST_ROWS = 300;
const STATES = ['failed', 'timed-out', 'cancelled', 'running', 'waiting', 'pending', 'succeeded', 'skipped'];
const isFailure = state => state === 'failed' || state === 'timed-out';

export const query = params => ({ id: params.id });

/** Requests are sent to the target. Nodes of a run that can run again have a button for that. */
export function Flow({ data, params, target = { ref: params.id }, again, children }) {
  const { row, controls } = data, nodes = data.nodes || {}, edges = data.edges || [];
  const filter = useSignal(null), chosen = useSignal(null);
  const ids = Object.keys(nodes), stateOf = id => stateName(nodes[id].state);
  const columns = useMemo(() => columnsFor(target, controls), [params.id, controls]);
  if (!row) {
    return html`<h1 tabindex="-1">Run <${Name} text=${params.id}/></h1>
      <p>The program no longer knows this run. It keeps the runs in progress and the last that ended.</p>`;
  }
  const numbers = new Map(STATES.map(state => [state, 0]));
  ids.forEach(id => numbers.set(stateOf(id), (numbers.get(stateOf(id)) || 0) + 1));
  const begin = id => nodes[id].startedAt ?? Infinity;
  const wanted = ids.filter(id => !filter.value || stateOf(id) === filter.value || (filter.value === 'failed' && isFailure(stateOf(id))))
    .sort((a, b) => begin(a) - begin(b) || ids.indexOf(a) - ids.indexOf(b));
  const failed = ids.filter(id => isFailure(stateOf(id)) && nodes[id].error);
  const to = row.endedAt ?? (row.elapsedMillis != null ? row.startedAt + row.elapsedMillis : now.value);
  const timed = Object.fromEntries(wanted.slice(0, MOST_ROWS).map(id => [id, { ...nodes[id], id, from: row.startedAt, to }]));
  return html`
    <h1 tabindex="-1"><${Name} text=${row.label || row.name} most=${200}/> <${State} state=${row.state}/></h1>
    ${failed.slice(0, 5).map(id => html`<p key=${id} class="verdict stop failed"><strong><${Name} text=${id}/> ${stateOf(id).replace('-', ' ')}:</strong>${' '}
      <${Name} text=${nodes[id].error} most=${300}/></p>`)}
    <${Facts} of=${[['started', moment(row.startedAt)], [row.endedAt == null ? 'running for' : 'took', html`<${Took} row=${row}/>`], ['nodes', html`<${Progress} row=${row}/>`]]}/>
    ${children}
    ${controls && row.endedAt == null && html`<div class="bar"><button type="button" class="small" onClick=${() => ask({
      title: 'Cancel the run “' + (row.label || row.name) + '”?', verb: 'Cancel the run', grave: true,
      text: 'Nodes that run are interrupted, the others do not start.',
      field: { label: 'Reason', type: 'text', value: 'cancelled in the console', read: String },
      request: { ...target, action: 'cancelRun' } })}>Cancel the run…</button></div>`}
    <div class="bar" role="group" aria-label="Filter by state">
      ${[...numbers].filter(([, number]) => number > 0).map(([state, number]) => html`<${Chip} key=${state} on=${filter.value === state}
        click=${() => { filter.value = filter.value === state ? null : state; }}><span class=${'s-' + state} aria-hidden="true">${signOf(state)}</span> ${number} ${state.replace('-', ' ')}<//>`)}</div>
    <section><h2>Graph <span class="dim">${counted(ids.length, 'node')}, ${counted(edges.length, 'edge')}</span></h2>
      <${Graph} nodes=${nodes} edges=${edges} filter=${filter.value} chosen=${chosen.value} choose=${id => { chosen.value = id; }}/>
      <div aria-live="polite">${chosen.value != null && nodes[chosen.value] && html`<${Details} id=${chosen.value} node=${nodes[chosen.value]} edges=${edges} again=${again && controls && target}/>`}</div></section>
    <section><h2>Timeline</h2>
      <${Table} label="Nodes" columns=${columns} ids=${wanted.slice(0, MOST_ROWS)} rows=${timed} detail=${(node, id) => html`<${Details} id=${id} node=${nodes[id]} edges=${edges} again=${again && controls && target}/>`}/>
      ${wanted.length > MOST_ROWS && html`<p class="dim">The first ${MOST_ROWS} of ${wanted.length}; filter by state to see others.</p>`}</section>`;
}

function columnsFor(target, controls) {
  return [
    { title: 'Node', cell: node => html`<${Name} text=${node.id} most=${40}/>`, below: node => html`<p class="why"><${State} state=${node.state}/>${node.why ? ' ' + sentence(node.why) : ''}
      ${node.error ? html` <${Name} text=${node.error} most=${200}/>` : ''}
      ${controls && node.signal && html` <button type="button" class="small" onClick=${() => ask({
        title: 'Signal “' + node.id + '”?', verb: 'Signal', text: 'The run goes on with this value.',
        field: { label: 'Value', type: 'text', value: '', optional: true, read: text => text === '' ? null : text },
        request: { ...target, action: 'signal', key: node.id } })}>Signal…</button>`}</p>` },
    { title: 'When', cell: node => html`<${Bar} node=${node}/>` },
    { title: 'Took', number: true, cell: node => html`<span class="nowrap">${node.startedAt == null ? '—' : html`<${Took} row=${node}/>`}</span>` },
  ];
}

/** The time of a node within that of its run. */
function Bar({ node }) {
  if (node.startedAt == null) return null;
  const span = Math.max(1, node.to - node.from), share = at => Math.max(0, Math.min(100, 100 * (at - node.from) / span));
  const x = share(node.startedAt), end = share(node.endedAt ?? node.to);
  return html`<svg class="when" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
    aria-label=${'from ' + length(node.startedAt - node.from) + ' to ' + length((node.endedAt ?? node.to) - node.from) + ' after the start'}>
    <rect class=${'fill-' + stateName(node.state)} x=${x} y="1" width=${Math.max(0.5, end - x)} height="8"/></svg>`;
}

function Details({ id, node, edges, again }) {
  const names = list => list.map(([name, kind], i) => html`${i ? ', ' : ''}<${Name} text=${name} most=${40}/>${kind && kind !== 'must' ? ' (' + kind + ')' : ''}`);
  const needs = edges.filter(edge => edge[1] === id).map(edge => [edge[0], edge[2]]), needed = edges.filter(edge => edge[0] === id).map(edge => [edge[1], edge[2]]);
  return html`<div class="details"><h3><${Name} text=${id} most=${200}/></h3><${Facts} of=${[
    ['state', html`<${State} state=${node.state}/>`],
    ['why', node.why && sentence(node.why)],
    ['error', node.error && html`<${Name} text=${node.error} most=${2000}/>`],
    ['group', node.group && html`<${Name} text=${node.group}/>`],
    ['started', node.startedAt && moment(node.startedAt)],
    ['ended', node.endedAt && moment(node.endedAt)],
    ['needs', needs.length > 0 && names(needs.slice(0, 50))],
    ['needed by', needed.length > 0 && names(needed.slice(0, 50))]].filter(([, value]) => value)}/>
    ${again && html`<button type="button" class="small" onClick=${() => ask({
      title: 'Run “' + id + '” again?', verb: 'Run again', text: 'It runs again, and so do all nodes that depend on it, and all without success.',
      request: { ...again, action: 'rerun', key: id } })}>Run again from here…</button>`}</div>`;
}
