// What a screen shows as text, for a ticket.

import { now } from './clock.js';
import { link, route } from './route.js';
import { count, counted, length, percent, stamp } from './words.js';

const RECENT = 600_000; // of changes

/** What helps, by the kind of a finding. */
export const HELPS = { __proto__: null,
  hang: 'a timeout in that client; until then, hold the group and cancel its holders',
  limit: 'a higher limit, or fewer tasks',
  rate: 'a higher rate, or fewer tasks',
  'global-rate': 'a higher rate, or fewer tasks',
  breaker: 'a callee that answers again; then the probes close the breaker',
  cap: 'a limit for those that hold most, one key for all of a class, or a higher cap',
  weights: 'another weight',
  priority: 'a higher priority, or a group of its own',
  cost: 'a lower cost',
  lock: 'less work under the lock',
  'self-wait': 'another group for the inner tasks',
  pool: 'a timeout in what they call; another pool for tasks that they wait for',
  scopes: 'a try block that closes each',
  fleet: 'nothing is to be done if its process is gone; a shorter lease makes the wait shorter',
  slower: 'a look at what they call',
  paused: 'resume it',
  hold: 'its end; a hold cannot be ended earlier' };

/** A text with the program and the moment above, and a link that keeps both the filter and the time. */
export function incident(data, ...parts) {
  const { view, params } = route.peek();
  return [data.title + ', ' + stamp(now.peek()), location.href.replace(/#.*/, '') + link(view, { ...params, at: Math.round(now.peek()) }), '',
    ...parts.flat().filter(part => part != null && part !== '')].join('\n') + '\n';
}

/** A part of a sentence, as text. */
export const plain = part => typeof part === 'string' ? part
  : part.name != null ? '“' + part.name + '”'
  : part.sinceAt != null ? length(now.peek() - part.sinceAt)
  : part.untilAt != null ? length(part.untilAt - now.peek())
  : part.at != null ? stamp(part.at) : length(part.millis);

export const holderLine = holder => '    held by ' + holder.name + ': ' + counted(holder.slots, 'slot')
  + (holder.groups > 1 ? ' in ' + counted(holder.groups, 'group') : '') + ', ' + percent(holder.share) + (holder.weight == null ? '' : ', weight ' + count(holder.weight));

export const taskLine = task => '    ' + task.name + (task.key == null ? '' : ' of group ' + task.key) + (task.sinceAt == null ? '' : ', for ' + length(now.peek() - task.sinceAt))
  + (task.slots > 1 ? ', ' + counted(task.slots, 'slot') : '');

export const findingLines = finding => [
  '[' + finding.level + '] ' + finding.sentence.map(plain).join('') + (finding.sinceAt == null ? '' : ' (since ' + stamp(finding.sinceAt) + ')'),
  ...(finding.tasks || []).map(taskLine),
  HELPS[finding.kind] && '    What helps: ' + HELPS[finding.kind] + '.',
  finding.stack?.trimEnd()].filter(Boolean);

export const changeText = change => (change.before ?? '') + (change.before != null && change.after != null ? ' → ' : '') + (change.after ?? '');

/** The changes of the last ten minutes. */
export function changeLines(changes = []) {
  const recent = changes.filter(change => now.peek() - change.at <= RECENT);
  return recent.length ? ['', 'Changes of the last 10 min:', ...recent.map(change => '    ' + stamp(change.at) + ' ' + change.what
    + ' of ' + change.executor + ' / ' + change.key + ': ' + changeText(change) + ', by ' + change.who + (change.from ? ' from ' + change.from : ''))] : [];
}
