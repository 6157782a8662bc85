// Which screen is shown, from the part of the address after #. It never reaches the server's log.

import { signal } from './html.js';

const PARENTS = { __proto__: null, group: 'groups', flow: 'flows', stored: 'durable' };
const remembered = new Map(); // the parameters that a screen had last

function parse() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { view: path || 'groups', params: Object.fromEntries(new URLSearchParams(query || '')) };
}

export const route = signal(parse());

window.addEventListener('hashchange', () => {
  remembered.set(route.value.view, route.value.params);
  route.value = parse();
});

export function link(view, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '' && value != null)).toString();
  return '#/' + view + (query ? '?' + query : '');
}

export function go(view, params) {
  location.hash = link(view, params);
}

/** Changes parameters of the screen, without an entry in the browser's history. */
export function change(params) {
  const { view, params: before } = route.value;
  history.replaceState(null, '', link(view, { ...before, ...params }));
  route.value = parse();
}

/** Returns the link to the screen above this one, as it was left; null if there is none. */
export function up() {
  const parent = PARENTS[route.value.view];
  return parent ? link(parent, remembered.get(parent)) : null;
}
