package dev.raddle.redis;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.PermitSource;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Runs tasks in a {@link GroupExecutor}: by turns in the caller's thread and in a thread of their own. */
final class FencedExecutor implements AutoCloseable {
    private static final int MORE_THAN_ANY_FLEET = 1_000;

    private final GroupExecutor executor;
    private final AtomicLong tasks = new AtomicLong();

    FencedExecutor(PermitSource source) {
        executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(MORE_THAN_ANY_FLEET)
                .permits(source)
                .build());
    }

    /** Waits for some permits of a group and runs a task with them. */
    void run(String key, int permits, FencedTask task) throws InterruptedException {
        Callable<Boolean> callable = () -> {
            task.run(TaskContext.current()
                    .fence()
                    .orElseThrow(() -> new InterruptedException("the permit was lost before the task began")));
            return true;
        };
        long number = tasks.getAndIncrement();
        TaskSpec<Boolean> spec = TaskSpec.named("task-" + number, callable).cost(permits);
        if (number % 2 == 0) {
            call(key, spec);
        } else {
            submit(key, spec);
        }
    }

    private void call(String key, TaskSpec<Boolean> spec) throws InterruptedException {
        try {
            executor.call(key, spec);
        } catch (CancellationException e) {
            throw interrupted(e);
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void submit(String key, TaskSpec<Boolean> spec) throws InterruptedException {
        GroupResult<Boolean> result = executor.submit(key, spec).await();
        if (result.isCancelled() || result.error() instanceof InterruptedException) {
            throw interrupted(result.error());
        }
        result.orElseThrow();
    }

    /** A task that knows its fencing number. */
    interface FencedTask {
        void run(long fence) throws InterruptedException;
    }

    /** Returns what a task that lost its permit ends with. */
    private static InterruptedException interrupted(@Nullable Throwable cause) {
        InterruptedException exception = new InterruptedException("the permit was lost");
        exception.initCause(cause);
        return exception;
    }

    @Override
    public void close() {
        executor.close();
    }

    @Override
    public String toString() {
        return executor.activeGroupKeys().stream()
                .map(executor::groupStats)
                .toList()
                .toString();
    }
}
