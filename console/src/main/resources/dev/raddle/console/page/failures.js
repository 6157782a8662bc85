// What failed, how often, and since when.

import { html } from './html.js';
import { Ago, Code, Filter, Name, Table } from './parts.js';
import { clipped, count, counted } from './words.js';

const columns = [
  { title: 'Failure', by: row => simple(row.type), cell: row => html`<span class="type">${clipped(simple(row.type), 60)}</span>`,
    below: row => html`<p class="why"><${Name} text=${row.message ?? ''} most=${300}/></p>` },
  { title: 'Times', by: row => row.count, number: true, cell: row => count(row.count) },
  { title: 'Last', by: row => -row.lastAt, cell: row => html`<${Ago} at=${row.lastAt}/>` },
  { title: 'First', by: row => -row.firstAt, wide: true, cell: row => html`<${Ago} at=${row.firstAt}/>` },
  { title: 'In', by: row => row.owners?.[0], wide: true, cell: row => (row.owners || []).map((owner, i) => html`${i ? ', ' : ''}<${Name} text=${owner} most=${30}/>`) },
];

const simple = type => String(type).replace(/^([a-z_]\w*\.)+/, '');

const detail = row => html`<p class="dim">${clipped(row.type, 300)}${row.count > 1 && row.stack ? ', the first of ' + count(row.count) : ''}</p>
  ${row.stack ? html`<${Code} text=${row.stack} label="Stack of the first one"/>` : html`<p>It has no stack.</p>`}`;

export function Failures({ failures, label, name, question, empty = 'No listener of the console has seen one.' }) {
  return html`<${Table} label=${label} columns=${columns} ids=${failures?.order || []} rows=${failures?.rows || {}} detail=${detail} name=${name}
    question=${question} empty=${empty}/>`;
}

export const query = params => ({ filter: params.filter || '' });

export function AllFailures({ data, params, question }) {
  return html`
    <h1 tabindex="-1">Failures</h1>
    <div class="bar"><${Filter} value=${params.filter} label="Part of a message or owner"/>
      <span class="dim" role="status">${counted(data.order.length, 'kind')}</span></div>
    <${Failures} failures=${data} label="Failures" question=${question} empty=${params.filter ? 'No failure matches.' : undefined}/>
    <p class="dim">Failures with the same type and the same message apart from numbers are one kind.</p>`;
}
