/**
 * Races between two operations: one jcstress test for each pair. {@code ./dev stress} runs them.
 *
 * <p>They use the public API, or one class of the kernel. The scheduler keeps granted tasks until an actor runs them,
 * so the actors are the runners and no thread is started; an arbiter then runs the remaining tasks, and checks that no
 * permit is held and a further task runs. A class whose name ends in {@code SeededBug} tests a broken imitation, and
 * shows that the test can fail.
 */
package dev.raddle.checks.stress;
