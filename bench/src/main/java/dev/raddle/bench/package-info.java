/**
 * Benchmarks of Raddle and its peers, in one run. Start at {@link dev.raddle.bench.Report}; {@link
 * dev.raddle.bench.Compare} runs the same benchmarks on two checkouts.
 *
 * <p>A class answers one question, which its javadoc states, and its method {@code rows} contains the goals.
 * Everything is a JMH benchmark, so each number comes from several new JVMs; numbers that are not times are noted in
 * {@link dev.raddle.bench.Measured}. There are three peers: <i>bare</i> is {@code newVirtualThreadPerTaskExecutor},
 * which has no limits; <i>semaphore</i> is a {@link java.util.concurrent.Semaphore} that the new virtual thread
 * acquires; <i>bulkhead</i> is Resilience4j's, entered in the same way. The pool's peers are in {@link
 * dev.raddle.bench.PoolPeer}.
 */
package dev.raddle.bench;
