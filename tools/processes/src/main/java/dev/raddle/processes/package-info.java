/**
 * Other processes in tests: workers in JVMs of their own, real servers, and what happens to them. Start at
 * {@link dev.raddle.processes.WorkerJvm}.
 *
 * <p>Only tests use this module; it is not published. A process is signalled by its id, and only by the test that has
 * started it.
 */
@NullMarked
package dev.raddle.processes;

import org.jspecify.annotations.NullMarked;
