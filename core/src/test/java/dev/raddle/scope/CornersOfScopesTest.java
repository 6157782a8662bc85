package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Combinations of features that each have tests of their own. */
class CornersOfScopesTest {

    private final List<String> events = new CopyOnWriteArrayList<>();

    @Test
    void an_interrupt_for_the_caller_reaches_none_of_the_tasks_that_its_thread_runs() throws Exception {
        AtomicBoolean leaked = new AtomicBoolean();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Runnable::run).withConcurrencyLimit(1)) {
            Task<Task<String>> first = scope.submit(() -> {
                Task<String> second = scope.submit(() -> {
                    leaked.set(Thread.currentThread().isInterrupted());
                    return "second";
                });
                Thread.currentThread().interrupt(); // meant for the caller, whose thread runs the task
                return second;
            });

            assertThat(Thread.interrupted()).isTrue();
            assertThat(first.await().await()).isEqualTo("second");
            assertThat(leaked).isFalse();
        }
    }

    @Test
    void a_task_that_runs_out_of_time_cancels_waiting_tasks_before_they_can_begin() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withConcurrencyLimit(1)) {
            Task<String> late = scope.submit("late", blocker, Duration.ofSeconds(1));
            Task<String> waiting = scope.submit("waiting", () -> events.add("ran") + "");
            blocker.awaitBegun();
            Thread owner = Thread.currentThread();
            Thread clock = Thread.ofVirtual().start(() -> {
                while (owner.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                time.advance(Duration.ofSeconds(1));
            });

            assertThatThrownBy(() -> scope.await(late)).isInstanceOf(TaskTimeoutException.class);
            clock.join();
            assertThat(waiting.state()).isEqualTo(Task.State.CANCELLED);
            assertThat(events).isEmpty();
        }
    }

    @Test
    void a_hook_is_notified_of_an_end_only_after_its_notification_of_the_start_returns() throws Exception {
        CountDownLatch hearing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ThreadHook hook = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                hearing.countDown();
                Wait.uninterruptibly(goOn);
                events.add("started");
            }

            @Override
            public void onCancel(TaskInfo task, Duration ran) {
                events.add("cancelled");
            }
        };
        try (ThreadScope scope = ThreadScope.open().addHook(hook)) {
            Task<String> task = scope.submit(() -> events.add("called") + "");
            hearing.await();
            assertThat(task.cancel()).isTrue();
            assertThat(task.isCancelled()).isTrue();
            goOn.countDown();
        }
        assertThat(events).containsExactly("started", "cancelled");
    }

    @Test
    void the_average_wait_is_that_of_the_tasks_that_have_ended() throws Exception {
        VirtualTime time = new VirtualTime();
        StepScheduler steps = new StepScheduler();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withScheduler(steps)) {
            scope.submit(() -> {
                assertThat(scope.metrics().averageWait()).isZero(); // this task has started and not ended
                return "";
            });
            time.advance(Duration.ofMillis(100));
            steps.runNext();

            assertThat(scope.metrics().averageWait()).isEqualTo(Duration.ofMillis(100));
            assertThat(scope.metrics().started()).isOne();
        }
    }

    @Test
    void a_fixed_rate_is_fixed_although_the_clock_advances_with_every_reading() throws Exception {
        VirtualTime virtual = new VirtualTime();
        AtomicLong looks = new AtomicLong();
        List<Duration> delays = new CopyOnWriteArrayList<>();
        TimeSource time = new TimeSource() {
            @Override
            public long nanoTime() {
                return virtual.nanoTime() + looks.incrementAndGet();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                delays.add(delay);
                return virtual.after(delay, action);
            }
        };
        Semaphore rounds = new Semaphore(0);
        Duration period = Duration.ofMillis(1);
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time)) {
            long before = time.nanoTime();
            scope.scheduleAtFixedRate(period, period, rounds::release);
            for (int round = 1; round <= 3; round++) {
                virtual.awaitAlarms(1);
                long due = before + round * period.toNanos();
                long asked = virtual.nanoTime() + looks.get() + delays.getLast().toNanos();
                assertThat(asked - due).isBetween(0L, 10L);
                virtual.advance(period);
                rounds.acquire();
            }
        }
    }

    @Test
    void a_deadline_that_passes_says_what_had_failed_before() throws Exception {
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open()
                .withTimeSource(time)
                .withFailurePolicy(FailurePolicy.COLLECT_ALL)
                .withDeadline(Duration.ofSeconds(1))) {
            IllegalStateException failure = new IllegalStateException("planned");
            Task<String> failed = scope.submit(() -> {
                throw failure;
            });
            Task<String> slow = scope.submit(new BlockingTask()::call);
            assertThatThrownBy(failed::await).isSameAs(failure);
            time.advance(Duration.ofSeconds(1));

            assertThatThrownBy(() -> scope.await(failed, slow))
                    .isInstanceOf(ScopeTimeoutException.class)
                    .hasSuppressedException(failure);
        }
    }

    @Test
    void an_interrupt_of_a_retry_delay_carries_the_failure_before_it() throws Exception {
        VirtualTime time = new VirtualTime();
        IllegalStateException failure = new IllegalStateException("planned");
        try (ThreadScope scope = ThreadScope.open()
                .withTimeSource(time)
                .withRetryPolicy(RetryPolicy.fixedDelay(2, Duration.ofSeconds(1)))) {
            Task<String> task = scope.submit(() -> {
                throw failure;
            });
            time.awaitAlarms(1);
            task.runner().orElseThrow().interrupt(); // without cancelling it

            assertThatThrownBy(task::await).hasCauseInstanceOf(InterruptedException.class);
            Outcome<String> outcome = task.outcome().orElseThrow();
            assertThat(((Outcome.Cancelled<String>) outcome).cause()).hasSuppressedException(failure);
        }
    }

    @Test
    void deferred_actions_do_not_see_an_interrupt_that_came_while_the_scope_closed() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        AtomicBoolean disturbed = new AtomicBoolean();
        Thread owner = Thread.currentThread();
        Thread interrupter = Thread.ofVirtual().unstarted(() -> {
            try {
                stubborn.awaitInterrupt(); // sent by close()
                owner.interrupt();
                stubborn.release();
            } catch (InterruptedException impossible) {
                events.add("interrupted");
            }
        });
        try (ThreadScope scope = ThreadScope.open()) {
            scope.submit(stubborn::call);
            stubborn.awaitBegun();
            scope.defer(() -> disturbed.set(Thread.currentThread().isInterrupted()));
            interrupter.start();
        }
        assertThat(Thread.interrupted()).isTrue();
        assertThat(disturbed).isFalse();
        assertThat(events).isEmpty();
    }

    @Test
    void a_task_out_of_time_before_its_admission_holds_nothing() throws Exception {
        TimeSource ringsAtOnce = new TimeSource() {
            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                action.run();
                return () -> false;
            }
        };
        try (ThreadScope scope = ThreadScope.open().withTimeSource(ringsAtOnce).withConcurrencyLimit(1)) {
            BlockingTask blocker = new BlockingTask();
            Task<String> holder = scope.submit(blocker::call);
            Task<String> late = scope.submit("late", () -> "never", Duration.ofSeconds(1));
            assertThatThrownBy(late::await).isInstanceOf(TaskTimeoutException.class);
            blocker.release();
            assertThat(holder.await()).isEqualTo("value");

            ScopeMetrics metrics = scope.metrics();
            assertThat(metrics.submitted()).isEqualTo(2);
            assertThat(metrics.failedBeforeStart()).isOne();
            assertThat(scope.submit(() -> "next").await()).isEqualTo("next");
        }
    }

    @Test
    void listeners_are_notified_of_an_alternative_before_its_end_although_the_join_is_over() throws Exception {
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                events.add("submitted " + task.name());
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                events.add("settled " + task.name());
            }
        };
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).addListener(listener)) {
            for (int i = 0; i < 200; i++) {
                Thread hedges = Thread.ofVirtual().start(() -> time.advance(Duration.ofSeconds(1)));
                scope.join(JoinStrategy.hedged(Duration.ofSeconds(1)), List.of(() -> 1, () -> 2));
                hedges.join();
            }
        }
        for (String event : events) {
            if (event.startsWith("settled")) {
                assertThat(events.indexOf(event.replace("settled", "submitted")))
                        .isBetween(0, events.indexOf(event));
            }
        }
    }

    @Test
    void a_scope_that_a_setter_closes_runs_token_actions_without_a_lock() {
        CountDownLatch notified = new CountDownLatch(1);
        try (ThreadScope scope = ThreadScope.open()) {
            scope.token().whenCancelled(() -> {
                Thread other = Thread.startVirtualThread(() -> {
                    scope.schedule(
                            Duration.ofSeconds(1),
                            () -> "never"); // creates the set that is guarded by the scope's lock
                    notified.countDown();
                });
                join(other);
            });
            assertThatThrownBy(() -> scope.withConcurrencyLimit(0)).isInstanceOf(IllegalArgumentException.class);
            assertThat(notified.getCount()).isZero();
        }
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
