package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;

/**
 * Many empty tasks, submitted by one thread to a number of groups in turn, from the first submission until all have
 * ended. The executor's close waits for them, so that the tasks need no counter and are really empty.
 */
final class Batch {

    static final int TASKS = 100_000;

    private static final Callable<Void> EMPTY = () -> null;

    private Batch() {}

    static String[] keys(int groups) {
        return IntStream.range(0, groups).mapToObj(i -> "group-" + i).toArray(String[]::new);
    }

    static List<Callable<Void>> empty() {
        return List.of(EMPTY);
    }

    /** Returns an empty task for each group, which enters the group's semaphore. */
    static List<Callable<Void>> behindSemaphores(int groups, int limit) {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < groups; i++) {
            tasks.add(KeyedExecutor.withPermit(new Semaphore(limit), EMPTY));
        }
        return tasks;
    }

    /** Returns an empty task for each group, which enters the group's bulkhead. */
    static List<Callable<Void>> behindBulkheads(int groups, int limit) {
        BulkheadConfig config = BulkheadConfig.custom()
                .maxConcurrentCalls(limit)
                .maxWaitDuration(Duration.ofMinutes(10))
                .build();
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < groups; i++) {
            tasks.add(Bulkhead.decorateCallable(Bulkhead.of("group-" + i, config), EMPTY));
        }
        return tasks;
    }

    /** Returns the same tasks, each behind a circuit breaker of its own. */
    static List<Callable<Void>> behindBreakers(List<Callable<Void>> tasks) {
        return tasks.stream()
                .map(task -> CircuitBreaker.decorateCallable(CircuitBreaker.ofDefaults("breaker"), task))
                .toList();
    }

    static void onBareThreads(List<Callable<Void>> tasks) {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            submitAll(executor, tasks);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // an empty task does not fail
    private static void submitAll(ExecutorService executor, List<Callable<Void>> tasks) {
        for (int i = 0; i < TASKS; i++) {
            executor.submit(tasks.get(i % tasks.size()));
        }
    }

    static void onChainOfThreads() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        startChain(TASKS, end);
        end.await();
    }

    private static void startChain(int left, CountDownLatch end) {
        if (left == 0) {
            end.countDown();
        } else {
            Thread.startVirtualThread(() -> startChain(left - 1, end));
        }
    }

    static void onRaddle(GroupPolicy policy, String[] keys) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        submitAll(executor, keys);
        awaitAll(executor);
    }

    /** Fills all groups before the first task starts, so that each group has a waiting task until its last. */
    static void onSaturatedRaddle(GroupPolicy policy, String[] keys) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        for (String key : keys) {
            executor.pauseGroup(key);
        }
        submitAll(executor, keys);
        for (String key : keys) {
            executor.resumeGroup(key);
        }
        awaitAll(executor);
    }

    private static void submitAll(GroupExecutor executor, String[] keys) {
        for (int i = 0; i < TASKS; i++) {
            executor.submit(keys[i % keys.length], "task", EMPTY);
        }
    }

    private static void awaitAll(GroupExecutor executor) {
        if (!executor.shutdown(Duration.ofMinutes(1))) {
            throw new IllegalStateException("the tasks had not ended after a minute, " + executor);
        }
    }
}
