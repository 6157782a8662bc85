package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ScopeTimeoutException;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.Jvm;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits of time hold although others keep the threads busy that a timer might need. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BusyThreadsTest {

    private static final Duration LIMIT = Duration.ofMillis(20);

    private final CountDownLatch never = new CountDownLatch(1);

    /** Runs an action in the fallback of a future that timed out, which is in the JDK's only thread for timeouts. */
    private static <T> T inFallback(Callable<T> action) throws Exception {
        return fallback(() -> {
                    try {
                        return action.call();
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                })
                .get();
    }

    private static <T> CompletableFuture<T> fallback(Supplier<T> action) {
        CompletableFuture<T> never = new CompletableFuture<>();
        CompletableFuture<T> result = never.exceptionally(timeout -> action.get());
        never.orTimeout(1, TimeUnit.MILLISECONDS); // with the fallback, which else may run in the calling thread
        return result;
    }

    private int forever() throws InterruptedException {
        never.await();
        return 1;
    }

    @Test
    void every_limit_ends_its_task_in_the_fallback_of_a_foreign_future() throws Exception {
        GroupPolicy discarding = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(discarding)) {
            executor.submit("held", this::forever);

            assertThat(inFallback(() -> executor.submit(
                                    "held", TaskSpec.named("waits", () -> 1).queueTimeout(LIMIT))
                            .await()
                            .status()))
                    .isEqualTo(TaskStatus.REJECTED);
            assertThat(inFallback(() -> executor.submit(
                                    "free",
                                    TaskSpec.named("runs", this::forever).timeout(LIMIT))
                            .await()
                            .status()))
                    .isEqualTo(TaskStatus.FAILED);
            never.countDown();
        }
        CountDownLatch slow = new CountDownLatch(1);
        Callable<Integer> sleeping = () -> {
            slow.await();
            return 1;
        };
        inFallback(() -> {
            try (ThreadScope scope =
                    ThreadScope.open("limited", ScopeOptions.defaults().withDeadline(LIMIT))) {
                assertThatThrownBy(() -> scope.submit(sleeping).await()).isInstanceOf(ScopeTimeoutException.class);
            }
            try (ThreadScope scope = ThreadScope.open("hedged")) {
                assertThat(scope.join(JoinStrategy.hedged(LIMIT), List.of(sleeping, () -> 2)))
                        .isEqualTo(2);
            }
            FlowBuilder<Void> flow = FlowPlan.define("flow");
            FlowPlan<Void, Integer> plan = flow.returning(flow.node("slow", sleeping));
            assertThat(plan.run(null, RunOptions.timeout(LIMIT)).status()).isEqualTo(FlowStatus.TIMED_OUT);
            return null;
        });
    }

    @Test
    void limits_are_kept_while_the_fallback_of_a_foreign_future_does_not_return() throws Exception {
        CountDownLatch inFallback = new CountDownLatch(1);
        CompletableFuture<Integer> blocked = fallback(() -> {
            inFallback.countDown();
            Wait.uninterrupted(never);
            return 1;
        });
        inFallback.await();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            assertThat(executor.submit(
                                    "key", TaskSpec.named("runs", this::forever).timeout(LIMIT))
                            .await()
                            .status())
                    .isEqualTo(TaskStatus.FAILED);
        } finally {
            never.countDown();
            blocked.join();
        }
    }

    @Test
    void every_limit_ends_its_task_while_a_foreign_thread_keeps_the_only_carrier() throws Exception {
        assertThat(Jvm.run(
                        BusyCarriers.class,
                        "-Djdk.virtualThreadScheduler.parallelism=1",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=1"))
                .isEqualTo("all limits are kept");
    }
}
