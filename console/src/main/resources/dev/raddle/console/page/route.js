// Which screen is shown, from the part of the address after #. It never reaches the server's log.

import { signal } from './html.js';

const PARENTS = { __proto__: null, group: 'groups', flow: 'flows', stored: 'durable' };
const remembered = new Map(); // the parameters that a screen had last

// An address has no form for half of a surrogate pair, which a name may contain: it is written as a sign and a number.
const halves = text => String(text).replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
  half => '\uFFFE' + half.charCodeAt(0).toString(16));
const whole = text => text.replace(/\uFFFE([0-9a-f]{4})/g, (all, code) => String.fromCharCode(parseInt(code, 16)));

/** Parameters as the query of an address. */
export const queryText = params => new URLSearchParams(Object.entries(params).map(([name, value]) => [name, halves(value)])).toString();

function parse() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { view: path || 'wrong', params: Object.fromEntries([...new URLSearchParams(query || '')].map(([name, value]) => [name, whole(value)])) };
}

export const route = signal(parse());

window.addEventListener('hashchange', () => {
  remembered.set(route.value.view, route.value.params);
  route.value = parse();
});

export function link(view, params = {}) {
  const query = queryText(Object.fromEntries(Object.entries(params).filter(([, value]) => value !== '' && value != null)));
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
