package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Task;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What tasks throw after they were ended from outside. */
@Timeout(60)
class LateFailureTest {

    private final List<String> reports = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final ExceptionSink sink = ExceptionSink.to((source, error) -> {
        reports.add(source);
        errors.add(error);
    });

    /** Returns a task that throws when it is interrupted. */
    private Callable<String> throwing(Throwable thrown) {
        return () -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException interrupt) {
                if (thrown instanceof Error error) {
                    throw error;
                }
                throw (Exception) thrown;
            }
            return "never";
        };
    }

    private void cancelInScope(Throwable thrown) throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("s").withExceptionSink(sink)) {
            Task<String> task = scope.submit("t", throwing(thrown));
            begun.await();
            task.cancel();
        }
    }

    private static List<Throwable> failures() {
        return List.of(new IOException("rollback"), new IllegalStateException("state"), new AssertionError("error"));
    }

    private static List<Throwable> answers() {
        return List.of(
                new InterruptedException(),
                new CancellationException(),
                new ClosedByInterruptException(),
                new IllegalStateException(new InterruptedException()));
    }

    private void cancelInFlow(Throwable thrown) throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("f");
        f.node("n", throwing(thrown)::call);
        try (FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withExceptionSink(sink))) {
            begun.await();
            run.cancel("on purpose");
        } // waits for the action
    }

    private void cancelInPool(Throwable thrown, boolean isObserved) throws InterruptedException {
        PoolBuilder builder = ThreadPool.builder("p").threads(1).exceptionSink(sink);
        if (isObserved) {
            builder.addListener(new TaskListener() {});
        }
        try (ThreadPool pool = builder.build()) {
            Future<String> future = pool.submit(throwing(thrown));
            begun.await();
            future.cancel(true);
        }
    }

    @ParameterizedTest
    @MethodSource("failures")
    void a_sink_receives_what_a_node_throws_after_its_run_was_cancelled(Throwable thrown) throws Exception {
        cancelInFlow(thrown);

        assertThat(errors).containsExactly(thrown);
        assertThat(reports).containsExactly("node \"n\" of flow \"f\", which had ended before it threw");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void a_sink_receives_what_a_task_of_a_pool_throws_after_its_future_was_cancelled(Throwable thrown)
            throws Exception {
        cancelInPool(thrown, false);

        assertThat(errors).containsExactly(thrown);
    }

    @ParameterizedTest
    @MethodSource("failures")
    void a_sink_receives_what_a_listened_task_of_a_pool_throws_after_its_future_was_cancelled(Throwable thrown)
            throws Exception {
        cancelInPool(thrown, true);

        assertThat(errors).containsExactly(thrown);
    }

    @ParameterizedTest
    @MethodSource("answers")
    void a_sink_does_not_receive_the_answers_of_nodes_and_of_tasks_of_a_pool_to_an_interrupt(Throwable thrown)
            throws Exception {
        cancelInFlow(thrown);
        cancelInPool(thrown, false);

        assertThat(errors).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("failures")
    void a_sink_receives_what_a_task_of_a_scope_throws_after_it_was_cancelled(Throwable thrown) throws Exception {
        cancelInScope(thrown);

        assertThat(errors).containsExactly(thrown);
        assertThat(reports).containsExactly("task \"t\" in scope \"s\", CANCELLED, which had ended before it threw");
    }

    @ParameterizedTest
    @MethodSource("answers")
    void the_answer_to_a_cancellation_is_not_reported(Throwable thrown) throws Exception {
        cancelInScope(thrown);

        assertThat(errors).isEmpty();
    }

    @Test
    void a_sink_receives_what_a_task_throws_after_its_timeout() throws Exception {
        VirtualTime time = new VirtualTime();
        IOException late = new IOException("late");
        try (ThreadScope scope = ThreadScope.open("s").withTimeSource(time).withExceptionSink(sink)) {
            scope.submit("t", throwing(late), Duration.ofSeconds(1));
            begun.await();
            time.advance(Duration.ofSeconds(1));
        }

        assertThat(errors).containsExactly(late);
        assertThat(reports).containsExactly("task \"t\" in scope \"s\", FAILED, which had ended before it threw");
    }

    @Test
    void a_sink_receives_what_a_task_of_a_group_throws_after_it_was_cancelled() throws Exception {
        IOException late = new IOException("late");
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .exceptionSink(sink)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            var handle = executor.submit("g", "t", throwing(late));
            begun.await();
            handle.cancel(true);
            Wait.until(() -> !errors.isEmpty());
        }

        assertThat(errors).containsExactly(late);
    }

    @Test
    void a_sink_receives_what_a_subtask_throws_after_the_shutdown_of_its_scope() throws Exception {
        IOException late = new IOException("late");
        var options = StructuredScopeOptions.defaults().withName("s").withExceptionSink(sink);
        try (var scope = new StructuredTaskScope<String>(options)) {
            scope.fork(throwing(late));
            begun.await();
            scope.shutdown();
            scope.join();
        }

        assertThat(errors).containsExactly(late);
    }

    @Test
    void a_subtask_that_a_shutdown_interrupts_is_not_reported() throws Exception {
        try (var scope = new StructuredTaskScope<String>(
                StructuredScopeOptions.defaults().withExceptionSink(sink))) {
            scope.fork(throwing(new InterruptedException()));
            begun.await();
            scope.shutdown();
            scope.join();
        }

        assertThat(errors).isEmpty();
    }
}
