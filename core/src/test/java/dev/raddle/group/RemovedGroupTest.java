package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.Entry;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Locks;
import dev.raddle.task.CancelledException;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that finds its group retired enters the next one. An end of the run meanwhile unlinks it there, or nowhere. */
class RemovedGroupTest {

    private static final Duration LIMIT = Duration.ofMillis(3);

    private final VirtualTime time = new VirtualTime();

    /** Makes an enclosure the innermost one of the calling thread during an action. */
    private final class Request extends EnclosingScope {
        private final Deadline deadline = Deadline.after(time, LIMIT);

        @Override
        public Deadline deadline() {
            return deadline;
        }

        @Override
        public String label() {
            return "request";
        }

        <T> T inside(Callable<T> action) throws Exception {
            enter();
            try {
                return action.call();
            } finally {
                leave();
            }
        }
    }

    /**
     * A time source whose first alarm fires while it is armed, in a thread of its own. That thread stops at its next
     * reading of the clock until it is released.
     */
    private final class HastyTime implements TimeSource {
        private final CountDownLatch reads = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);
        private final Thread firing = Thread.ofPlatform().unstarted(() -> time.advance(LIMIT));

        @Override
        public long nanoTime() {
            if (Thread.currentThread() == firing) {
                reads.countDown();
                Wait.uninterrupted(mayGoOn);
            }
            return time.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            Alarm alarm = time.after(delay, action);
            if (firing.getState() == Thread.State.NEW) {
                firing.start();
                Wait.uninterrupted(reads);
            }
            return alarm;
        }

        @Override
        public boolean follow(Runnable action) {
            return time.follow(action);
        }

        @Override
        public boolean isVirtual() {
            return time.isVirtual();
        }

        void goOn() {
            mayGoOn.countDown();
            try {
                firing.join();
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"timeout, false", "timeout, true", "deadline, false", "deadline, true"})
    void an_alarm_that_has_read_the_removed_group_does_not_change_the_queue_of_the_next(String limit, boolean capped)
            throws Exception {
        HastyTime hasty = new HastyTime();
        AtomicReference<@Nullable GroupExecutor> evicting = new AtomicReference<>();
        TaskListener evictor = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                GroupExecutor executor = evicting.getAndSet(null);
                if (executor != null) {
                    executor.evictGroup("g"); // the submitter has read the group but not entered it
                }
            }
        };
        GroupPolicy.Builder rules = GroupPolicy.builder()
                .timeSource(hasty)
                .closeTimeout(Duration.ZERO)
                .addListener(evictor)
                .concurrencyResolver(key -> {
                    hasty.goOn(); // the task waits in the next group until its limit is known
                    return 1;
                });
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor((capped ? rules.globalMaxInFlight(8) : rules).build())) {
            evicting.set(executor);
            TaskSpec<String> spec = TaskSpec.named("late", () -> "never");
            TaskHandle<String> late;
            try {
                late = limit.equals("timeout")
                        ? executor.submit("g", spec.timeout(LIMIT))
                        : new Request().inside(() -> executor.submit("g", spec));
            } finally {
                hasty.goOn();
            }

            GroupResult<String> result = late.await();
            assertThat(result.error())
                    .isInstanceOf(limit.equals("timeout") ? TaskTimeoutException.class : CancelledException.class);
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(executor.awaitIdle("g", Duration.ZERO)).isTrue();
            assertThat(executor.submit("g", "further", () -> "value").await().value())
                    .isEqualTo("value");
            assertThat(time.alarms()).isLessThanOrEqualTo(1); // the alarm of the idle group
        }
    }

    @Test
    void a_run_that_was_moved_is_withdrawn_only_from_the_queue_in_which_it_waits() {
        StepScheduler steps = new StepScheduler();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).timeSource(time).build())) {
            Group gone = new Group("g", executor.engine);
            gone.retireIfEmpty();
            Group next = new Group("g", executor.engine);
            GroupRun<String> run = new GroupRun<>(gone, "run", () -> "value", 0, null);
            assertThat(gone.admit(run)).isEqualTo(Entry.RETIRED);
            assertThat(run.withdraw()).as("it is in no queue yet").isNull();
            gone.moveTo(run, next);
            assertThat(next.admit(run)).isEqualTo(Entry.UNRESOLVED);

            assertThat(gone.withdraw(run, new GrantedPermits())).isFalse();
            assertThat(gone.holds(run)).isFalse();
            assertThat(gone.explain(run)).isEqualTo(Explanation.NOTHING);
            gone.release(run, 0, 0, 0, new GrantedPermits(), null, null);

            assertThat(next.explain(run).place()).isZero();
            assertThat(run.withdraw()).isNotNull();
            assertThat(next.explain(run)).isEqualTo(Explanation.NOTHING);
            assertThat(next.isRetired()).as("nothing waits in it").isTrue();
        }
    }

    @Test
    void a_task_that_ended_before_it_entered_takes_no_slot_and_no_place_in_the_queue() throws InterruptedException {
        StepScheduler steps = new StepScheduler();
        TaskListener canceller = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                if (task.name().equals("cancelled")) {
                    assertThat(((TaskHandle<?>) task).cancel(true)).isTrue();
                }
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).timeSource(time).addListener(canceller).build())) {
            for (String key : List.of("unknown", "known")) {
                if (key.equals("known")) {
                    executor.submit(key, "holder", () -> "value");
                }
                TaskHandle<String> plain = executor.submit(key, "cancelled", () -> "never");
                TaskHandle<String> timed = executor.submit(
                        key, TaskSpec.named("cancelled", () -> "never").timeout(LIMIT));

                assertThat(plain.await().status()).isEqualTo(TaskStatus.CANCELLED);
                assertThat(timed.await().status()).isEqualTo(TaskStatus.CANCELLED);
                assertThat(executor.stats().totalQueuedCount()).isZero();
                assertThat(time.alarms()).isZero();
            }
            assertThat(executor.activeGroupKeys()).containsExactly("known");
            assertThat(steps.size()).as("only the holder was started").isEqualTo(1);
            steps.runAll();
        }
    }

    @Test
    void a_call_that_is_granted_at_the_moment_of_its_timeout_releases_the_slot() throws Exception {
        StepScheduler steps = new StepScheduler();
        AtomicReference<@Nullable Runnable> whenGranted = new AtomicReference<>();
        TimeSource hooked = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                Alarm alarm = time.after(delay, action);
                return () -> {
                    Runnable grantedFirst = delay.compareTo(LIMIT) > 0 ? whenGranted.getAndSet(null) : null;
                    if (grantedFirst != null) {
                        grantedFirst.run();
                    }
                    return alarm.cancel();
                };
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).timeSource(hooked).build())) {
            TaskHandle<String> holder = executor.submit("g", "holder", () -> "value");
            FutureTask<Optional<String>> caller = new FutureTask<>(
                    () -> new Request().inside(() -> executor.tryCall("g", LIMIT.multipliedBy(2), () -> "never")));
            Thread thread = Thread.ofPlatform().start(caller);
            time.awaitAlarms(2); // those of the request and of the queue
            Wait.until(() -> thread.getState() == Thread.State.WAITING);
            whenGranted.set(() -> {
                time.advance(LIMIT); // the call is granted, its thread is not awake yet, and its timeout passes
                try {
                    thread.join();
                } catch (InterruptedException interrupt) {
                    throw new AssertionError(interrupt);
                }
            });

            steps.runNext();

            assertThatThrownBy(caller::get).hasCauseInstanceOf(CancelledException.class);
            assertThat(holder.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(executor.stats().totalActiveCount()).isZero();
            TaskHandle<String> further = executor.submit("g", "further", () -> "value");
            steps.runAll();
            assertThat(further.isDone()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_submission_a_timeout_and_an_eviction_may_acquire_the_groups_lock_in_any_order(boolean capped)
            throws Exception {
        StepScheduler steps = new StepScheduler();
        GroupPolicy.Builder rules = TestTasks.stepped(steps).timeSource(time).rejectionPolicy(RejectionPolicy.DISCARD);
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor((capped ? rules.globalMaxInFlight(4) : rules).build())) {
            for (int round = 0; round < 100; round++) {
                executor.pauseGroup("g");
                TaskHandle<String> evicted = executor.submit("g", "evicted", () -> "never");
                FutureTask<TaskHandle<String>> submitter = new FutureTask<>(() ->
                        executor.submit("g", TaskSpec.named("timed", () -> "").timeout(LIMIT)));
                FutureTask<Void> alarm = new FutureTask<>(() -> time.advance(LIMIT), null);
                FutureTask<Void> evictor = new FutureTask<>(() -> executor.evictGroup("g"), null);
                Locks.holding(((GroupRun<?>) evicted).group, () -> {
                    for (FutureTask<?> each : List.of(submitter, alarm, evictor)) {
                        Thread thread = Thread.ofPlatform().start(each);
                        Wait.until(() -> Locks.waits(thread));
                    }
                });
                alarm.get();
                evictor.get();
                assertNothingIsHeld(executor, steps, List.of(evicted, submitter.get()));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void timeouts_that_race_with_the_removal_of_a_group_leave_no_permit_and_no_alarm(boolean capped) throws Exception {
        StepScheduler steps = new StepScheduler();
        GroupPolicy.Builder rules =
                TestTasks.stepped(steps).idleGroupTtl(Duration.ZERO).rejectionPolicy(RejectionPolicy.DISCARD);
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor((capped ? rules.globalMaxInFlight(4) : rules).build())) {
            AtomicInteger arrivals = new AtomicInteger();
            ConcurrentLinkedQueue<TaskHandle<?>> handles = new ConcurrentLinkedQueue<>();
            List<Callable<Void>> submitters = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                int offset = thread;
                submitters.add(() -> {
                    for (int i = 0; i < 500; i++) {
                        TestTasks.meet(arrivals, 4);
                        Duration timeout = Duration.ofNanos(1_000 * (1 + (i + 10 * offset) % 40));
                        handles.add(executor.submit(
                                "g", TaskSpec.named("timed", () -> "").timeout(timeout)));
                        steps.runNext();
                    }
                    return null;
                });
            }
            Together.together(submitters);
            steps.runAll();
            assertNothingIsHeld(executor, steps, handles);
        }
    }

    private static void assertNothingIsHeld(
            GroupExecutor executor, StepScheduler steps, Collection<TaskHandle<?>> handles) throws Exception {
        for (TaskHandle<?> handle : handles) {
            handle.await();
        }
        steps.runAll();
        TaskHandle<String> further = executor.submit("g", "further", () -> "value");
        steps.runAll();
        assertThat(further.isDone()).isTrue();
        assertThat(further.await().value()).isEqualTo("value");
        assertThat(executor.awaitIdle("g", Duration.ZERO)).isTrue();
        GroupExecutorStats stats = executor.stats();
        assertThat(stats.totalQueuedCount()).isZero();
        assertThat(stats.totalActiveCount()).isZero();
        assertThat(stats.globalInFlightUsed()).isZero();
    }
}
