package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many bytes of heap does a waiting task take, including its handle, among a million of them? Callable, id and key
 * are shared, and each group exists already and has one running task. The peer's tasks are virtual threads that wait
 * for a semaphore, including their futures.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.SERIAL_GC, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.COMPRESSED, Jvm.PLAIN_HEADERS})
@Warmup(iterations = 1)
@Measurement(iterations = 1)
public class HeapPerWaitingTask {

    private static final int TASKS = 1_000_000;
    private static final int PEER_TASKS = 100_000;
    private static final Callable<Void> EMPTY = () -> null;

    private final List<ExecutorService> kept = new ArrayList<>(); // their threads wait for ever

    /** The number of groups in which the tasks wait. */
    @Param({"1", "100000"})
    public int groups;

    /** Raddle; the scheduler ignores running tasks, so that no threads are counted. */
    @Benchmark
    public void raddle() {
        String[] keys = Batch.keys(groups);
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().scheduler(key -> task -> {}).build());
        for (String key : keys) {
            executor.submit(key, "running", EMPTY);
        }
        measure(executor, TASKS, i -> executor.submit(keys[i % groups], "task", EMPTY));
        if (executor.stats().totalQueuedCount() != TASKS) {
            throw new IllegalStateException("not all tasks wait: " + executor.stats());
        }
    }

    /**
     * Virtual threads that wait for a semaphore, fewer, because each is a thread; they go on waiting until the fork
     * ends.
     */
    @Benchmark
    @Warmup(iterations = 0)
    public void semaphore() {
        List<Callable<Void>> tasks = Batch.behindSemaphores(groups, 0);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        kept.add(executor);
        measure(executor, PEER_TASKS, i -> executor.submit(tasks.get(i % groups)));
    }

    private static <H> void measure(Object executor, int count, IntFunction<H> submit) {
        Object[] handles = new Object[count];
        long base = Heap.alive(executor, handles);
        for (int i = 0; i < count; i++) {
            handles[i] = submit.apply(i);
        }
        Measured.note("waiting", Heap.bytesEach(base, Heap.alive(executor, handles), count), "B/task");
    }

    static List<Row> rows(Results results) {
        return List.of(row(results, "1"), row(results, "100000"));
    }

    private static Row row(Results results, String groups) {
        return Row.of(
                        "heap of a waiting task, 1,000,000 in " + Row.groups(groups),
                        results.note("waiting", "HeapPerWaitingTask.raddle", "groups=" + groups),
                        "B")
                .against("semaphore", results.note("waiting", "HeapPerWaitingTask.semaphore", "groups=" + groups))
                .atMost(64);
    }
}
