/**
 * Counts the method entries of single calls of Raddle and of their counterparts in the JDK. Start at
 * {@link dev.raddle.bench.trace.Trace}, which {@code ./dev trace} runs.
 *
 * <p>{@code TraceAgent} adds a call of {@code MethodEntries.enter} to every method of the traced classes when they are
 * loaded, with {@code java.lang.instrument} and {@code java.lang.classfile}. {@code TracedCalls} contains the calls,
 * and {@code Summary} counts the entries of one. This measures the length of a call path, not its time.
 */
package dev.raddle.bench.trace;
