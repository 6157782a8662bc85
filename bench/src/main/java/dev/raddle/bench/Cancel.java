package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.function.Predicate;
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
 * How long does it take to cancel a waiting task, in random order among a million, and what remains on the heap when
 * all are cancelled and their handles dropped? The peer's tasks are virtual threads that wait for a semaphore.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.SERIAL_GC, Jvm.HEAP_START, Jvm.HEAP_MAX})
@Warmup(iterations = 2)
@Measurement(iterations = 5)
public class Cancel {

    private static final int TASKS = 1_000_000;
    private static final int PEER_TASKS = 10_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Callable<Void> EMPTY = () -> null;

    /** The number of groups in which the tasks wait. One further task blocks each group. */
    @Param({"1", "100000"})
    public int groups;

    /** Raddle. */
    @Benchmark
    public void raddle() {
        onRaddle(handle -> handle.cancel(true));
    }

    /** A lower bound of the cost: each handle is read from memory, in the same order, and queried. */
    @Benchmark
    public void look() {
        onRaddle(handle -> !handle.isDone());
    }

    private void onRaddle(Predicate<TaskHandle<Void>> cancel) {
        String[] keys = Batch.keys(groups);
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().scheduler(key -> task -> {}).build());
        for (String key : keys) {
            executor.submit(key, "blocker", EMPTY);
        }
        measure(executor, TASKS, i -> executor.submit(keys[i % groups], "task", EMPTY), cancel);
    }

    /** Virtual threads that wait for a semaphore; far fewer, because the time for each grows with their number. */
    @Benchmark
    public void semaphore() {
        List<Callable<Void>> tasks = Batch.behindSemaphores(groups, 0);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        measure(
                executor,
                PEER_TASKS,
                i -> executor.submit(tasks.get(i % groups)),
                (Future<Void> future) -> future.cancel(true));
        executor.close();
    }

    private static <H> void measure(Object executor, int count, IntFunction<H> submit, Predicate<H> cancel) {
        int[] order = shuffled(count);
        Object[] handles = new Object[count];
        long base = Heap.alive(executor, handles, order);
        for (int i = 0; i < count; i++) {
            handles[i] = submit.apply(i);
        }
        Measured.note("waiting", Heap.bytesEach(base, Heap.alive(executor, handles, order), count), "B/task");
        long cpu = THREADS.getCurrentThreadCpuTime();
        long nanos = cancelAll(handles, order, cancel);
        Measured.note("cancel-cpu", (THREADS.getCurrentThreadCpuTime() - cpu) / (double) count, "ns/task");
        Arrays.fill(handles, null);
        Measured.note("cancel", nanos / (double) count, "ns/task");
        Measured.note("left", Heap.bytesEach(base, Heap.alive(executor, handles, order), count), "B/task");
    }

    @SuppressWarnings("unchecked") // an array of a type variable
    private static <H> long cancelAll(Object[] handles, int[] order, Predicate<H> cancel) {
        int cancelled = 0;
        long start = System.nanoTime();
        for (int i : order) {
            cancelled += cancel.test((H) handles[i]) ? 1 : 0;
        }
        long nanos = System.nanoTime() - start;
        if (cancelled != order.length) {
            throw new IllegalStateException(cancelled + " of " + order.length + " waiting tasks could be cancelled");
        }
        return nanos;
    }

    private static int[] shuffled(int count) {
        int[] order = new int[count];
        Random random = new Random(42);
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        return order;
    }

    static List<Row> rows(Results results) {
        return List.of(
                cancel(results, "1").atMost(200),
                overLook(results, "1"),
                cancel(results, "100000").atMost(200),
                overLook(results, "100000"),
                left(results, "1").atMost(0),
                left(results, "100000").atMost(0));
    }

    private static Row cancel(Results results, String groups) {
        return row(results, groups)
                .against("semaphore, 10,000 tasks:", results.note("cancel", "Cancel.semaphore", "groups=" + groups));
    }

    private static Row overLook(Results results, String groups) {
        return row(results, groups)
                .against("only to query each handle:", results.note("cancel", "Cancel.look", "groups=" + groups));
    }

    private static Row row(Results results, String groups) {
        String what = "cancel a waiting task, random order, 1,000,000 in " + Row.groups(groups);
        return Row.of(what, results.note("cancel", "Cancel.raddle", "groups=" + groups), "ns");
    }

    private static Row left(Results results, String groups) {
        String what = "left on the heap for each cancelled task, " + Row.groups(groups);
        return Row.of(what, results.note("left", "Cancel.raddle", "groups=" + groups), "B");
    }
}
