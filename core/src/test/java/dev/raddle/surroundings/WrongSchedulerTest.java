package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.scope.ScopeMetrics;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A scheduler that runs a task twice frees its permits once, and one that never runs a task is named. */
@Timeout(60)
class WrongSchedulerTest {

    /** Accepts tasks, which a test runs as often as it likes. */
    private static final class Accepting implements Scheduler {
        private final BlockingQueue<Runnable> accepted = new LinkedBlockingQueue<>();

        @Override
        public void execute(Runnable task) {
            accepted.add(task);
        }

        @Override
        public String toString() {
            return "accepting scheduler";
        }
    }

    private final Accepting scheduler = new Accepting();
    private final BlockingQueue<Runnable> accepted = scheduler.accepted;
    private final VirtualTime time = new VirtualTime();
    private final List<String> reported = new CopyOnWriteArrayList<>();
    private final ExceptionSink sink =
            ExceptionSink.to((source, failure) -> reported.add(source + ": " + failure.getMessage()));
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .globalMaxInFlight(1)
            .scheduler(key -> scheduler)
            .timeSource(time)
            .closeTimeout(Duration.ofSeconds(1))
            .exceptionSink(sink)
            .build());

    @AfterEach
    void close() {
        executor.shutdown();
    }

    private Runnable next() {
        return Objects.requireNonNull(accepted.poll(), "no task was granted");
    }

    @Test
    void a_task_that_is_run_again_while_it_runs_keeps_its_slot() {
        AtomicInteger calls = new AtomicInteger();
        Runnable[] first = new Runnable[1];
        TaskHandle<Integer> repeated = executor.submit("a", () -> {
            calls.incrementAndGet();
            first[0].run();
            assertThat(accepted).as("granted tasks").isEmpty();
            return 1;
        });
        TaskHandle<Integer> second = executor.submit("b", calls::incrementAndGet);
        first[0] = next();
        first[0].run();

        assertThat(calls).hasValue(1);
        assertThat(repeated.join().error()).isNull();
        next().run();
        assertThat(second.join().status()).isEqualTo(TaskStatus.SUCCESS);
    }

    @Test
    void a_task_that_was_cancelled_and_is_run_again_while_it_runs_keeps_its_slot() {
        Runnable[] first = new Runnable[1];
        TaskHandle<?>[] handle = new TaskHandle<?>[1];
        handle[0] = executor.submit("a", () -> {
            assertThat(handle[0].cancel(true)).isTrue();
            first[0].run();
            assertThat(accepted).as("granted tasks").isEmpty();
            return 1;
        });
        executor.submit("b", () -> 1);
        first[0] = next();
        first[0].run();

        assertThat(reported).isEmpty();
        assertThat(accepted).hasSize(1);
    }

    @Test
    void a_task_that_is_run_again_after_its_end_does_not_free_the_slot_of_another() {
        executor.submit("a", () -> 1);
        executor.submit("b", () -> 1);
        executor.submit("c", () -> 1);
        Runnable first = next();
        first.run();
        first.run();

        assertThat(accepted).hasSize(1);
        assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
    }

    @Test
    void a_task_that_was_cancelled_before_it_began_frees_its_slot_when_it_is_run() {
        TaskHandle<Integer> cancelled = executor.submit("a", () -> 1);
        executor.submit("b", () -> 1);
        cancelled.cancel(true);
        Runnable first = next();
        assertThat(accepted).isEmpty();
        first.run();
        first.run();

        assertThat(accepted).hasSize(1);
        assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
    }

    @Test
    void a_scope_counts_a_task_that_is_run_twice_once() {
        int tasks = 20;
        ScopeOptions options = ScopeOptions.defaults().withScheduler(scheduler).withConcurrencyLimit(3);
        ScopeMetrics metrics;
        try (ThreadScope scope = ThreadScope.open("s", options)) {
            for (int i = 0; i < tasks; i++) {
                scope.submit(() -> 1);
            }
            for (Runnable task; (task = accepted.poll()) != null; ) {
                assertThat(accepted).hasSizeLessThan(3);
                task.run();
                task.run();
            }
            metrics = scope.metrics();
        }

        assertThat(metrics.running()).isZero();
        assertThat(metrics.succeeded()).isEqualTo(tasks);
    }

    @Test
    void a_shutdown_reports_the_tasks_that_their_scheduler_has_never_run() throws InterruptedException {
        executor.submit("a", "dropped", () -> 1);
        executor.submit("a", "waiting", () -> 1);
        accepted.clear();
        Thread closing = Thread.startVirtualThread(executor::close);
        time.awaitAlarms(1);
        time.advance(Duration.ofSeconds(1));
        closing.join();

        assertThat(reported)
                .containsExactly("shutdown of a group executor: task \"dropped\" in group \"a\" was accepted by"
                        + " accepting scheduler, which had not run it after 1000 ms");
    }
}
