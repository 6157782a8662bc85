// The runs of flows: those in progress, and the last that ended.

import { html } from './html.js';
import { Chip, Filter, Name, Since, State, Table } from './parts.js';
import { change, link } from './route.js';
import { counted, length, moment } from './words.js';
import { now } from './stream.js';

export const query = params => ({ filter: params.filter || '', failed: params.failed ? 'true' : '' });

const SHARES = ['succeeded', 'failed', 'running', 'pending'];

const columns = [
  { title: 'Run', cell: row => html`<${Name} text=${row.label || row.name}/>`,
    below: row => row.label && row.label !== row.name ? html`<p class="why dim"><${Name} text=${row.name}/></p>` : null },
  { title: 'State', cell: row => html`<${State} state=${row.state}/>` },
  { title: 'Nodes', cell: row => html`<${Progress} row=${row}/>` },
  { title: 'Took', number: true, cell: row => html`<span class="nowrap"><${Took} row=${row}/></span>` },
  { title: 'Started', wide: true, cell: row => html`<${Started} at=${row.startedAt}/>` },
];

const Started = ({ at }) => moment(at, now.value);

/** The time from the start to the end, or until now. */
export function Took({ row }) {
  if (row.startedAt != null && row.endedAt != null) return length(row.endedAt - row.startedAt);
  if (row.elapsedMillis != null) return length(row.elapsedMillis);
  return html`<${Since} row=${row} of="started"/>`;
}

/** How many nodes are in which state, as a bar with the numbers beside it. */
export function Progress({ row }) {
  let from = 0;
  const text = SHARES.filter(share => row[share] > 0).map(share => row[share] + ' ' + share).join(', ');
  return html`<svg class="progress" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${text}>
      <rect class="all" width="100" height="8"/>
      ${SHARES.map(share => {
        const width = row.nodes > 0 ? 100 * (row[share] || 0) / row.nodes : 0, x = from;
        from += width;
        return width > 0 && html`<rect key=${share} class=${'fill-' + share} x=${x} width=${width} height="8"/>`;
      })}</svg>
    <span class="nowrap" aria-hidden="true">${row.succeeded || 0} of ${row.nodes}${row.failed > 0 ? ', ' + row.failed + ' failed' : ''}</span>`;
}

const hrefOf = (row, id) => link('flow', { id });

export function Flows({ data, params, question }) {
  return html`
    <h1 tabindex="-1">Flows</h1>
    <div class="bar"><${Filter} value=${params.filter} label="Part of a name"/>
      <${Chip} on=${params.failed} click=${() => change({ failed: params.failed ? '' : '1' })}>only failed<//>
      <span class="dim" role="status">${counted(data.order.length, 'run')}</span></div>
    <${Table} label="Runs" columns=${columns} ids=${data.order} rows=${data.rows} href=${hrefOf} question=${question}
      empty=${params.filter || params.failed ? 'No run matches.' : 'No run of a flow is watched.'}/>`;
}
