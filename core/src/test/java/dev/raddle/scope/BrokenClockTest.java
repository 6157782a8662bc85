package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.Joiner;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Scopes with a time source that cannot arm an alarm. */
@Timeout(60)
class BrokenClockTest {

    /** A time source whose alarms throw. */
    private static final class NoAlarms implements TimeSource {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            throw new ArithmeticException("no alarm");
        }
    }

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final List<Throwable> reported = new CopyOnWriteArrayList<>();
    private final StructuredScopeOptions options = StructuredScopeOptions.defaults()
            .withTimeSource(new NoAlarms())
            .withSink(ExceptionSink.to((source, failure) -> reported.add(failure)));

    @Test
    void a_joined_scope_whose_timeout_alarm_fails_leaves_its_thread() throws Exception {
        try (var outer = new StructuredTaskScope<String>()) {
            assertThatThrownBy(() -> StructuredTaskScope.open(
                            Joiner.<String>awaitAll(),
                            config -> config.withOptions(options).withTimeout(SECOND)))
                    .isInstanceOf(ArithmeticException.class)
                    .hasNoSuppressedExceptions();
            assertThat(outer.owner.innermost).isSameAs(outer);
            assertThat(outer.children()).isEmpty();

            StructuredTaskScope.Subtask<String> subtask = outer.fork(() -> "value");
            outer.join();
            assertThat(subtask.get()).isEqualTo("value");
        } // and no structure violation
    }

    @Test
    void a_structured_scope_waits_in_close_although_its_patience_alarm_fails() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        StructuredScopeOptions opening = options.withSink(ExceptionSink.to((source, failure) -> {
            reported.add(failure);
            end.countDown();
        }));
        try (var scope = new StructuredTaskScope<Void>(opening)) {
            scope.fork(() -> {
                Wait.uninterruptibly(end);
                ended.set(true);
                return null;
            });
            scope.shutdown();
            scope.join();
        } finally {
            end.countDown();
        }
        assertThat(ended).isTrue();
        assertThat(reported).hasSize(1).first().isInstanceOf(ArithmeticException.class);
    }

    @Test
    void a_scope_whose_deadline_alarm_fails_leaves_its_thread() {
        assertThatThrownBy(
                        () -> ThreadScope.open().withTimeSource(new NoAlarms()).withDeadline(SECOND))
                .isInstanceOf(ArithmeticException.class);

        assertThat(ThreadScope.current()).isEmpty();
    }

    @Test
    void a_scope_used_again_after_its_deadline_runs_token_actions_without_a_lock() throws Exception {
        VirtualTime time = new VirtualTime();
        CountDownLatch notified = new CountDownLatch(1);
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withDeadline(SECOND)) {
            scope.token().whenCancelled(() -> {
                Thread other = Thread.startVirtualThread(() -> {
                    scope.schedule(SECOND, () -> "never"); // creates the set that is guarded by the scope's lock
                    notified.countDown();
                });
                join(other);
            });
            assertThatThrownBy(() -> scope.withConcurrencyLimit(0)).isInstanceOf(IllegalArgumentException.class);
            time.advance(SECOND);
            assertThat(notified.getCount()).isOne(); // the scope is withdrawn and has no alarm

            scope.submit(() -> "never");

            assertThat(notified.getCount()).isZero();
        }
    }

    @Test
    void a_scheduled_task_whose_alarm_fails_is_failed_and_leaves_the_scope() {
        List<String> events = new CopyOnWriteArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                events.add("submitted");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                events.add("settled as " + outcome.status());
            }
        };
        try (ThreadScope scope =
                ThreadScope.open().withTimeSource(new NoAlarms()).withListener(listener)) {
            assertThatThrownBy(() -> scope.schedule(SECOND, () -> "never")).isInstanceOf(ArithmeticException.class);

            assertThat(events).containsExactly("submitted", "settled as FAILED");
            assertThat(scope.tasks().pending()).isEmpty();
            assertThat(scope.metrics().failedBeforeStart()).isOne();
        }
    }

    @Test
    void a_periodic_job_whose_first_alarm_fails_leaves_the_scope() {
        try (ThreadScope scope = ThreadScope.open().withTimeSource(new NoAlarms())) {
            assertThatThrownBy(() -> scope.scheduleAtFixedRate(SECOND, SECOND, () -> {}))
                    .isInstanceOf(ArithmeticException.class);

            assertThat(scope.tasks().pending()).isEmpty();
        }
    }

    @Test
    @Timeout(120)
    void a_sink_that_blocks_does_not_keep_a_scope_from_closing_when_its_last_task_has_ended() throws Exception {
        VirtualTime time = new VirtualTime();
        AtomicBoolean first = new AtomicBoolean(true);
        TimeSource oneAlarm = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                if (!first.getAndSet(false)) {
                    throw new ArithmeticException("no further alarm");
                }
                return time.after(delay, action);
            }
        };
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch unblocked = new CountDownLatch(1);
        ExceptionSink sink = ExceptionSink.to((source, failure) -> {
            if (failure instanceof ArithmeticException) {
                blocked.countDown();
                Wait.uninterruptibly(unblocked);
            }
        });
        BlockingTask stubborn = BlockingTask.uninterruptible();
        FutureTask<String> closing = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open()
                    .withTimeSource(oneAlarm)
                    .withExceptionSink(sink)
                    .withPatience(SECOND)) {
                scope.submit(stubborn);
                stubborn.awaitBegun();
            }
            return "closed";
        });
        Thread.ofPlatform().daemon().start(closing);
        time.awaitAlarms(1);
        time.advance(SECOND); // the reporting thread arms the next alarm
        blocked.await();

        stubborn.release();

        assertThat(closing.get()).isEqualTo("closed");
        unblocked.countDown();
    }

    private static void join(Thread other) {
        try {
            if (!other.join(Duration.ofMinutes(2))) {
                throw new AssertionError("another thread waits for a lock that the caller of the action holds");
            }
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
