// What is wrong: the worst of all that is watched, each in one sentence, and what was changed.

import { now } from './clock.js';
import { html } from './html.js';
import { changeLines, changeText, findingLines, HELPS, incident } from './incident.js';
import { Ago, Chip, Code, Copy, Name, Nothing, Table } from './parts.js';
import { Plot } from './plot.js';
import { change, link } from './route.js';
import { counted, length, moment } from './words.js';

export const query = () => ({});

const WATCHING = `console.watch("orders", executor);   // its groups
console.watch(pool);
console.watch(name, scope);
console.startFlow(plan, parameter, options);`;

const THE = { __proto__: null, group: 'the group', groups: 'the groups', flow: 'the run', stored: 'the run', flows: 'the runs', pools: 'the pools',
  scopes: 'the scopes', fleet: 'the fleet', durable: 'the runs', failures: 'the failures', running: 'what runs', audit: 'the audit' };

const hrefOf = to => link(to.view, to.params);

/** Part of a sentence; lengths grow by themselves. */
function Part({ part }) {
  if (typeof part === 'string') return part;
  if (part.name != null) return part.link ? html`<a href=${hrefOf(part.link)}><${Name} text=${part.name}/></a>` : html`<${Name} text=${part.name}/>`;
  return html`<span class="nowrap">${part.sinceAt != null ? length(now.value - part.sinceAt)
    : part.untilAt != null ? length(part.untilAt - now.value)
    : part.at != null ? moment(part.at, now.value) : length(part.millis)}</span>`;
}

/** The level of a finding, its sentence, and since when. */
export const Says = ({ of: { level, sentence, sinceAt } }) => html`<span class="level">${level}</span> ${sentence.map((part, i) => html`<${Part} key=${i} part=${part}/>`)}${
  sinceAt != null && html` <span class="dim">since ${moment(sinceAt, now.value)}</span>`}`;

function Finding({ finding, data }) {
  const { kind, level, tasks = [], link: to } = finding, named = to?.params?.key ?? to?.params?.id;
  return html`<li class=${'finding ' + level}>
    <p class="says"><${Says} of=${finding}/></p>
    ${tasks.map(task => html`<p key=${task.ref}><a href=${link('group', { executor: task.executor, key: task.key })}><${Name} text=${task.name}/></a> of <${Name} text=${task.key} most=${40}/> ${
      task.sinceAt != null && html`has run for ${length(now.value - task.sinceAt)}`}${task.slots > 1 ? ' with ' + counted(task.slots, 'slot') : ''}</p>`)}
    ${HELPS[kind] && html`<p>What helps: ${HELPS[kind]}.</p>`}
    ${finding.stack && html`<details><summary>Their stack</summary><${Code} text=${finding.stack} label="Stack"/></details>`}
    <div class="bar">${to && html`<a href=${hrefOf(to)}>Show ${THE[to.view] || 'it'}${named != null && html` <${Name} text=${named} most=${40}/>`}</a>`}
      <${Copy} what="this finding as text" text=${() => incident(data, findingLines(finding), changeLines(data.changes))}/></div></li>`;
}

const columns = [
  { title: 'Change', by: row => row.what, cell: row => html`${row.what} of <${Name} text=${row.key ?? row.executor}/>`,
    below: row => html`<p class="why dim"><${Name} text=${row.executor} most=${40}/></p>` },
  { title: 'Old → new', by: row => row.after, cell: row => html`<${Name} text=${changeText(row)}/>` },
  { title: 'When', by: row => -row.at, cell: row => html`<${Ago} at=${row.at}/>` },
  { title: 'By', by: row => row.who, cell: row => html`${row.who}${row.from ? html` <span class="dim">from <${Name} text=${row.from} most=${40}/></span>` : ''}` },
];

/** What was changed, when and by whom: old and new. */
export function Changes({ changes }) {
  const rows = Object.fromEntries(changes.map(each => [each.id, each]));
  return html`<${Table} label="Changes" name="changes" columns=${columns} ids=${changes.map(each => String(each.id))} rows=${rows}
    href=${changes.every(each => each.key != null) ? row => link('group', { executor: row.executor, key: row.key }) : undefined} empty="Nothing was changed."/>`;
}

/** The curves of the last minute or the last hour; the address keeps which. */
export function Curves({ history, series, changes, span }) {
  const known = history?.hour, hour = known && span === 'hour';
  return html`${known && html`<div class="bar" role="group" aria-label="Time">
      <${Chip} on=${!hour} click=${() => change({ span: '' })}>last ${series ? 'five minutes' : 'minute'}<//>
      <${Chip} on=${hour} click=${() => change({ span: 'hour' })}>last hour<//></div>`}
    <${Plot} series=${hour ? history.hour : series ?? history?.minute} changes=${changes}/>`;
}

export function Wrong({ data, params }) {
  const { findings, more, changes = [] } = data;
  return html`<h1 tabindex="-1">What is wrong</h1>
    ${data.watched === 0 ? html`<${Nothing} text="The program has a console, and nothing is watched yet. What is watched appears here:" code=${WATCHING}/>`
      : findings.length === 0 && html`<p class="verdict" role="status">Nothing waits longer than usual.</p>`}
    ${findings.length > 0 && html`<ol class="findings" aria-label="Findings">${findings.map(each => html`<${Finding} key=${each.id} finding=${each} data=${data}/>`)}</ol>
      ${more > 0 && html`<p class="dim">And ${counted(more, 'lesser finding')}.</p>`}
      <div class="bar"><${Copy} what="all findings as text" text=${() => incident(data, findings.flatMap(each => [...findingLines(each), '']), changeLines(changes))}>Copy all as text<//></div>`}
    ${changes.length > 0 && html`<section><h2>Changes <span class="dim">of the last hour</span></h2><${Changes} changes=${changes}/></section>`}
    ${data.history && html`<section><h2>All groups</h2><${Curves} history=${data.history} changes=${changes} span=${params.span}/></section>`}`;
}
