package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.RealAlarms;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ScopeTimeTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private ThreadScope stepped() {
        return ThreadScope.open("s").withScheduler(steps).withTimeSource(time);
    }

    private ThreadScope threaded() {
        return ThreadScope.open("s").withTimeSource(time);
    }

    @Test
    void a_task_that_runs_out_of_time_has_failed_is_interrupted_and_does_not_affect_the_others() throws Exception {
        BlockingTask slow = new BlockingTask();
        BlockingTask other = new BlockingTask();
        try (ThreadScope scope = threaded()) {
            Task<String> task = scope.submit("slow", slow, SECOND);
            Task<String> goesOn = scope.submit("other", other::call);
            slow.awaitBegun();
            other.awaitBegun();

            time.advance(SECOND.minusNanos(1));
            assertThat(task.state()).isEqualTo(Task.State.RUNNING);
            time.advance(Duration.ofNanos(1));

            assertThat(task.state()).as("decided by the alarm itself").isEqualTo(Task.State.FAILED);
            slow.awaitInterrupt();
            assertThatThrownBy(task::await).isInstanceOfSatisfying(TaskTimeoutException.class, late -> {
                assertThat(late)
                        .hasMessage("task \"slow\" ran out of time after 1000 ms (its timeout), attempt 1 of 1");
                assertThat(late.task()).isEqualTo("slow");
                assertThat(late.budget()).isEqualTo(SECOND);
                assertThat(late.attempt()).isEqualTo(1);
            });
            assertThat(goesOn.state()).isEqualTo(Task.State.RUNNING);
            assertThat(scope.token().isCancelled()).isFalse();
            other.release();
            assertThat(goesOn.await()).isEqualTo("value");
        }
        assertThat(slow.interrupts()).isEqualTo(1);
        assertThat(other.interrupts()).isZero();
    }

    @Test
    void a_task_runs_out_of_time_while_it_waits_for_the_limit() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = threaded().withConcurrencyLimit(1)) {
            scope.submit(blocker::call);
            blocker.awaitBegun();
            Task<String> late = scope.submit("late", () -> "never", SECOND);
            Task<String> next = scope.submit("next", () -> "value");

            time.advance(SECOND);

            assertThatThrownBy(late::await)
                    .isInstanceOf(TaskTimeoutException.class)
                    .hasMessage("task \"late\" ran out of time after 1000 ms (its timeout), before it began");
            assertThat(scope.tasks.pending.unfinished()).hasSize(2);
            blocker.release();
            assertThat(next.await()).isEqualTo("value");
            assertThat(scope.metrics().failedBeforeStart()).isEqualTo(1);
        }
    }

    @Test
    void a_task_runs_out_of_time_while_its_scheduler_has_it() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (ThreadScope scope = stepped().withConcurrencyLimit(1)) {
            Task<Integer> late = scope.submit("late", calls::incrementAndGet, SECOND);
            Task<Integer> next = scope.submit("next", calls::incrementAndGet);

            time.advance(SECOND);
            assertThatThrownBy(late::await).isInstanceOf(TaskTimeoutException.class);
            Wait.until(() -> steps.size() == 2); // its permit is released in another thread
            steps.runAll();

            assertThat(next.await()).isEqualTo(1);
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    void a_task_that_ends_in_time_leaves_no_alarm() throws Exception {
        try (ThreadScope scope = stepped()) {
            Task<String> ends = scope.submit("ends", () -> "value", SECOND);
            Task<String> fails = scope.submit(
                    "fails",
                    () -> {
                        throw new IOException();
                    },
                    SECOND);
            Task<String> cancelled = scope.submit("cancelled", () -> "never", SECOND);
            assertThat(time.alarms()).isEqualTo(3);
            cancelled.cancel();
            assertThat(time.alarms()).isEqualTo(2);
            steps.runAll();
            assertThat(time.alarms()).isZero();
            time.advance(SECOND);
            assertThat(ends.await()).isEqualTo("value");
            assertThatThrownBy(fails::await).hasRootCauseInstanceOf(IOException.class);
        }
    }

    @Test
    void a_timeout_counts_from_the_submission() {
        try (ThreadScope scope = stepped()) {
            Task<String> task = scope.submit(
                    "t",
                    () -> {
                        time.advance(SECOND);
                        return "too late";
                    },
                    SECOND.multipliedBy(2));
            time.advance(SECOND);
            steps.runAll();
            assertThat(task.state()).isEqualTo(Task.State.FAILED);
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Test
    void a_timeout_longer_than_the_clocks_range_never_expires() throws Exception {
        try (ThreadScope scope = stepped().withDeadline(Duration.ofSeconds(Long.MAX_VALUE))) {
            Task<String> task = scope.submit("t", () -> "value", Duration.ofSeconds(Long.MAX_VALUE));
            time.advance(Duration.ofDays(36_500));
            steps.runAll();
            assertThat(task.await()).isEqualTo("value");
        }
    }

    @Test
    void when_the_deadline_passes_unfinished_tasks_are_cancelled_and_waits_throw() throws Exception {
        BlockingTask running = new BlockingTask();
        try (ThreadScope scope = threaded().withDeadline(SECOND).withConcurrencyLimit(1)) {
            Task<String> ended = scope.submit("ended", () -> "value");
            assertThat(ended.await()).isEqualTo("value");
            Task<String> runs = scope.submit("runs", running::call);
            Task<String> waits = scope.submit("waits", () -> "never");
            Task<String> later = scope.schedule(SECOND.multipliedBy(9), () -> "never");
            running.awaitBegun();
            FutureTask<ScopeResult> waiter = new FutureTask<>(() -> scope.await(ended, runs, waits));
            Thread thread = Thread.startVirtualThread(waiter);

            time.advance(SECOND);

            String message = "scope \"s\" ran out of time after 1000 ms; unfinished: \"runs\", \"waits\", \""
                    + later.name() + "\"";
            thread.join();
            assertThat(waiter.exceptionNow()).isInstanceOfSatisfying(ScopeTimeoutException.class, passed -> {
                assertThat(passed).hasMessage(message);
                assertThat(passed.scope()).isEqualTo("s");
                assertThat(passed.budget()).isEqualTo(SECOND);
                assertThat(passed.unfinished()).containsExactly("runs", "waits", later.name());
            });
            for (Task<String> task : List.of(runs, waits, later)) {
                assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
                assertThatThrownBy(task::await)
                        .isInstanceOf(ScopeTimeoutException.class)
                        .hasMessage(message);
                assertThatThrownBy(() -> scope.await(task)).isInstanceOf(ScopeTimeoutException.class);
                assertThatThrownBy(() -> scope.awaitAll(List.of(task))).isInstanceOf(ScopeTimeoutException.class);
                assertThat(task.toCompletableFuture().exceptionNow()).isInstanceOf(ScopeTimeoutException.class);
            }
            assertThat(ended.await()).as("what has its value keeps it").isEqualTo("value");
            assertThat(scope.token().isCancelled()).isTrue();
            assertThatThrownBy(scope.token()::throwIfCancelled)
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("the deadline of scope \"s\" passed after 1000 ms");
            assertThatThrownBy(scope.submit(() -> "too late")::await).isInstanceOf(ScopeTimeoutException.class);
            assertThat(scope.remaining()).contains(Duration.ZERO);
        }
        assertThat(running.interrupts()).isEqualTo(1);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_deadline_names_no_more_than_ten_and_counts_the_rest() throws Exception {
        try (ThreadScope scope = stepped().withDeadline(SECOND)) {
            Task<String> last = null;
            for (int i = 1; i <= 12; i++) {
                last = scope.submit(() -> "never");
            }
            time.advance(SECOND);
            assertThatThrownBy(last::await)
                    .isInstanceOfSatisfying(
                            ScopeTimeoutException.class,
                            passed -> assertThat(passed.unfinished()).hasSize(12))
                    .hasMessageEndingWith("\"task-9\", \"task-10\" and 2 more");
        }
    }

    @Test
    void a_deadline_after_the_close_or_a_cancel_changes_nothing() {
        Task<String> task;
        try (ThreadScope scope = stepped().withDeadline(SECOND)) {
            task = scope.submit(() -> "never");
            scope.cancel("earlier");
            time.advance(SECOND);
            assertThatThrownBy(task::await)
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("scope \"s\" was cancelled: earlier");
        }
        ThreadScope closed = stepped().withDeadline(SECOND);
        closed.close();
        assertThat(time.alarms()).isZero();
        assertThatThrownBy(closed.token()::throwIfCancelled).hasMessage("scope \"s\" was closed");
    }

    @Test
    void a_task_that_succeeds_in_spite_of_the_deadline_stays_cancelled() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        Task<String> task;
        try (ThreadScope scope = threaded().withDeadline(SECOND)) {
            task = scope.submit(stubborn::call);
            stubborn.awaitBegun();
            time.advance(SECOND);
            stubborn.awaitInterrupt();
            stubborn.release();
        }
        assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
        assertThat(task.outcome()).get().isInstanceOf(Outcome.Cancelled.class);
    }

    @Test
    void hooks_listeners_and_actions_of_an_alarm_run_in_another_thread_and_delay_no_other_alarm() throws Exception {
        CountDownLatch letGo = new CountDownLatch(1);
        BlockingQueue<Thread> callers = new LinkedBlockingQueue<>();
        ThreadHook hook = new ThreadHook() {
            @Override
            public void onFailure(TaskInfo task, Throwable error, Duration ran) {
                callers.add(Thread.currentThread());
                Wait.uninterrupted(letGo);
            }

            @Override
            public void onCancel(TaskInfo task, Duration ran) {
                callers.add(Thread.currentThread());
                Wait.uninterrupted(letGo);
            }
        };
        TaskListener listener = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                callers.add(Thread.currentThread());
            }
        };
        try (ThreadScope scope = stepped()
                .withTimeSource(new RealAlarms(time))
                .addHook(hook)
                .addListener(listener)
                .withDeadline(SECOND.multipliedBy(3))) {
            Task<String> one = scope.submit("one", () -> "never", SECOND);
            Task<String> two = scope.submit("two", () -> "never", SECOND.multipliedBy(2));
            Task<String> three = scope.submit("three", () -> "never");
            scope.token().whenCancelled(() -> callers.add(Thread.currentThread()));
            one.toCompletableFuture().whenComplete((value, error) -> callers.add(Thread.currentThread()));

            for (Task<String> next : List.of(one, two, three)) { // decisions of one moment have no order
                time.advance(SECOND); // would not return if a hook were called in this thread
                Wait.until(next::isDone); // while the hooks of the others wait
            }
            letGo.countDown();
            assertThatThrownBy(one::await).isInstanceOf(TaskTimeoutException.class);
            for (int i = 0; i < 8; i++) {
                assertThat(callers.take()).isNotSameAs(Thread.currentThread());
            }
        }
    }

    @Test
    void a_scheduled_task_begins_when_its_time_has_come() throws Exception {
        try (ThreadScope scope = threaded()) {
            Task<String> task = scope.schedule(SECOND, () -> "value");
            time.advance(SECOND.minusNanos(1));
            assertThat(task.state()).isEqualTo(Task.State.PENDING);

            time.advance(Duration.ofNanos(1));

            assertThat(task.await()).isEqualTo("value");
            assertThat(scope.metrics().totalWait())
                    .as("the delay is no waiting")
                    .isZero();
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_zero_or_negative_delay_does_not_wait() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            assertThat(scope.schedule(Duration.ZERO, () -> 1).await()).isEqualTo(1);
            assertThat(scope.schedule(Duration.ofSeconds(-1), () -> 2).await()).isEqualTo(2);
        }
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time)) {
            Task<Integer> task = scope.schedule(Duration.ofSeconds(-1), () -> 3);
            time.advance(Duration.ZERO);
            assertThat(task.await()).isEqualTo(3);
            assertThat(scope.metrics().totalWait()).isZero();
        }
    }

    @Test
    void a_scheduled_task_that_is_cancelled_or_whose_scope_ends_never_begins() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        List<String> events = new CopyOnWriteArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                events.add(task.name() + " submitted");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                events.add(task.name() + " " + outcome.status());
            }
        };
        Task<Integer> two;
        ScopeMetrics metrics;
        try (ThreadScope scope = threaded().addListener(listener)) {
            Task<Integer> one = scope.schedule(SECOND, calls::incrementAndGet);
            two = scope.schedule(SECOND, calls::incrementAndGet);
            assertThat(time.alarms()).isEqualTo(2);
            assertThat(one.cancel()).isTrue();
            assertThat(one.cancel()).isFalse();
            assertThat(time.alarms()).isEqualTo(1);
            scope.close();
            metrics = scope.metrics();
        }
        time.advance(SECOND);
        assertThat(time.alarms()).isZero();
        assertThat(two.isCancelled()).isTrue();
        assertThatThrownBy(two::await).hasMessage("scope \"s\" was closed");
        assertThat(calls).hasValue(0);
        assertThat(events)
                .containsExactly("task-1 submitted", "task-2 submitted", "task-1 CANCELLED", "task-2 CANCELLED");
        assertThat(metrics.submitted()).isEqualTo(2);
        assertThat(metrics.cancelledBeforeStart()).isEqualTo(2);
    }

    @Test
    void a_job_at_a_fixed_rate_runs_at_its_moments_and_a_late_round_at_once() throws Exception {
        BlockingQueue<Long> moments = new LinkedBlockingQueue<>();
        Semaphore mayEnd = new Semaphore(1);
        try (ThreadScope scope = threaded()) {
            Task<?> job = scope.scheduleAtFixedRate(SECOND, SECOND.multipliedBy(2), () -> {
                moments.add(Duration.ofNanos(time.nanoTime()).toSeconds());
                mayEnd.acquireUninterruptibly();
            });
            time.advance(SECOND);
            assertThat(moments.take()).isEqualTo(1);
            time.awaitAlarms(1);
            time.advance(SECOND.multipliedBy(2));
            assertThat(moments.take()).isEqualTo(3);
            time.advance(SECOND.multipliedBy(3)); // the round due at 5 begins late, at 6
            assertThat(moments).isEmpty();
            mayEnd.release();
            time.awaitAlarms(1);
            time.advance(Duration.ZERO);
            assertThat(moments.take()).isEqualTo(6);
            mayEnd.release();
            time.awaitAlarms(1);
            time.advance(SECOND);
            assertThat(moments.take()).as("back in step").isEqualTo(7);
            mayEnd.release(9);
            time.awaitAlarms(1);

            assertThat(job.state()).isEqualTo(Task.State.PENDING);
            assertThat(scope.metrics().submitted()).as("rounds").isEqualTo(4);
        }
        Wait.until(() -> time.alarms() == 0); // a round that has just ended cancels its next alarm
    }

    @Test
    void a_job_with_a_fixed_delay_waits_after_each_round() throws Exception {
        BlockingQueue<Long> moments = new LinkedBlockingQueue<>();
        Semaphore mayEnd = new Semaphore(0);
        try (ThreadScope scope = threaded()) {
            scope.scheduleWithFixedDelay(Duration.ZERO, SECOND.multipliedBy(2), () -> {
                moments.add(Duration.ofNanos(time.nanoTime()).toSeconds());
                mayEnd.acquireUninterruptibly();
            });
            time.advance(Duration.ZERO);
            assertThat(moments.take()).isZero();
            time.advance(SECOND.multipliedBy(5));
            mayEnd.release();
            time.awaitAlarms(1);
            time.advance(SECOND.multipliedBy(2).minusNanos(1));
            assertThat(moments).isEmpty();
            time.advance(Duration.ofNanos(1));
            assertThat(moments.take()).isEqualTo(7);
            mayEnd.release(9);
        }
        Wait.until(() -> time.alarms() == 0); // a round that has just ended cancels its next alarm
    }

    @Test
    void a_round_that_begins_while_its_alarm_is_being_armed_does_not_hide_the_next_alarm() throws Exception {
        AtomicInteger armings = new AtomicInteger();
        CountDownLatch armed = new CountDownLatch(1);
        CountDownLatch mayReturn = new CountDownLatch(1);
        AtomicReference<Thread> arming = new AtomicReference<>();
        TimeSource slow = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                Alarm alarm = time.after(delay, action);
                if (armings.incrementAndGet() == 2) { // the end of the first round arms the second one
                    arming.set(Thread.currentThread());
                    armed.countDown();
                    Wait.uninterruptibly(mayReturn);
                }
                return alarm;
            }
        };
        try (ThreadScope scope = ThreadScope.open("s").withTimeSource(slow)) {
            scope.scheduleWithFixedDelay(Duration.ZERO, SECOND, () -> {});
            time.advance(Duration.ZERO);
            armed.await();
            time.advance(SECOND);
            time.awaitAlarms(1);
            mayReturn.countDown();
            arming.get().join();
        }
        Wait.until(() -> time.alarms() == 0);
    }

    @Test
    void a_job_that_throws_stops_and_its_failure_is_visible() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        IllegalStateException failure = new IllegalStateException("round 2");
        try (ThreadScope scope = threaded().withFailurePolicy(FailurePolicy.SUPERVISOR)) {
            Task<?> job = scope.scheduleAtFixedRate(SECOND, SECOND, () -> {
                if (rounds.incrementAndGet() == 2) {
                    throw failure;
                }
            });
            time.advance(SECOND);
            time.awaitAlarms(1);
            time.advance(SECOND);

            assertThatThrownBy(job::await).isSameAs(failure);
            assertThat(job.state()).isEqualTo(Task.State.FAILED);
            assertThat(scope.await(job).failures()).containsExactly(failure);
            assertThat(time.alarms()).isZero();
            time.advance(SECOND.multipliedBy(9));
            assertThat(rounds).hasValue(2);
            assertThat(scope.metrics().failed()).isEqualTo(1);
        }
    }

    @Test
    void a_job_that_is_cancelled_has_its_round_interrupted_and_never_runs_again() throws Exception {
        BlockingTask blocker = new BlockingTask();
        AtomicInteger rounds = new AtomicInteger();
        try (ThreadScope scope = threaded()) {
            Task<?> job = scope.scheduleWithFixedDelay(SECOND, SECOND, () -> {
                rounds.incrementAndGet();
                try {
                    blocker.call();
                } catch (InterruptedException wanted) {
                    Thread.currentThread().interrupt();
                }
            });
            time.advance(SECOND);
            blocker.awaitBegun();

            assertThat(job.cancel()).isTrue();

            blocker.awaitInterrupt();
            scope.tasks.pending.untilEmpty().await();
            assertThat(job.isCancelled()).isTrue();
            assertThat(time.alarms()).isZero();
        }
        assertThat(rounds).hasValue(1);
    }

    @Test
    void a_job_ends_with_its_scope_in_every_state() throws Exception {
        BlockingTask blocker = new BlockingTask();
        List<Task<?>> jobs = new ArrayList<>();
        try (ThreadScope scope = threaded()) {
            jobs.add(scope.scheduleAtFixedRate(SECOND.multipliedBy(9), SECOND, () -> {}));
            jobs.add(scope.scheduleAtFixedRate(SECOND, SECOND, () -> {
                try {
                    blocker.call();
                } catch (InterruptedException wanted) {
                    throw new IllegalStateException(wanted);
                }
            }));
            time.advance(SECOND);
            blocker.awaitBegun();
        }
        assertThat(jobs).allMatch(Task::isCancelled);
        assertThat(blocker.interrupts()).isEqualTo(1);
        assertThat(time.alarms()).isZero();
    }
}
