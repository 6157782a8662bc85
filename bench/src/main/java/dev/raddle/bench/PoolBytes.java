package dev.raddle.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many bytes do all threads together allocate for a task that exists already? In an unbounded queue all tasks wait
 * before the first one runs; with a bounded queue, the producer waits for space.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {
            Jvm.QUIET,
            Jvm.SERIAL_GC,
            Jvm.HEAP_START,
            Jvm.HEAP_MAX,
            Jvm.COMPRESSED,
            Jvm.PLAIN_HEADERS,
            Jvm.TWO_PROCESSORS
        })
@Warmup(iterations = 2)
@Measurement(iterations = 3)
public class PoolBytes {

    private static final int TASKS = 1_000_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The pool. Producers wait for space in a bounded queue. */
    @Param({"RADDLE", "LINKED", "RADDLE_BOUNDED", "LINKED_BOUNDED"})
    public PoolPeer peer;

    private PoolBatch batch;

    /** Starts the workers. */
    @Setup
    public void open() {
        batch = new PoolBatch(peer, () -> {});
    }

    /** Closes the pool. */
    @TearDown
    public void close() {
        batch.close();
    }

    /** Submits to the idle pool, and waits until all tasks have run. */
    @Benchmark
    public void bytes() throws InterruptedException, ExecutionException {
        long before = THREADS.getTotalThreadAllocatedBytes();
        if (peer.isBounded()) {
            batch.run(TASKS, 1);
        } else {
            batch.runFromBacklog(TASKS);
        }
        long allocated = THREADS.getTotalThreadAllocatedBytes() - before;
        Measured.note("allocated", (double) allocated / TASKS, "B/task");
    }

    static List<Row> rows(Results results) {
        return List.of(
                row(results, "1,000,000 waiting", PoolPeer.RADDLE, PoolPeer.LINKED),
                row(results, "capacity 1,024", PoolPeer.RADDLE_BOUNDED, PoolPeer.LINKED_BOUNDED));
    }

    private static Row row(Results results, String queue, PoolPeer pool, PoolPeer peer) {
        return Row.of("allocated for a task beyond the task, " + queue, allocated(results, pool), "B")
                .against(peer.label(), allocated(results, peer))
                .atMost(8);
    }

    private static Stat allocated(Results results, PoolPeer peer) {
        return results.note("allocated", "PoolBytes.bytes", PoolRows.with(peer));
    }
}
