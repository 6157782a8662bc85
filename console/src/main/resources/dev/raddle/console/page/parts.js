// The parts of which screens are made.

import { now } from './clock.js';
import { html, signal, useLayoutEffect, useRef, useSignal } from './html.js';
import { notice } from './notice.js';
import { change, route } from './route.js';
import { clipped, count, length, moment, signOf, stateName } from './words.js';

/** A name from the program. It may be long, or written from right to left. */
export function Name({ text, most = 60 }) {
  if (text === '') return html`<span class="dim">(empty)</span>`;
  const all = String(text ?? '—');
  return html`<bdi class="name" title=${all.length > most ? clipped(all, 2000) : undefined}>${clipped(all, most)}</bdi>`;
}

/** The time since a moment, which is row.sinceAt; it grows by itself. */
export function Since({ row, of = 'since' }) {
  const at = row?.[of + 'At'];
  return length(at == null ? null : now.value - at);
}

/** The time until a moment. */
export function Until({ row, of }) {
  const at = row?.[of + 'At'];
  return length(at == null ? null : at - now.value);
}

/** "19:57:12, 3 min 12 s ago". */
export function Ago({ at }) {
  return at == null ? '—' : html`<span class="nowrap">${length(now.value - at)} ago</span> <span class="dim nowrap">${moment(at, now.value)}</span>`;
}

export function State({ state }) {
  const name = stateName(state);
  return html`<span class=${'state s-' + name}><span aria-hidden="true">${signOf(name)}</span> ${name.replace('-', ' ')}</span>`;
}

/** A list of names and values; those without a value are left out. */
export function Facts({ of }) {
  return html`<dl class="facts">${of.filter(([, value]) => value != null && value !== '')
    .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const SHARES = ['succeeded', 'failed', 'running', 'pending'];

/** The time from the start to the end, or until now. */
export function Took({ row }) {
  if (row.startedAt != null && row.endedAt != null) return length(row.endedAt - row.startedAt);
  return html`<${Since} row=${row} of="started"/>`;
}

/** How many nodes are in which state, as a bar with the numbers beside it. */
export function Progress({ row }) {
  let from = 0;
  const text = SHARES.filter(share => row[share] > 0).map(share => count(row[share]) + ' ' + share).join(', ');
  return html`<svg class="progress" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${text}>
      <rect class="all" width="100" height="8"/>
      ${SHARES.map(share => {
        const width = row.nodes > 0 ? 100 * (row[share] || 0) / row.nodes : 0, x = from;
        from += width;
        return width > 0 && html`<rect key=${share} class=${'fill-' + share} x=${x} width=${width} height="8"/>`;
      })}</svg>
    <span class="nowrap" aria-hidden="true">${count(row.succeeded || 0)} of ${count(row.nodes)}${row.failed > 0 ? ', ' + count(row.failed) + ' failed' : ''}</span>`;
}

/** How much of a limit is taken; in another colour if it is full and keeps others waiting. */
export function Taken({ taken, limit, keeps }) {
  const share = limit > 0 ? Math.min(1, taken / limit) : 0;
  return html`<svg class=${'taken' + (share === 1 && keeps ? ' full' : '')} viewBox="0 0 40 6" aria-hidden="true">
    <rect class="all" width="40" height="6" rx="1"/><rect class="part" width=${40 * share} height="6" rx="1"/></svg>`;
}

/** The last 60 seconds of a number, in a scale up to the most of several. */
export function Spark({ values, most }) {
  if (!values?.some(value => value > 0)) return null;
  const step = 60 / Math.max(1, values.length - 1); // null is a gap
  const lines = [[]];
  values.forEach((value, i) => value == null ? lines.push([]) : lines.at(-1).push((i * step).toFixed(1) + ',' + (17 - 16 * value / most).toFixed(1)));
  return html`<svg class="spark" viewBox="0 0 60 18" preserveAspectRatio="none" role="img" aria-label=${'at most ' + count(Math.max(...values)) + ' in the last minute'}>
    ${lines.filter(line => line.length).map((line, i) => html`<polyline key=${i} points=${line.join(' ')} fill="none" vector-effect="non-scaling-stroke"/>`)}</svg>`;
}

/** A field that filters; the address follows a moment after the last key. */
export function Filter({ value, label, name = 'filter' }) {
  const timer = useRef(0);
  return html`<input type="search" maxlength="200" aria-label=${label} placeholder=${label} value=${value || ''} onInput=${event => {
    clearTimeout(timer.current);
    const filter = event.currentTarget.value;
    timer.current = setTimeout(() => change({ [name]: filter, page: '', after: '' }), 200);
  }}/>`;
}

/** A button that is on or off. */
export const Chip = ({ on, click, children }) =>
  html`<button type="button" class="chip" aria-pressed=${String(Boolean(on))} onClick=${click}>${children}</button>`;

const LIBRARY = /^\s+at (\S+\/)?(java|jdk|dev\.raddle\.(flow|group|kernel|pool|scope|task|time))\./;

/** A stack, which the keyboard can scroll. The frames of the program stand out. */
export const Code = ({ text, label }) => html`<${Copy} text=${() => text} what="this text"/>
  <pre tabindex="0" role="region" aria-label=${label}>${text.trimEnd().split('\n').map((line, i) =>
  html`<span key=${i} class=${LIBRARY.test(line) ? 'dim' : ''}>${line}${'\n'}</span>`)}</pre>`;

/** A button that copies a text, which is made when it is pressed. */
export function Copy({ text, what, children = 'Copy' }) {
  const copy = async () => {
    const all = text();
    try {
      await navigator.clipboard.writeText(all);
    } catch { // no secure connection, or not allowed
      const field = document.createElement('textarea');
      field.value = all;
      document.body.append(field);
      field.select();
      const done = document.execCommand('copy');
      field.remove();
      if (!done) {
        notice.value = 'The browser does not let the page copy.';
        return;
      }
    }
    notice.value = 'Copied.';
  };
  return html`<button type="button" class="small copy" title=${'Copy ' + what} aria-label=${'Copy ' + what} onClick=${copy}>${children}</button>`;
}

/** What a screen says that shows nothing, with the line of code that changes it. */
export const Nothing = ({ text, code }) => html`<p class="dim">${text}</p>${code && html`<pre tabindex="0" role="region" aria-label="How to watch it">${code}</pre>`}`;

/*
 * Tables.
 *
 * The first cell of a row is its link, or the button that opens what is below it. One of them is in the order of tabs;
 * the arrows move between them. While the pointer or the focus is in the rows their order is held, so that a click
 * meets what it aims at: rows that are there stay where they are, new ones come last.
 *
 * A column sorts by a word of the server (sort), or by a value of the row (by). The choice is in the address; a minus
 * sign before it reverses the order, which begins with the largest number and the first letter. What copies a text
 * copies the row that has the focus, if no text is selected.
 */

const lastActive = new Map(); // the row of each table that had the focus last, by the table's label
const returning = signal(null); // the label of the table that gets the focus when it is drawn next

/** Has a table focus the row that it was left from, when it is drawn next. */
export function returnTo(label) {
  returning.value = label;
}

/**
 * Columns: {title, cell: (row, id) => content, number, wide (left out where there is little room), sort (a word of the
 * server), by: (row, id) => number or text, below: (row, id) => content under that of the first cell}. A row has a link
 * (href) or opens below itself (detail). The question is what the server was asked for these rows. The name is that of
 * the parameter of the address with the order; a server's own order has a default (sort).
 */
export function Table({ label, columns, ids, rows, href, detail, sort, name = 'sort', question, empty = 'None.' }) {
  const body = useRef(null), held = useRef(null), last = useRef(null), asked = useRef(question);
  const holding = useSignal(false), active = useSignal(lastActive.get(label)), open = useSignal(new Set());

  const by = route.value.params[name] || sort || '', word = by.replace(/^-/, ''), all = question + by;
  if (asked.current !== all) held.current = null; // another page or another sort
  asked.current = all;
  const has = id => Object.hasOwn(rows, id);
  const known = sorted(ids.filter(has), rows, columns.find(column => column.by && wordOf(column) === word), by);
  const kept = holding.value && held.current ? held.current.filter(has) : [];
  const order = kept.length ? [...kept, ...known.filter(id => !kept.includes(id))] : known;
  held.current = order;
  const current = has(active.value) ? active.value : order[0];

  const items = () => [...body.current.querySelectorAll('[data-row]')];
  const itemOf = element => element.closest('tr')?.querySelector('[data-row]'); // none below a row that is open
  useLayoutEffect(() => {
    const lost = last.current && !last.current.isConnected && document.activeElement === document.body;
    if (lost) (items()[last.index] || items().at(-1))?.focus({ preventScroll: true });
    if (returning.value === label && order.length) {
      returning.value = null;
      items().find(item => item.tabIndex === 0)?.focus();
    }
  });
  const hold = () => {
    const inside = body.current && (body.current.matches(':hover') || body.current.contains(document.activeElement));
    if (holding.value !== Boolean(inside)) holding.value = Boolean(inside);
  };
  const move = event => {
    const all = items(), at = all.indexOf(itemOf(event.target));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1, PageDown: at + 10, PageUp: at - 10 }[event.key];
    if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, to))].focus();
  };
  const focused = event => {
    hold();
    const item = itemOf(event.target);
    if (!item) return;
    last.current = item;
    last.index = items().indexOf(item);
    active.value = item.dataset.row;
    lastActive.set(label, item.dataset.row);
  };
  const copyRow = event => {
    const row = String(getSelection()) ? null : itemOf(event.target)?.closest('tr');
    if (!row) return;
    const heads = [...row.closest('table').querySelectorAll('thead th')];
    event.clipboardData.setData('text/plain', [...row.cells].map((cell, i) => heads[i].innerText.trim().replace(/ [▾▴]$/, '') + ': '
      + cell.innerText.trim().replace(/\s*\n\s*/g, '; ')).join('\n') + '\n');
    event.preventDefault();
    notice.value = 'The row is copied.';
  };

  return html`<div class="table"><table>
    <caption class="hidden">${label}</caption>
    <thead><tr>${columns.map(column => html`<th key=${column.title} scope="col" class=${classOf(column)}
      aria-sort=${wordOf(column) !== word ? undefined : isDown(column, by) ? 'descending' : 'ascending'}>
      ${column.sort || column.by ? html`<button type="button" class="plain" onClick=${() => change({ [name]: by === wordOf(column) ? '-' + by : wordOf(column), page: '' })}>${column.title}${
        html`<span aria-hidden="true">${wordOf(column) !== word ? '' : isDown(column, by) ? ' ▾' : ' ▴'}</span>`}</button>` : column.title}</th>`)}</tr></thead>
    <tbody ref=${body} onKeyDown=${move} onCopy=${copyRow} onFocusIn=${focused} onFocusOut=${() => setTimeout(hold)}
      onPointerEnter=${hold} onPointerLeave=${() => setTimeout(hold)}>
      ${order.map(id => html`<${Row} key=${id} id=${id} row=${rows[id]} columns=${columns} href=${href} detail=${detail}
        active=${id === current} open=${open.value.has(id)} opened=${open}/>`)}
      ${!order.length && html`<tr><td class="dim" colspan=${columns.length}>${empty}</td></tr>`}
    </tbody></table>
    <p class="dim held" aria-hidden="true">${holding.value && order.length > 1 ? 'The order is held while you are in the table. Ctrl+C copies the row.' : ''}</p></div>`;
}

const wordOf = column => column.sort || column.title.toLowerCase();
const isDown = (column, by) => Boolean(column.number) !== by.startsWith('-');

/** The ids in the order of a column; what is unknown comes last. */
function sorted(ids, rows, column, by) {
  if (!column) return ids;
  const values = new Map(ids.map(id => [id, column.by(rows[id], id)])), sign = isDown(column, by) ? -1 : 1;
  const compare = (a, b) => a == null || b == null ? (a == null) - (b == null)
    : sign * (typeof a === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
  return ids.toSorted((a, b) => compare(values.get(a), values.get(b)));
}

const classOf = column => (column.number ? 'number' : '') + (column.wide ? ' wide' : '');

function Row({ id, row, columns, href, detail, active, open, opened }) {
  const item = useRef(null);
  const [first, ...others] = columns;
  const content = first.cell(row, id);
  const tab = active ? 0 : -1;
  const below = open ? detail(row, id) : null;
  const toggle = () => { opened.value = open ? new Set([...opened.value].filter(other => other !== id)) : new Set(opened.value).add(id); };
  // A click anywhere in the row is one on its first cell, unless it selects text or meets another control.
  const click = event => {
    if ((href || detail) && !event.target.closest('a, button, input') && !String(getSelection())) item.current.click();
  };
  return html`<tr class=${below ? 'open' : ''} onClick=${click}>
      <th scope="row" class=${classOf(first)}>${href
        ? html`<a class="item" ref=${item} data-row=${id} tabindex=${tab} href=${href(row, id)}>${content}</a>`
        : detail ? html`<button class="item plain" type="button" ref=${item} data-row=${id} tabindex=${tab} aria-expanded=${String(open)}
            onClick=${toggle}><span class="mark" aria-hidden="true">${open ? '▾' : '▸'}</span>${content}</button>`
        : html`<span class="item" ref=${item} data-row=${id} tabindex=${tab}>${content}</span>`}
        ${first.below?.(row, id)}</th>
      ${others.map(column => html`<td key=${column.title} class=${classOf(column)}>${column.cell(row, id)}</td>`)}</tr>
    ${below && html`<tr class="detail"><td colspan=${columns.length}>${below}</td></tr>`}`;
}
