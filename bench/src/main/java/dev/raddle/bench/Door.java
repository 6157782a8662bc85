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

/** Where tasks of a key are submitted: Raddle's, or a peer's. */
interface Door extends AutoCloseable {

    void submit(String key, Callable<?> task);

    /** Takes no more tasks, and waits for none. */
    @Override
    void close();

    static Door raddle(GroupPolicy policy) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        return new Door() {
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

    /** Fresh virtual threads, each of which acquires a semaphore before it runs its task. */
    @SuppressWarnings("FutureReturnValueIgnored") // what a task throws is no part of a measurement
    static Door semaphores(Function<String, Semaphore> semaphoreOf) {
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        Map<String, Semaphore> semaphores = new ConcurrentHashMap<>();
        return new Door() {
            @Override
            public void submit(String key, Callable<?> task) {
                executor.submit(within(semaphores.computeIfAbsent(key, semaphoreOf), task));
            }

            @Override
            public void close() {
                executor.shutdown();
            }
        };
    }

    /** Returns a task that does what another does, while it holds a permit. */
    static <T> Callable<T> within(Semaphore semaphore, Callable<T> task) {
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
