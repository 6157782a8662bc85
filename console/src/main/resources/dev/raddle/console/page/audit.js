// What was changed through consoles of this program.

import { html } from './html.js';
import { Ago, Name, Table } from './parts.js';
import { count } from './words.js';

export const query = () => ({});

/** A number with separators; any other value as it is. */
const worded = value => /^\d+$/.test(value) ? count(Number(value)) : value;

const columns = [
  { title: 'Action', by: row => row.action, cell: row => html`<${Name} text=${row.action}/>`, below: row => html`<p class="why"><${Name} text=${row.target} most=${200}/></p>` },
  { title: 'Value', by: row => row.value, cell: row => html`${row.before == null || row.value == null ? '' : html`<${Name} text=${worded(row.before)}/> → `}${row.value == null ? '' : html`<${Name} text=${worded(row.value)}/>`}` },
  { title: 'When', by: row => -row.at, cell: row => html`<${Ago} at=${row.at}/>` },
  { title: 'From', by: row => row.who, wide: true, cell: row => html`<${Name} text=${row.who}/>` },
  { title: 'Outcome', by: row => row.done, cell: row => html`<span class=${/^(refused|failed): /.test(row.done) ? 'stop failed' : ''}><${Name} text=${row.done} most=${200}/></span>` },
];

export function Audit({ data }) {
  const list = data.rows || [];
  const rows = Object.fromEntries(list.map((row, i) => [list.length - i, row]));
  return html`<h1 tabindex="-1">Audit</h1>
    <${Table} label="Changes" columns=${columns} ids=${list.map((row, i) => String(list.length - i))} rows=${rows} empty="Nothing was changed through a console."/>`;
}
