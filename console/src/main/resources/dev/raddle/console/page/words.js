// Times, numbers and states in the words of people. A length is in milliseconds, a moment in milliseconds since 1970.

const digits = new Intl.NumberFormat('en');
const oneDecimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const two = number => String(number).padStart(2, '0');

/** 1,234; an em dash for what is unknown. */
export const count = number => number == null ? '—' : digits.format(number);

/** "1 task", "2,000 tasks". */
export const counted = (number, one, many = one + 's') => count(number) + ' ' + (number === 1 ? one : many);

export const perSecond = number => number == null ? '—' : oneDecimal.format(number) + '/s';

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

/** Makes of "waits for a slot, 0 before it" a sentence: "Waits for a slot." */
export function sentence(why) {
  const plain = periods(why).replace(/, 0 before it/, '').replace(/\b1 groups/, '1 group').replace(/next start in (\d+) ms/, (all, ms) => 'next start in ' + length(Number(ms)));
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? '' : '.');
}
