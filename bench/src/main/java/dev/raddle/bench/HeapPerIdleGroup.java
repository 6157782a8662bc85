package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many bytes of heap does an idle group take that has run one task, if it is kept and if it is removed? The group's
 * share of the map is included, its key is not. The peer is a map that creates a semaphore for each key and removes
 * none.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.SERIAL_GC, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.COMPRESSED, Jvm.PLAIN_HEADERS})
@Warmup(iterations = 1)
@Measurement(iterations = 1)
public class HeapPerIdleGroup {

    private static final int GROUPS = 100_000;
    private static final Callable<Void> EMPTY = () -> null;

    private final String[] keys = Batch.keys(GROUPS);

    /** Raddle; idle groups are kept. */
    @Benchmark
    public void retained() throws InterruptedException {
        measure(Duration.ofHours(1), GROUPS);
    }

    /** Raddle; idle groups are removed at once. */
    @Benchmark
    public void removed() throws InterruptedException {
        measure(Duration.ZERO, 0);
    }

    private void measure(Duration ttl, int expected) throws InterruptedException {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .idleGroupTtl(ttl)
                .maxIdleGroups(2 * GROUPS)
                .build());
        executor.submit("first", "task", EMPTY).await();
        executor.evictGroup("first");
        long base = Heap.alive(executor, keys);
        for (String key : keys) {
            executor.submit(key, "task", EMPTY).await();
        }
        note(base, Heap.alive(executor, keys));
        int known = executor.stats().activeGroupCount();
        if (known < expected || known > expected + 1) {
            throw new IllegalStateException(known + " groups are kept, not " + expected);
        }
    }

    /** A map of semaphores. */
    @Benchmark
    public void map() {
        ConcurrentHashMap<String, Semaphore> semaphores = new ConcurrentHashMap<>();
        long base = Heap.alive(semaphores, keys);
        for (String key : keys) {
            semaphores.computeIfAbsent(key, unknown -> new Semaphore(1)).tryAcquire();
        }
        note(base, Heap.alive(semaphores, keys));
    }

    private static void note(long before, long after) {
        Measured.note("group", Heap.bytesEach(before, after, GROUPS), "B/group");
    }

    static List<Row> rows(Results results) {
        Stat map = results.note("group", "HeapPerIdleGroup.map");
        return List.of(
                Row.of("heap of a kept idle group", results.note("group", "HeapPerIdleGroup.retained"), "B")
                        .against("map of semaphores", map)
                        .atMost(100),
                Row.of("heap of a removed idle group", results.note("group", "HeapPerIdleGroup.removed"), "B")
                        .against("map of semaphores", map)
                        .atMost(0));
    }
}
