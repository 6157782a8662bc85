/**
 * Other processes in tests and benchmarks: workers in JVMs of their own, real servers, and what happens to them. Start
 * at {@link dev.raddle.processes.WorkerJvm} for a worker, at {@link dev.raddle.processes.ServerProcess} for a server.
 *
 * <p>This module is not published. A process is signalled by its id, and only by the JVM that has started it.
 */
@NullMarked
package dev.raddle.processes;

import org.jspecify.annotations.NullMarked;
