// The runs of flows: those in progress, and the last that ended.

import { now } from './clock.js';
import { html } from './html.js';
import { Chip, Filter, Name, Progress, State, Table, Took } from './parts.js';
import { change, link } from './route.js';
import { count, counted, moment } from './words.js';

export const query = params => ({ filter: params.filter || '', failed: params.failed ? 'true' : '' });

const columns = [
  { title: 'Run', cell: row => html`<${Name} text=${row.label || row.name}/>`,
    below: row => row.error ? html`<p class="why"><${Name} text=${row.error} most=${200}/></p>`
      : row.label && row.label !== row.name ? html`<p class="why dim"><${Name} text=${row.name}/></p>` : null },
  { title: 'State', cell: row => html`<${State} state=${row.state}/>` },
  { title: 'Nodes', cell: row => html`<${Progress} row=${row}/>` },
  { title: 'Took', number: true, cell: row => html`<span class="nowrap"><${Took} row=${row}/></span>` },
  { title: 'Started', wide: true, cell: row => html`<${Started} at=${row.startedAt}/>` },
];

const Started = ({ at }) => moment(at, now.value);

const hrefOf = (row, id) => link('flow', { id });

export function Flows({ data, params, question }) {
  return html`
    <h1 tabindex="-1">Flows</h1>
    <div class="bar"><${Filter} value=${params.filter} label="Part of a name"/>
      <${Chip} on=${params.failed} click=${() => change({ failed: params.failed ? '' : '1' })}>only unsuccessful<//>
      <span class="dim" role="status">${counted(data.total, 'run')}${data.total > data.order.length ? ', the latest ' + count(data.order.length) : ''}</span></div>
    <${Table} label="Runs" columns=${columns} ids=${data.order} rows=${data.rows} href=${hrefOf} question=${question}
      empty=${params.filter || params.failed ? 'No run matches.' : 'No run of a flow is watched.'}/>`;
}
