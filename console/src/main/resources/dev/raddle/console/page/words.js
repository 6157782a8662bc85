// Times, numbers and states in the words of people. A length is in milliseconds, a moment in milliseconds since 1970.

const digits = new Intl.NumberFormat('en');
const oneDecimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const two = number => String(number).padStart(2, '0');

/** 1,234; an em dash for what is unknown. */
export const count = number => number == null ? '—' : digits.format(number);

/** "1 task", "2,000 tasks". */
export const counted = (number, one, many = one + 's') => count(number) + ' ' + (number === 1 ? one : many);

export const perSecond = number => number == null ? '—' : oneDecimal.format(number) + '/s';

/** 75 %, "under 1 %". */
export const percent = share => share == null ? '—' : share > 0 && share < 0.01 ? 'under 1 %' : Math.round(100 * share) + ' %';

/** 350 ms, 4.2 s, 41 s, 3 min 12 s, 2 h 05 min, 3 d 4 h. */
export function length(millis) {
  if (millis == null) return '—';
  const ms = Math.max(0, Math.round(millis)), s = Math.round(ms / 1000), min = Math.floor(s / 60), h = Math.floor(min / 60);
  return ms < 1000 ? ms + ' ms'
    : ms < 9950 ? (ms / 1000).toFixed(1) + ' s'
    : s < 60 ? s + ' s'
    : min < 60 ? min + ' min ' + two(s % 60) + ' s'
    : h < 24 ? h + ' h ' + two(min % 60) + ' min'
    : Math.floor(h / 24) + ' d ' + h % 24 + ' h';
}

/** 19:57:12, with the date unless it is today. */
export function moment(at, now = Date.now()) {
  if (at == null) return '—';
  const date = new Date(at), today = new Date(now).toDateString() === date.toDateString();
  const day = today ? '' : date.getFullYear() + '-' + two(date.getMonth() + 1) + '-' + two(date.getDate()) + ' ';
  return day + two(date.getHours()) + ':' + two(date.getMinutes()) + ':' + two(date.getSeconds());
}

/** The time zone, as "Europe/Berlin, UTC+01:00". */
export function zone(at = Date.now()) {
  const east = -new Date(at).getTimezoneOffset(), name = Intl.DateTimeFormat().resolvedOptions().timeZone, minutes = Math.abs(east);
  const offset = 'UTC' + (east === 0 ? '' : (east < 0 ? '−' : '+') + two(Math.floor(minutes / 60)) + ':' + two(minutes % 60));
  return !name || name === 'UTC' ? offset : name + ', ' + offset;
}

/** 2026-11-28 19:57:12 UTC: a moment for a text that is read elsewhere. */
export const stamp = at => moment(at, NaN) + ' ' + zone(at).replace(/.*, /, '');

const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** A name within a text that is not HTML: the direction of its letters does not change what surrounds it. */
export const isolated = name => !RIGHT_TO_LEFT.test(name) ? String(name) : '\u2068' + String(name).replace(/[\u202A-\u202E\u2066-\u2069]/g, '') + '\u2069';

/** The states of nodes, runs and tasks as `raddle run` writes them. */
export function stateName(state) {
  const name = String(state || 'unknown').toLowerCase().replaceAll('_', '-');
  return name === 'success' ? 'succeeded' : name;
}

const SIGNS = { 'succeeded': '✓', 'degraded': '✓', 'failed': '✗', 'timed-out': '◔', 'rejected': '✗', 'cancelled': '⊘', 'skipped': '↷', 'stuck': '✗', 'without-version': '…', 'compensated': '↶', 'running': '▶', 'waiting': '…', 'pending': '·' };
export const signOf = state => SIGNS[state] || '·';

/** A text of at most so many characters; the end of a longer one is an ellipsis. */
export function clipped(text, most) {
  const all = String(text);
  if (all.length <= most) return all;
  return [...all.slice(0, most * 2)].slice(0, most - 1).join('') + '…';
}

/** Writes the periods in a text as people do: 1 per PT20S is 1 per 20 s. */
export const periods = text => String(text).replace(/\bPT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?/g,
  (all, h = 0, min = 0, s = 0) => length(1000 * (3600 * h + 60 * min + Number(s))));

const humane = text => periods(text).replace(/, 0 before it/, '').replace(/\b1 groups/, '1 group')
  .replace(/\b(\d+) ms\b/g, (all, ms) => length(Number(ms)))
  .replace(/\b(\d{2,}) s\b/g, (all, s) => length(1000 * s))
  .replace(/\buntil (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (all, at) => 'until ' + moment(Date.parse(at)))
  .replace(/(?<![\d.:-])\d{4,}(?= (before|groups|slots|permits|tasks|elements|attempts|free|others|of)\b)/g, number => count(Number(number)));

/** Makes of "waits for a slot, 0 before it" a sentence: "Waits for a slot." */
export function sentence(why) {
  const plain = String(why).split(/("[^"]*")/).map((part, i) => i % 2 ? part : humane(part)).join(''); // names stay as they are
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? '' : '.');
}
