// What was changed through consoles of this program.

import { html } from './html.js';
import { Ago, Name, Table } from './parts.js';

export const query = () => ({});

const columns = [
  { title: 'Action', cell: row => html`<${Name} text=${row.action}/>`, below: row => html`<p class="why"><${Name} text=${row.target} most=${200}/></p>` },
  { title: 'Value', cell: row => row.value == null ? '' : html`<${Name} text=${row.value}/>` },
  { title: 'When', cell: row => html`<${Ago} at=${row.at}/>` },
  { title: 'From', wide: true, cell: row => html`<${Name} text=${row.who}/>` },
  { title: 'Outcome', cell: row => html`<span class=${/^(refused|failed): /.test(row.done) ? 'stop failed' : ''}><${Name} text=${row.done} most=${200}/></span>` },
];

export function Audit({ data }) {
  const list = data.rows || [];
  const rows = Object.fromEntries(list.map((row, i) => [list.length - i, row]));
  return html`<h1 tabindex="-1">Audit</h1>
    <${Table} label="Changes" columns=${columns} ids=${list.map((row, i) => String(list.length - i))} rows=${rows} empty="Nothing was changed through a console."/>`;
}
