// The runs of flows: those in progress, and the last that ended.

import { now } from './clock.js';
import { html } from './html.js';
import { Chip, Filter, Name, Nothing, Progress, State, Table, Took } from './parts.js';
import { change, link } from './route.js';
import { count, counted, moment, sentence } from './words.js';

export const query = params => ({ filter: params.filter || '', failed: params.failed ? 'true' : '' });

const columns = [
  { title: 'Run', by: row => row.label || row.name, cell: (row, id) => html`<${Name} text=${row.label || row.name}/> <span class="dim">${id}</span>`,
    below: row => row.error ? html`<p class="why"><${Name} text=${row.error} most=${200}/></p>`
      : row.why ? html`<p class="why"><${Name} text=${sentence(row.why)} most=${300}/></p>`
      : row.label && row.label !== row.name ? html`<p class="why dim"><${Name} text=${row.name}/></p>` : null },
  { title: 'State', by: row => row.state, cell: row => html`<${State} state=${row.state}/>` },
  { title: 'Nodes', by: row => row.nodes, cell: row => html`<${Progress} row=${row}/>` },
  { title: 'Took', by: row => row.startedAt == null ? null : (row.endedAt ?? now.peek()) - row.startedAt, number: true, cell: row => html`<span class="nowrap"><${Took} row=${row}/></span>` },
  { title: 'Started', by: row => row.startedAt, wide: true, cell: row => html`<${Started} at=${row.startedAt}/>` },
];

const Started = ({ at }) => moment(at, now.value);

const hrefOf = (row, id) => link('flow', { id });

export function Flows({ data, params, question }) {
  return html`
    <h1 tabindex="-1">Flows</h1>
    <div class="bar"><${Filter} value=${params.filter} label="Part of a name"/>
      <${Chip} on=${params.failed} click=${() => change({ failed: params.failed ? '' : '1' })}>only unsuccessful<//>
      <span class="dim" role="status">${counted(data.total, 'run')}${data.total > data.order.length ? ', the first ' + count(data.order.length) : ''}</span></div>
    <${Table} label="Runs" columns=${columns} ids=${data.order} rows=${data.rows} href=${hrefOf} question=${question}
      empty=${params.filter || params.failed ? 'No run matches.' : 'No run of a flow is watched.'}/>
    ${data.total === 0 && !params.filter && !params.failed && html`<${Nothing} text="A run appears here when the program starts it with the console, or watches it:" code=${'console.startFlow(plan, parameter, options);\nconsole.watch(run, plan);'}/>`}`;
}
