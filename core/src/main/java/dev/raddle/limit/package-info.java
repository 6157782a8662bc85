/**
 * Who may run now? Start at {@link dev.raddle.limit.Gate}.
 *
 * <p>A {@link dev.raddle.limit.Permit} is one request for the right to run. It enters the gate of its key and is held at
 * once, waits there, or is refused; a {@link dev.raddle.limit.FairCap} bounds all gates of a house together and shares its
 * slots between them by weight. Nothing here starts threads, reads a clock or knows what a task is: whoever makes a permit
 * possible receives it in {@link dev.raddle.limit.Grants} and acts on it outside every lock. Unless stated otherwise nothing
 * is null and every class is safe for many threads. What is held is counted in slots, of which a permit of cost n takes n;
 * what waits is counted in permits.
 */
package dev.raddle.limit;
