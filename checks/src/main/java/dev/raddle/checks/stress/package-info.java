/**
 * What becomes of two steps that happen at once? One jcstress test for each pair; {@code ./dev stress} runs them.
 *
 * <p>They go through the public doors. The scheduler keeps what was granted until an actor runs it, so the actors are the
 * runners and no thread is started; an arbiter then runs the rest, and checks that nothing is held and a further task runs.
 * A class whose name ends in {@code SeededBug} does the same to a broken imitation, and shows that the test can fail.
 */
package dev.raddle.checks.stress;
