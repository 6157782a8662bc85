package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.RejectionHandler;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Task;
import dev.raddle.testing.BlockingTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rejected task of another API, whose result no handler can return, is rejected there, so that its future ends. */
@Timeout(60)
class RejectionHandlerOfASchedulerTest {

    private final BlockingTask holder = new BlockingTask();
    private final List<String> reported = new ArrayList<>();

    private final RejectionHandler returnsResult = new RejectionHandler() {
        @Override
        public <T> GroupResult<T> onRejected(String key, String id, Callable<T> task) {
            return GroupResult.failed(key, id, new IllegalStateException("full"), 0, 0);
        }
    };

    private final RejectionHandler callsTask = new RejectionHandler() {
        @Override
        public <T> GroupResult<T> onRejected(String key, String id, Callable<T> task) {
            try {
                return GroupResult.success(key, id, task.call(), 0, 0);
            } catch (Exception failure) {
                return GroupResult.failed(key, id, failure, 0, 0);
            }
        }
    };

    private final RejectionHandler throwsFailure = new RejectionHandler() {
        @Override
        public <T> GroupResult<T> onRejected(String key, String id, Callable<T> task) {
            throw new IllegalStateException("full");
        }
    };

    @AfterEach
    void releaseTheSlot() {
        holder.release();
    }

    /** Returns an executor whose group "a" has neither a slot nor a place in the queue. */
    private GroupExecutor full(GroupPolicy.Builder policy) throws InterruptedException {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy.defaultMaxConcurrencyPerGroup(1)
                .defaultQueueThresholdPerGroup(0)
                .closeTimeout(Duration.ZERO)
                .exceptionSink(ExceptionSink.to((source, failure) -> reported.add(source + ": " + failure)))
                .build());
        executor.submit("a", "holder", holder::call);
        holder.awaitBegun();
        return executor;
    }

    private GroupExecutor full(RejectionHandler handler) throws InterruptedException {
        return full(GroupPolicy.builder().rejectionHandler(handler));
    }

    private static void assertFutureEnds(Executor scheduler) {
        assertThatThrownBy(() -> CompletableFuture.supplyAsync(() -> 1, scheduler))
                .isInstanceOf(RejectedTaskException.class)
                .isInstanceOf(RejectedExecutionException.class);
        CompletableFuture<Integer> dependent =
                CompletableFuture.completedFuture(1).thenApplyAsync(value -> value, scheduler);
        assertThat(dependent).isCompletedExceptionally();
    }

    @Test
    void the_policy_discard_rejects_it() throws InterruptedException {
        try (GroupExecutor executor = full(GroupPolicy.builder().rejectionPolicy(RejectionPolicy.DISCARD))) {
            assertFutureEnds(executor.scheduler("a")::execute);
        }
    }

    @Test
    void a_handler_that_returns_a_result_rejects_it() throws InterruptedException {
        try (GroupExecutor executor = full(returnsResult)) {
            assertFutureEnds(executor.scheduler("a")::execute);
        }
        assertThat(reported).isEmpty();
    }

    @Test
    void a_handler_that_throws_rejects_it_and_is_reported() throws InterruptedException {
        try (GroupExecutor executor = full(throwsFailure)) {
            assertFutureEnds(executor.scheduler("a")::execute);
        }
        assertThat(reported)
                .hasSize(2)
                .allSatisfy(report -> assertThat(report)
                        .startsWith("rejectionHandler for task ")
                        .endsWith("java.lang.IllegalStateException: full"));
    }

    @Test
    void a_handler_that_calls_it_has_run_it() throws InterruptedException {
        try (GroupExecutor executor = full(callsTask)) {
            assertThat(CompletableFuture.supplyAsync(() -> 1, executor.scheduler("a")::execute))
                    .isCompletedWithValue(1);
        }
    }

    @Test
    void a_task_of_a_scope_fails_with_the_rejection() throws InterruptedException {
        try (GroupExecutor executor = full(returnsResult);
                ThreadScope scope =
                        ThreadScope.open("s", ScopeOptions.defaults().withScheduler(executor.scheduler("a")))) {
            Task<Integer> task = scope.submit(() -> 1);

            assertThatThrownBy(task::await).isInstanceOf(RejectedTaskException.class);
        }
    }
}
