package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/** Submits tasks by key, to Raddle or to a peer. */
interface KeyedExecutor extends AutoCloseable {

    void submit(String key, Callable<?> task);

    /** Shuts the executor down without waiting. */
    @Override
    void close();

    static KeyedExecutor raddle(GroupPolicy policy) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        return new KeyedExecutor() {
            @Override
            public void submit(String key, Callable<?> task) {
                executor.submit(key, "task", task);
            }

            @Override
            public void close() {
                executor.shutdown();
            }
        };
    }

    /** Returns a submitter to new virtual threads, each of which acquires a semaphore before it runs its task. */
    @SuppressWarnings("FutureReturnValueIgnored") // exceptions of tasks are not measured
    static KeyedExecutor semaphores(Function<String, Semaphore> semaphoreOf) {
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        Map<String, Semaphore> semaphores = new ConcurrentHashMap<>();
        return new KeyedExecutor() {
            @Override
            public void submit(String key, Callable<?> task) {
                executor.submit(withPermit(semaphores.computeIfAbsent(key, semaphoreOf), task));
            }

            @Override
            public void close() {
                executor.shutdown();
            }
        };
    }

    /** Returns a task that runs another while it holds a permit. */
    static <T> Callable<T> withPermit(Semaphore semaphore, Callable<T> task) {
        return () -> {
            semaphore.acquire();
            try {
                return task.call();
            } finally {
                semaphore.release();
            }
        };
    }
}
