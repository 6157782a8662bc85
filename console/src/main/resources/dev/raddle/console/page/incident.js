// What a screen shows as text, for a ticket.

import { now } from './clock.js';
import { link, route } from './route.js';
import { count, counted, length, percent, stamp } from './words.js';

const RECENT = 600_000; // of changes

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
  finding.stack?.trimEnd()].filter(Boolean);

export const changeText = change => (change.before ?? '') + (change.before != null && change.after != null ? ' → ' : '') + (change.after ?? '');

/** The changes of the last ten minutes. */
export function changeLines(changes = []) {
  const recent = changes.filter(change => now.peek() - change.at <= RECENT);
  return recent.length ? ['', 'Changes of the last 10 min:', ...recent.map(change => '    ' + stamp(change.at) + ' ' + change.what
    + ' of ' + change.executor + ' / ' + change.key + ': ' + changeText(change) + ', by ' + change.who + (change.from ? ' from ' + change.from : ''))] : [];
}
