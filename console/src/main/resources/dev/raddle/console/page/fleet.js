// The limits that several JVMs share: which instances there are, and who holds what.

import { html } from './html.js';
import { Facts, Name, Nothing, Since, Table, Taken, Until } from './parts.js';
import { count, counted, periods } from './words.js';

export const query = () => ({});

const groups = [
  { title: 'Group', by: (row, key) => key, cell: (row, key) => html`<${Name} text=${key}/>`, below: row => row.rate ? html`<p class="why">${periods(row.rate)}</p>` : null },
  { title: 'Permits', by: row => row.permits, number: true,
    cell: row => html`<span class="nowrap">${count(row.permits)}${row.limit == null ? '' : ' of ' + count(row.limit)}</span> <${Taken} taken=${row.permits} limit=${row.limit} keeps=${row.waiting > 0}/>` },
  { title: 'Waiting', by: row => row.waiting, number: true, cell: row => count(row.waiting) },
  { title: 'Held by', by: row => row.holders[0]?.instance, cell: row => row.holders.map((holder, i) => html`${i ? ', ' : ''}<span><${Name} text=${holder.instance} most=${30}/>${' '}
    ${count(holder.permits)} <span class="dim">for <${Since} row=${holder} of="heldSince"/></span></span>`) },
];

const instances = [
  { title: 'Instance', by: (row, name) => name, cell: (row, name) => html`<${Name} text=${name}/>`, below: row => html`<p class="why dim"><${Name} text=${row.id}/></p>` },
  { title: 'Up for', by: row => -row.startedAt, number: true, cell: row => html`<span class="nowrap"><${Since} row=${row} of="started"/></span>` },
  { title: 'Lease ends in', by: row => row.leaseUntilAt, number: true, cell: row => html`<span class="nowrap"><${Until} row=${row} of="leaseUntil"/></span>` },
];

export function Fleet({ data }) {
  const names = Object.keys(data.fleets || {});
  return html`<h1 tabindex="-1">Fleet</h1>
    ${names.length === 0 && html`<${Nothing} text="No fleet is watched. One appears here with:" code='FleetConsole.watch(console, "orders", fleet);'/>`}
    ${names.map(name => html`<${One} key=${name} name=${name} fleet=${data.fleets[name]}/>`)}`;
}

function One({ name, fleet }) {
  return html`<section class="card"><h2><${Name} text=${name}/></h2>
    ${(!fleet.up || fleet.problem) && html`<p class="verdict stop failed"><strong>${fleet.up ? 'The fleet cannot be read.' : "The fleet's server cannot be reached."}</strong> What is below was read before. ${fleet.problem ? html`<${Name} text=${fleet.problem} most=${300}/>` : ''}</p>`}
    ${fleet.quarantineUntilAt != null && html`<p class="verdict stop waiting"><strong>In quarantine for <${Until} row=${fleet} of="quarantineUntil"/>:</strong>${' '}
      the server may not know of all leases; it grants permits when those must have ended.</p>`}
    <${Facts} of=${[['instances', counted(Object.keys(fleet.instances).length, 'instance')], ['outages', count(fleet.outages)], ['permits lost with a lease', count(fleet.lost)]]}/>
    <h3>Groups</h3>
    <${Table} label=${'Groups of fleet ' + name} columns=${groups} name="sort" ids=${Object.keys(fleet.groups)} rows=${fleet.groups} empty="No group has permits."/>
    <h3>Instances</h3>
    <${Table} label=${'Instances of fleet ' + name} columns=${instances} name="instances" ids=${Object.keys(fleet.instances)} rows=${fleet.instances} empty="No instance is known."/></section>`;
}
