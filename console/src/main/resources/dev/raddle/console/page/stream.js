// The state of one view of the server, kept current, and the other requests to the server.

import { now } from './clock.js';
import { batch, signal } from './html.js';
import { notice } from './notice.js';
import { queryText } from './route.js';

const SILENCE = 25_000; // the server sends something at least every second
const LONGEST_PAUSE = 5_000;
const HIDDEN = 60_000;

/** What the server sent last: {view, query, data}, or null before the first answer. */
export const shown = signal(null);

/** {status: connecting | live | lost | ended | login, message, since, retryAt}. Ended: the program has closed the console. */
export const connection = signal({ status: 'connecting' });

let offset = 0; // of the server's clock
let followed = null; // {view, query, abort}
let wake = () => {};
let hidden = 0;

setInterval(() => {
  if (connection.value.status === 'live') now.value = Date.now() + offset;
}, 1000);

document.addEventListener('visibilitychange', () => {
  clearTimeout(hidden);
  if (document.hidden) {
    // A browser has six connections to a host: background tabs must not take them all. A run's page waits for its end.
    hidden = setTimeout(() => {
      if (followed?.view === 'flow' && shown.value?.data.row?.endedAt == null) return;
      followed?.abort.abort();
      if (connection.value.status === 'live') connection.value = { status: 'connecting', since: Date.now() };
    }, HIDDEN);
  } else if (followed?.abort.signal.aborted) {
    follow(followed.view, followed.query);
  }
});

/** Follows a view from now on, and no other. */
export function follow(view, query) {
  if (followed?.view === view && followed.query === query && !followed.abort.signal.aborted && connection.peek().status !== 'login') return;
  followed?.abort.abort();
  followed = { view, query, abort: new AbortController() };
  stay(followed);
}

/** Tries to connect at once. */
export const retry = () => wake();

async function stay({ view, query, abort }) {
  let pause = 500;
  while (!abort.signal.aborted) {
    let message = 'The program does not answer.';
    try {
      const attempt = new AbortController(), silence = setTimeout(() => attempt.abort(), SILENCE);
      const response = await fetch('api/stream?' + query, { signal: AbortSignal.any([abort.signal, attempt.signal]), cache: 'no-store' })
        .finally(() => clearTimeout(silence));
      if (response.status === 401) {
        connection.value = { status: 'login' };
        return;
      }
      if (response.ok) {
        await read(response.body, attempt, (event, data) => {
          pause = 500;
          receive(view, query, event, data);
        });
      } else {
        message = await problem(response);
      }
    } catch {
      // the connection ended, which is what follows
    }
    if (abort.signal.aborted) return;
    const before = connection.value;
    if (before.status !== 'ended') connection.value = { status: 'lost', message, since: before.since || Date.now(), retryAt: Date.now() + pause };
    await new Promise(done => {
      wake = done;
      setTimeout(done, pause);
    });
    pause = connection.value.status === 'ended' ? LONGEST_PAUSE : Math.min(LONGEST_PAUSE, pause * 2);
  }
}

/** Reads server-sent events; ends the attempt after a long silence. */
async function read(body, attempt, onEvent) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '', silence = 0;
  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => attempt.abort(), SILENCE);
  };
  try {
    for (alive(); ; alive()) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split('\n\n');
      text = blocks.pop();
      blocks.forEach(block => {
        let event = 'message', data = '';
        for (const line of block.split('\n')) {
          if (line.startsWith('event:')) event = line.slice(6).trim();
          else if (line.startsWith('data:')) data += line.slice(5);
        }
        if (data) onEvent(event, JSON.parse(data));
      });
    }
  } finally {
    clearTimeout(silence);
  }
}

function receive(view, query, event, change) {
  if (followed?.view !== view || followed.query !== query) return;
  if (event === 'end') {
    connection.value = { status: 'ended' };
    return;
  }
  const last = shown.value;
  const data = event === 'state' ? change : merge(last?.data, change);
  batch(() => {
    if (change.at != null) offset = change.at - Date.now();
    if (event === 'state') {
      if (connection.value.status === 'lost' || connection.value.status === 'ended') notice.value = 'The connection is back.';
      if (last?.data.startedAt != null && last.data.startedAt !== data.startedAt) notice.value = 'The program has restarted.';
      now.value = Date.now() + offset;
    }
    if (connection.value.status !== 'live') connection.value = { status: 'live' };
    shown.value = { view, query, data };
  });
}

const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Applies a JSON Merge Patch (RFC 7396). What did not change keeps its identity, so that it is not drawn again. */
export function merge(target, patch) {
  if (!isObject(patch)) return patch;
  const result = Object.assign(Object.create(null), isObject(target) ? target : undefined); // a key may be __proto__
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

async function problem(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).problem || text;
  } catch {
    return text.slice(0, 500) || 'The program answers with status ' + response.status + '.';
  }
}

/** Returns the stack of a running task, or throws an Error with a sentence. */
export async function stackOf(executor, key, task) {
  const response = await fetch('api/stack?' + queryText({ executor, key, task }), { cache: 'no-store' });
  if (!response.ok) throw new Error(await problem(response));
  return response.text();
}

/** Sends a token. Returns what is wrong with it, or null. */
export async function login(token) {
  const wrong = await post('api/login', { token });
  if (wrong.problem) return wrong.problem;
  follow(followed.view, followed.query);
  connection.value = { status: 'connecting' };
  return null;
}

/** Sends a JSON object. Returns {done: sentence} or {problem: sentence}. */
export async function post(path, body) {
  try {
    const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    if (!response.ok) return { problem: await problem(response) };
    return await response.json();
  } catch {
    return { problem: 'The program does not answer.' };
  }
}
