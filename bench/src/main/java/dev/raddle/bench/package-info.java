/**
 * What Raddle costs, against the peers, in one run. Start at {@link dev.raddle.bench.Report}.
 *
 * <p>A class asks one question, which its javadoc states, and says in {@code rows} what the answer should be.
 * Everything is a JMH benchmark, so each number comes from several fresh JVMs; what is not a time is told to {@link
 * dev.raddle.bench.Measured}. Three peers appear: <i>bare</i> is {@code newVirtualThreadPerTaskExecutor}, which has no
 * limits at all; <i>semaphore</i> is a {@link java.util.concurrent.Semaphore} acquired by the fresh virtual thread;
 * <i>bulkhead</i> is Resilience4j's, entered in the same way. The pool's peers are in
 * {@link dev.raddle.bench.PoolPeer}.
 */
package dev.raddle.bench;
