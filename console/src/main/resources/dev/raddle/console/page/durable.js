// Runs that are kept in a database: which of them need a person, why, and what can be done.

import { now } from './clock.js';
import { ask } from './controls.js';
import { Flow } from './flow.js';
import { html } from './html.js';
import { Chip, Facts, Filter, Name, Nothing, Since, State, Table } from './parts.js';
import { change, link } from './route.js';
import { count, counted, isolated, moment, sentence } from './words.js';

export const query = params => ({ service: params.service || '', state: params.state || '', flow: params.flow || '', filter: params.filter || '', after: params.after || '' });
export const queryOfOne = params => ({ service: params.service || '', id: params.id || '' });

const columns = [
  { title: 'Run', by: (row, id) => id, cell: (row, id) => html`<${Name} text=${id}/>`,
    below: row => html`<p class="why">${row.untilAt != null ? 'Waits until ' + moment(row.untilAt, now.value) + '.'
      : row.why ? html`<${Name} text=${sentence(row.why)} most=${300}/>` : ''}</p>` },
  { title: 'State', by: row => row.state, cell: row => html`<${State} state=${row.state}/>` },
  { title: 'Flow', by: row => row.flow, cell: row => html`<${Name} text=${row.flow} most=${40}/> <span class="dim"><${Name} text=${row.version} most=${20}/></span>` },
  { title: 'Worker', by: row => row.worker, wide: true, cell: row => row.worker == null ? html`<span class="dim">—</span>` : html`<${Name} text=${row.worker} most=${30}/>` },
  { title: 'Created', by: row => row.createdAt, wide: true, cell: row => html`<span class="nowrap">${moment(row.createdAt, now.value)}</span>` },
  { title: 'Age', by: row => -row.createdAt, number: true, cell: row => html`<span class="nowrap"><${Since} row=${row} of="created"/></span>` },
];

const schedules = [
  { title: 'Schedule', by: (row, name) => name, cell: (row, name) => html`<${Name} text=${name}/>`, below: row => row.why ? html`<p class="why"><${Name} text=${sentence(row.why)} most=${300}/></p>` : null },
  { title: 'Next', by: row => row.nextAt, cell: row => row.nextAt == null ? 'paused' : html`<span class="nowrap">${moment(row.nextAt, now.value)}</span>` },
  { title: 'Flow', by: row => row.flow, cell: row => html`<${Name} text=${row.flow} most=${40}/>` },
  { title: 'Moments', by: row => row.cron, wide: true, cell: row => html`<${Name} text=${row.cron} most=${60}/>` },
];

const pauseOrResume = service => ({ title: 'Control', cell: (row, name) => {
  const verb = row.nextAt == null ? 'Resume' : 'Pause';
  return html`<button type="button" class="small" onClick=${() => ask({ title: verb + ' schedule “' + isolated(name) + '”?', verb,
    text: verb === 'Resume' ? 'Its next run is that of the first moment from now on.' : 'It submits no run until it is resumed. Runs that were submitted go on.',
    request: { service, action: verb.toLowerCase() + 'Schedule', ref: name } })}>${verb}…</button>`;
} });

/** Why what is shown is old, or missing. */
const Trouble = ({ of, isOld }) => of && html`<p class="verdict stop failed" role="alert"><strong>The database could not be read since ${moment(of.sinceAt, now.value)}.</strong> ${isOld ? 'What is shown was read before. ' : ''}
  <${Name} text=${of.text} most=${300}/></p>`;

export function Durable({ data, params, question }) {
  const { services = [], stuck = {}, service, page } = data, filtered = params.state || params.flow || params.filter;
  if (service == null) return html`<h1 tabindex="-1">Durable runs</h1><${Nothing} text="No service is watched. One appears here with:" code='DurableConsole.watch(console, "shop", service);'/>`;
  const states = Object.keys(page?.counts || {});
  if (params.state && !states.includes(params.state)) states.push(params.state);
  return html`<h1 tabindex="-1">Durable runs</h1>
    <${Trouble} of=${data.problem} isOld=${page}/>
    ${services.length > 1 && html`<div class="bar" role="group" aria-label="Service">${services.map(name => html`<${Chip} key=${name} on=${name === service}
      click=${() => change({ service: name, after: '' })}><${Name} text=${name} most=${40}/>${stuck[name] && html` <span class="badge bad">${count(stuck[name])} stuck</span>`}<//>`)}</div>`}
    <div class="bar" role="group" aria-label="Filter by state">${states.map(state => html`<${Chip} key=${state} on=${params.state === state}
      click=${() => change({ state: params.state === state ? '' : state, after: '' })}>${count(page?.counts[state] || 0)} ${state.replace('-', ' ')}<//>`)}</div>
    <div class="bar"><${Filter} value=${params.flow} name="flow" label="Name of a flow"/><${Filter} value=${params.filter} label="Id of a run"/>
      ${page?.isCut && html`<span class="dim">The numbers are those of the newest runs.</span>`}</div>
    ${page ? html`<${Table} label="Durable runs" columns=${columns} ids=${page.order} rows=${page.rows} question=${question}
      href=${(row, id) => link('stored', { service, id })}
      empty=${params.after ? 'There are no more runs.' : filtered ? 'No run matches.' : 'There are no runs.'}/>` : !data.problem && html`<p class="dim">Reading…</p>`}
    ${(params.after || page?.next) && html`<nav class="bar pages" aria-label="Pages">
      <button type="button" class="small" disabled=${!params.after} onClick=${() => change({ after: '' })}>First</button>
      <button type="button" class="small" disabled=${!page?.next} onClick=${() => change({ after: page.next })}>Next</button></nav>`}
    ${Object.keys(page?.schedules || {}).length > 0 && html`<section><h2>Schedules</h2>
      <${Table} label="Schedules" name="schedules" columns=${data.controls ? [...schedules, pauseOrResume(service)] : schedules} ids=${Object.keys(page.schedules)} rows=${page.schedules}/></section>`}`;
}

const entries = [
  { title: 'Entry', by: entry => entry.text, cell: entry => html`<${Name} text=${entry.text} most=${200}/>`, below: entry => entry.error ? html`<p class="why"><${Name} text=${entry.error} most=${300}/></p>` : null },
  { title: 'Node', by: entry => entry.node, cell: entry => entry.node == null ? '' : html`<${Name} text=${entry.node} most=${40}/>` },
  { title: 'Claim', by: entry => entry.claim, number: true, cell: entry => count(entry.claim) },
  { title: 'At', by: entry => entry.at, cell: entry => entry.at == null ? '' : html`<span class="nowrap">${moment(entry.at, now.value)}</span>` },
];

export function Stored({ data, params }) {
  const { row, history = {}, facts = [], controls } = data, target = { service: params.service, ref: params.id };
  if (!row) {
    return html`<h1 tabindex="-1">Run <${Name} text=${params.id}/></h1><${Trouble} of=${data.problem}/>
      ${data.missing === 'service' ? html`<p>This service is not watched any more.</p>`
        : data.missing ? html`<p>There is no such run. It may have been removed after its end.</p>`
        : !data.problem && html`<p class="dim">Reading…</p>`}`;
  }
  const known = Object.fromEntries(facts);
  const shown = Object.keys(history).sort((a, b) => history[a].claim - history[b].claim || a.slice(a.indexOf('.') + 1) - b.slice(b.indexOf('.') + 1));
  return html`<${Flow} data=${{ ...data, facts: undefined }} params=${params} target=${target} again=${data.again}>
      <${Trouble} of=${data.problem} isOld/>
      ${known.problem && html`<p class="verdict stop waiting"><strong><${Name} text=${sentence(known.problem)} most=${500}/></strong></p>`}
      <p>${sentence(known.next)}</p>
      <${Facts} of=${facts.filter(([name]) => name !== 'problem' && name !== 'next').map(([name, value]) => [name, html`<${Name} text=${value} most=${500}/>`])}/>
      ${!data.registered && html`<p class="dim">What the nodes depend on, and the signals that they wait for, is known in a program that has registered this version of the flow.</p>`}
      ${controls && data.again && row.state !== 'succeeded' && html`<div class="bar"><button type="button" class="small" onClick=${() => ask({
        title: 'Run “' + isolated(params.id) + '” again?', verb: 'Run again',
        text: row.state === 'stuck' ? 'It continues where it was.' : 'Nodes that have succeeded keep their values, all others run.',
        request: { ...target, action: 'rerun' } })}>Run again…</button></div>`}
    <//>
    <section><h2>History <span class="dim">${counted(data.entries, 'entry', 'entries')}</span></h2>
      ${shown.length < data.entries && html`<p class="dim">The last ${count(shown.length)}.</p>`}
      <${Table} label="History" name="history" columns=${entries} ids=${shown} rows=${history} empty="Nothing is recorded yet."/></section>`;
}
