// The frame around the screens: which one is shown, the connection, the keyboard.

import { effect, html, render, useEffect, useLayoutEffect, useRef, useSignal } from './html.js';
import * as audit from './audit.js';
import { now } from './clock.js';
import { Dialog, question } from './controls.js';
import * as durable from './durable.js';
import * as failures from './failures.js';
import * as fleet from './fleet.js';
import * as flow from './flow.js';
import * as flows from './flows.js';
import * as group from './group.js';
import * as groups from './groups.js';
import { Name, returnTo } from './parts.js';
import * as pools from './pools.js';
import { notice } from './notice.js';
import { link, queryText, route, up } from './route.js';
import * as running from './running.js';
import * as scopes from './scopes.js';
import { connection, follow, login, retry, shown } from './stream.js';
import { count, isolated, length, moment, sentence, zone } from './words.js';
import * as wrong from './wrong.js';

const SCREENS = {
  wrong: { query: wrong.query, Screen: wrong.Wrong, name: 'What is wrong' },
  groups: { query: groups.query, Screen: groups.Groups, name: 'Groups' },
  group: { query: group.query, Screen: group.Group, name: 'Group', within: 'groups', list: 'Groups' },
  running: { query: running.query, Screen: running.Running, name: 'Running' },
  flows: { query: flows.query, Screen: flows.Flows, name: 'Flows' },
  flow: { query: flow.query, Screen: flow.Flow, name: 'Flow', within: 'flows', list: 'Runs' },
  failures: { query: failures.query, Screen: failures.AllFailures, name: 'Failures' },
  pools: { query: pools.query, Screen: pools.Pools, name: 'Pools' },
  scopes: { query: scopes.query, Screen: scopes.Scopes, name: 'Scopes' },
  durable: { query: durable.query, Screen: durable.Durable, name: 'Durable' },
  stored: { query: durable.queryOfOne, Screen: durable.Stored, name: 'Durable run', within: 'durable', list: 'Durable runs' },
  fleet: { query: fleet.query, Screen: fleet.Fleet, name: 'Fleet' },
  audit: { query: audit.query, Screen: audit.Audit, name: 'Audit' },
};

const viewOf = () => Object.hasOwn(SCREENS, route.value.view) ? route.value.view : 'wrong';

const queryOf = view => queryText({ view, ...SCREENS[view].query(route.value.params) });

effect(() => follow(viewOf(), queryOf(viewOf())));

// Escape goes up, from a dialog or a field to the screen, and from one group or run to all.
document.addEventListener('keydown', event => {
  if (event.key !== 'Escape' || event.defaultPrevented || question.value) return;
  if (event.target.matches?.('input') && event.target.value) return; // the browser empties it
  const above = up();
  if (above) {
    returnTo(SCREENS[viewOf()].list);
    location.hash = above;
  }
});

/** What each screen has to report, beside its name. */
const REPORTS = {
  wrong: s => s.wrong?.count ? { text: count(s.wrong.count) + ' · ' + s.wrong.worst, bad: s.wrong.worst === 'stuck' } : null,
  groups: s => s.groups?.waiting ? { text: count(s.groups.waiting) + ' waiting' } : null,
  flows: s => s.flows?.failed ? { text: count(s.flows.failed) + ' failed', bad: true } : s.flows?.running ? { text: count(s.flows.running) + ' running' } : null,
  failures: s => s.failures?.kinds ? { text: count(s.failures.kinds), bad: true } : null,
  pools: s => s.pools?.stuck ? { text: count(s.pools.stuck) + ' stuck', bad: true } : s.pools?.queued ? { text: count(s.pools.queued) + ' queued' } : null,
  durable: s => s.durable?.down ? { text: count(s.durable.down) + ' down', bad: true } : s.durable?.stuck ? { text: count(s.durable.stuck) + ' stuck', bad: true } : null,
  fleet: s => s.fleets?.down ? { text: count(s.fleets.down) + ' down', bad: true } : null,
  scopes: s => s.scopes?.count ? { text: count(s.scopes.count) } : null,
};

function Menu({ summary, controls }) {
  const view = viewOf(), here = SCREENS[view].within || view;
  const hidden = { audit: !controls, fleet: !summary?.fleets?.count, durable: !summary?.durable?.count };
  const entries = Object.keys(SCREENS).filter(key => !SCREENS[key].within && (!hidden[key] || key === view));
  return html`<nav aria-label="Screens"><ul>${entries.map(key => {
    const report = summary && REPORTS[key]?.(summary);
    return html`<li key=${key}><a href=${link(key)} aria-current=${key === here ? 'page' : undefined}>${SCREENS[key].name}${
      report && html` <span class=${'badge' + (report.bad ? ' bad' : '')}>${report.text}</span>`}</a></li>`;
  })}</ul></nav>`;
}

function Connection() {
  const { status, message, since, retryAt } = connection.value, tick = useSignal(0);
  useEffect(() => {
    if (status !== 'lost') return undefined;
    const timer = setInterval(() => { tick.value++; }, 500);
    return () => clearInterval(timer);
  }, [status]);
  if (status === 'ended') return html`<p class="connection" role="status">The program has closed its console. This is its last state.</p>`;
  if (status === 'live') return html`<p class="connection" role="status"><span class="dot live" aria-hidden="true"></span>live</p>`;
  if (status !== 'lost') return html`<p class="connection" role="status">${status === 'login' ? '' : 'Connecting…'}</p>`;
  tick.value; // the lengths below grow
  return html`<div class="connection lost"><p role="alert">${sentence(message)} ${shown.value && 'What you see is old.'}</p>
    <p aria-hidden="true">for ${length(Date.now() - since)}, again in ${length(Math.max(0, retryAt - Date.now()))}</p>
    <button type="button" class="small" onClick=${retry}>Try now</button></div>`;
}

function Notice() {
  const text = notice.value;
  useEffect(() => {
    if (!text) return undefined;
    const timer = setTimeout(() => { notice.value = null; }, 6000);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<div class="notice" role="status">${text && html`<p>${text}</p>`}</div>`;
}

function Login() {
  const field = useRef(null), problem = useSignal(null);
  const submit = async event => {
    event.preventDefault();
    problem.value = await login(field.current.value);
  };
  return html`<main class="login"><h1>Raddle console</h1><form onSubmit=${submit}>
    <label>Token<input ref=${field} type="password" autocomplete="current-password" required autofocus/></label>
    ${problem.value && html`<p class="problem" role="alert">${problem.value}</p>`}
    <div class="bar end"><button type="submit" class="small main">Sign in</button></div>
    <p class="dim">The token was given to the program: in a file, in RADDLE_CONSOLE_TOKEN, or in its code.</p></form></main>`;
}

function Main() {
  const view = viewOf(), { Screen, within } = SCREENS[view], query = queryOf(view), main = useRef(null), before = useRef(view);
  // A list shows the last answer until the next one is there; one group or run never shows another's.
  const last = shown.value, current = last?.view === view && (!within || last.query === query) ? last : null;
  // After a change of the screen the focus is on its heading, unless a table takes it.
  useLayoutEffect(() => {
    if (!current || before.current === view) return;
    before.current = view;
    if (!main.current.contains(document.activeElement)) main.current.querySelector('h1')?.focus();
  });
  const above = up();
  return html`<main ref=${main} id="main" class=${connection.value.status === 'lost' ? 'old' : ''}>
    ${above && html`<p class="above"><a href=${above} title="Escape" onClick=${() => returnTo(SCREENS[view].list)}>← ${SCREENS[within].name}</a></p>`}
    ${route.value.params.at && html`<p class="dim">This link was made at ${moment(Number(route.value.params.at), now.value)}; what you see is now.</p>`}
    ${current ? html`<${Screen} key=${within ? query : view} data=${current.data} params=${route.value.params} question=${current.query}/>` : html`<p class="dim">${connection.value.status === 'ended' ? 'The program closed its console before this screen was shown.' : 'Loading…'}</p>`}</main>`;
}

function App() {
  if (connection.value.status === 'login') return html`<${Login}/>`;
  const data = shown.value?.data;
  return html`<header><p class="title"><strong>Raddle</strong> ${data && html`<${Name} text=${data.title}/>`}
      ${data?.startedAt && html` <span class="dim wide">up <${Uptime} at=${data.startedAt}/></span>`}</p>
      <${Menu} summary=${data?.summary} controls=${data?.controls}/><${Connection}/></header>
    <${Main}/><footer class="dim">Today is ${moment(now.value, NaN).slice(0, 10)}. Times are those of ${zone(now.value)}.</footer><${Notice}/><${Dialog}/>`;
}

const Uptime = ({ at }) => html`<span title=${'since ' + moment(at)}>${length(now.value - at)}</span>`;

effect(() => {
  const data = shown.value?.data, waiting = data?.summary?.groups?.waiting;
  const screen = viewOf() === 'group' ? isolated((route.value.params.key ?? '').slice(0, 60)) : SCREENS[viewOf()].name;
  document.title = (waiting ? count(waiting) + ' waiting · ' : '') + screen + (data ? ' · ' + isolated(String(data.title).slice(0, 60)) : '') + ' · Raddle';
});

render(html`<${App}/>`, document.body);
