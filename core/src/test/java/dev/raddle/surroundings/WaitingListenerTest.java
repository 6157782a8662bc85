package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wait in a listener, which has the permits of the task that starts, ends as the same wait in that task does. */
@Timeout(60)
class WaitingListenerTest {

    private final List<Throwable> reported = new CopyOnWriteArrayList<>();
    private final ExceptionSink sink = ExceptionSink.to((source, failure) -> reported.add(failure));
    private final AtomicReference<GroupExecutor> executor = new AtomicReference<>();

    private TaskListener onStartOf(String key, Runnable action) {
        return new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                if (task.owner().equals(key)) {
                    action.run();
                }
            }
        };
    }

    private static void unchecked(Callable<?> wait) {
        try {
            wait.call();
        } catch (RuntimeException thrown) {
            throw thrown;
        } catch (Exception thrown) {
            throw new AssertionError(thrown);
        }
    }

    private void awaitTaskOf(String key) {
        executor.get().submit(key, "awaited", () -> 1).join();
    }

    private GroupExecutor open(GroupPolicy.Builder policy) {
        executor.set(GroupExecutor.newVirtualThreadExecutor(
                policy.exceptionSink(sink).closeTimeout(Duration.ZERO).build()));
        return executor.get();
    }

    private void assertRefused() {
        assertThat(reported)
                .anySatisfy(failure -> assertThat(failure)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("would never begin"));
    }

    @Test
    void a_listener_that_waits_for_another_group_at_a_full_cap_is_refused() throws InterruptedException {
        try (GroupExecutor groups =
                open(GroupPolicy.builder().globalMaxInFlight(1).addListener(onStartOf("a", () -> awaitTaskOf("b"))))) {
            assertThat(groups.submit("a", () -> 1).await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
        assertRefused();
    }

    @Test
    void a_listener_that_waits_for_its_own_full_group_is_refused() throws InterruptedException {
        AtomicReference<Runnable> once = new AtomicReference<>(() -> awaitTaskOf("a"));
        try (GroupExecutor groups = open(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .addListener(onStartOf("a", () -> once.getAndSet(() -> {}).run())))) {
            assertThat(groups.submit("a", () -> 1).await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
        assertRefused();
    }

    @Test
    void a_listener_and_a_task_that_fill_the_cap_and_both_wait_are_refused() throws InterruptedException {
        CyclicBarrier full = new CyclicBarrier(2);
        Runnable waits = () -> {
            unchecked(full::await);
            awaitTaskOf("free");
        };
        try (GroupExecutor groups =
                open(GroupPolicy.builder().globalMaxInFlight(2).addListener(onStartOf("listener", waits)))) {
            var first = groups.submit("listener", () -> 1);
            var second = groups.submit("task", () -> {
                waits.run();
                return 1;
            });

            assertThat(first.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(second.await().status()).isIn(TaskStatus.SUCCESS, TaskStatus.FAILED);
        }
    }

    @Test
    void a_listener_may_wait_for_a_task_that_can_run() throws InterruptedException {
        try (GroupExecutor groups =
                open(GroupPolicy.builder().globalMaxInFlight(2).addListener(onStartOf("a", () -> awaitTaskOf("b"))))) {
            assertThat(groups.submit("a", () -> 1).await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
        assertThat(reported).isEmpty();
    }

    @Test
    void a_listener_of_a_scope_that_waits_for_a_task_behind_its_own_is_refused() throws InterruptedException {
        AtomicReference<Task<Integer>> second = new AtomicReference<>();
        CyclicBarrier submitted = new CyclicBarrier(2);
        TaskListener listener = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                if (task.name().equals("first")) {
                    unchecked(submitted::await);
                    unchecked(() -> second.get().await());
                }
            }
        };
        try (ThreadScope scope = ThreadScope.open(
                "s",
                ScopeOptions.defaults()
                        .withConcurrencyLimit(1)
                        .withExceptionSink(sink)
                        .addListener(listener))) {
            Task<Integer> first = scope.submit("first", () -> 1);
            second.set(scope.submit("second", () -> 2));
            unchecked(submitted::await);

            assertThat(first.await()).isEqualTo(1);
            assertThat(second.get().await()).isEqualTo(2);
        }
        assertRefused();
    }
}
