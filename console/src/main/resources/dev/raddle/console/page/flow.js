// One run of a flow, and what can be done with it.

import { html, useMemo } from './html.js';
import { ask } from './controls.js';
import { Name } from './parts.js';
import { isolated } from './words.js';
import { Run } from './run.js';

export const query = params => ({ id: params.id });

/** Requests are sent to the target. Nodes of a run that can run again have a button for that. */
export function Flow({ data, params, target = { ref: params.id }, again, children }) {
  const { row } = data, controls = data.controls && data.changeable;
  const below = useMemo(() => (node, id) => controls && node.signal && html` <button type="button" class="small" onClick=${() => ask({
    title: 'Signal “' + isolated(id) + '”?', verb: 'Signal', text: 'The run goes on with this value.',
    field: { label: 'Value', type: 'text', value: '', optional: true, read: text => text === '' ? null : text },
    request: { ...target, action: 'signal', key: id } })}>Signal…</button>`, [params.id, controls]);
  if (!row) {
    return html`<h1 tabindex="-1">Run <${Name} text=${params.id}/></h1>
      <p>The program no longer knows this run. It keeps the runs in progress and the last that ended.</p>`;
  }
  const actions = id => again && controls && html`<button type="button" class="small" onClick=${() => ask({
    title: 'Run “' + isolated(id) + '” again?', verb: 'Run again', text: 'It runs again, and so do all nodes that depend on it, and all without success.',
    request: { ...target, action: 'rerun', key: id } })}>Run again from here…</button>`;
  return html`<${Run} data=${data} below=${below} actions=${actions}>${children}
    ${controls && row.endedAt == null && html`<div class="bar"><button type="button" class="small" onClick=${() => ask({
      title: 'Cancel the run “' + isolated(row.label || row.name) + '”?', verb: 'Cancel the run', grave: true,
      text: 'Nodes that run are interrupted, the others do not start.',
      field: { label: 'Reason', type: 'text', value: 'cancelled in the console', read: String },
      request: { ...target, action: 'cancelRun' } })}>Cancel the run…</button></div>`}<//>`;
}
