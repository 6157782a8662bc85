package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.RealAlarms;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HooksAndMetricsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<String> events = new CopyOnWriteArrayList<>();

    private ThreadScope stepped() {
        return ThreadScope.open("s").withScheduler(steps).withTimeSource(time);
    }

    private ThreadHook named(String name) {
        return new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                events.add(name + ": " + task.name() + " started");
            }

            @Override
            public void onSuccess(TaskInfo task, Duration ran) {
                events.add(name + ": " + task.name() + " succeeded after " + ran.toSeconds());
            }

            @Override
            public void onFailure(TaskInfo task, Throwable error, Duration ran) {
                events.add(name + ": " + task.name() + " failed after " + ran.toSeconds() + ", " + error.getMessage());
            }

            @Override
            public void onCancel(TaskInfo task, Duration ran) {
                events.add(name + ": " + task.name() + " cancelled after " + ran.toSeconds());
            }
        };
    }

    /** A hook that always throws. */
    private static final class Throwing implements ThreadHook {
        @Override
        public void onStart(TaskInfo task) {
            throw new StackOverflowError("onStart");
        }

        @Override
        public void onSuccess(TaskInfo task, Duration ran) {
            throw new IllegalStateException("onSuccess");
        }

        @Override
        public void onFailure(TaskInfo task, Throwable error, Duration ran) {
            throw new IllegalStateException("onFailure");
        }

        @Override
        public void onCancel(TaskInfo task, Duration ran) {
            throw new IllegalStateException("onCancel");
        }
    }

    @Test
    void every_task_is_counted_once_in_the_right_number() throws Exception {
        AtomicBoolean refuse = new AtomicBoolean();
        try (ThreadScope scope = stepped().withScheduler(task -> {
            if (refuse.get()) {
                throw new java.util.concurrent.RejectedExecutionException("full");
            }
            steps.execute(task);
        })) {
            scope.submit(() -> "");
            scope.submit(() -> {
                throw new IOException();
            });
            scope.submit(() -> {
                throw new InterruptedException();
            });
            scope.submit(() -> "never").cancel();
            refuse.set(true);
            scope.submit(() -> "never");
            refuse.set(false);
            List<ScopeMetrics> inside = new ArrayList<>();
            scope.submit(() -> inside.add(scope.metrics()));
            steps.runAll();

            ScopeMetrics one = inside.getFirst();
            assertThat(one.started()).isEqualTo(4);
            assertThat(one.running()).isEqualTo(1);
            ScopeMetrics end = scope.metrics();
            assertThat(end.submitted()).isEqualTo(6);
            assertThat(end.started()).isEqualTo(4);
            assertThat(end.succeeded()).isEqualTo(2);
            assertThat(end.failed()).isEqualTo(1);
            assertThat(end.cancelled()).isEqualTo(1);
            assertThat(end.running()).isZero();
            assertThat(end.completed()).isEqualTo(4);
            assertThat(end.cancelledBeforeStart()).isEqualTo(1);
            assertThat(end.failedBeforeStart()).isEqualTo(1);
        }
    }

    @Test
    void the_numbers_agree_at_every_instant_and_at_the_end() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger reads = new AtomicInteger();
        ThreadScope scope = ThreadScope.open().withConcurrencyLimit(3);
        Thread reader = Thread.ofPlatform().start(() -> {
            long submitted = 0;
            while (!over.get()) {
                ScopeMetrics now = scope.metrics();
                boolean agree = now.started() == now.completed() + now.running()
                        && now.running() >= 0
                        && now.started() + now.failedBeforeStart() + now.cancelledBeforeStart() <= now.submitted()
                        && now.submitted() >= submitted;
                submitted = now.submitted();
                wrong.addAndGet(agree ? 0 : 1);
                reads.incrementAndGet();
            }
        });
        int count = 20_000;
        List<Task<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int value = i;
            tasks.add(scope.submit(() -> {
                if (value % 3 == 0) {
                    throw new IOException();
                }
                return value;
            }));
            if (i % 5 == 0) {
                tasks.get(i / 2).cancel();
            }
        }
        Wait.until(() -> reads.get() > 100);
        scope.close();
        over.set(true);
        reader.join();
        ScopeMetrics end = scope.metrics();

        assertThat(wrong).hasValue(0);
        assertThat(end.submitted()).isEqualTo(count);
        assertThat(end.running()).isZero();
        assertThat(end.started() + end.cancelledBeforeStart() + end.failedBeforeStart())
                .isEqualTo(count);
        assertThat(end.succeeded())
                .isEqualTo(tasks.stream()
                        .filter(task -> task.state() == Task.State.SUCCESS)
                        .count());
        assertThat(end.failed()).isEqualTo(tasks.stream().filter(Task::isFailed).count());
        assertThat(end.cancelled() + end.cancelledBeforeStart())
                .isEqualTo(tasks.stream().filter(Task::isCancelled).count());
    }

    @Test
    void a_task_that_is_cancelled_at_the_last_moment_has_not_started() {
        List<Task<?>> itself = new ArrayList<>();
        dev.raddle.task.TaskListener cancels = new dev.raddle.task.TaskListener() {
            @Override
            public void onStarted(dev.raddle.task.TaskIdentity task, long waitNanos) {
                itself.getFirst().cancel();
            }
        };
        try (ThreadScope scope = stepped().addListener(cancels).addHook(named("hook"))) {
            itself.add(scope.submit("t", () -> events.add("never")));
            time.advance(SECOND);
            steps.runAll();
            ScopeMetrics metrics = scope.metrics();
            assertThat(metrics.started()).isZero();
            assertThat(metrics.cancelledBeforeStart()).isEqualTo(1);
            assertThat(metrics.totalWait()).isZero();
            assertThat(metrics.running()).isZero();
        }
        assertThat(events).containsExactly("hook: t cancelled after 0");
    }

    @Test
    void durations_exclude_waiting_which_is_measured_separately() {
        try (ThreadScope scope = stepped().withConcurrencyLimit(1)) {
            assertThat(scope.metrics().averageDuration()).isZero();
            assertThat(scope.metrics().averageWait()).isZero();
            for (int length : new int[] {1, 5}) {
                scope.submit(() -> {
                    time.advance(SECOND.multipliedBy(length));
                    return "";
                });
            }
            scope.submit(() -> "never").cancel();
            time.advance(SECOND.multipliedBy(3));
            steps.runAll();
            ScopeMetrics metrics = scope.metrics();

            assertThat(metrics.totalDuration()).isEqualTo(SECOND.multipliedBy(6));
            assertThat(metrics.averageDuration()).isEqualTo(SECOND.multipliedBy(3));
            assertThat(metrics.maxDuration()).isEqualTo(SECOND.multipliedBy(5));
            assertThat(metrics.totalWait()).as("3 s and 4 s").isEqualTo(SECOND.multipliedBy(7));
            assertThat(metrics.averageWait()).isEqualTo(Duration.ofMillis(3_500));
        }
    }

    @Test
    void a_cancelled_task_has_run_until_its_cancel() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).addHook(named("hook"))) {
            Task<String> task = scope.submit("t", stubborn::call);
            stubborn.awaitBegun();
            time.advance(SECOND.multipliedBy(2));
            task.cancel();
            time.advance(SECOND.multipliedBy(2));
            stubborn.release();
            assertThat(scope.metrics().totalDuration()).isEqualTo(SECOND.multipliedBy(2));
            assertThat(scope.metrics().cancelled()).isEqualTo(1);
        }
        assertThat(events).containsExactly("hook: t started", "hook: t cancelled after 2");
    }

    @Test
    void the_description_of_the_scheduler_is_read_once_and_has_no_state_of_its_pool() throws Exception {
        AtomicInteger read = new AtomicInteger();
        Scheduler described = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                steps.execute(task);
            }

            @Override
            public String toString() {
                return "read " + read.incrementAndGet() + " times";
            }
        };
        List<String> schedulers = new CopyOnWriteArrayList<>();
        ThreadHook looks = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                schedulers.add(task.schedulerName());
            }
        };
        ScopeOptions options = ScopeOptions.defaults().addHook(looks);
        try (ThreadScope scope = ThreadScope.open("s", options.withScheduler(described))) {
            scope.submit(() -> "");
            scope.submit(() -> "");
            steps.runAll();
        }
        try (ThreadScope scope = ThreadScope.open("s", options.withScheduler(Scheduler.fixed(1)))) {
            scope.submit(() -> "").await();
        }
        assertThat(schedulers).containsExactly("read 1 times", "read 1 times", "scheduler on pool \"raddle-fixed\"");
    }

    @Test
    void a_hook_is_notified_of_at_most_one_start_and_one_end_of_each_task() {
        Instant before = Instant.now();
        List<TaskInfo> infos = new ArrayList<>();
        ThreadHook looks = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                infos.add(task);
            }
        };
        try (ThreadScope scope = stepped().addHook(named("hook")).addHook(looks)) {
            scope.submit("a", () -> "");
            scope.submit("b", () -> {
                time.advance(SECOND);
                throw new IOException("disk");
            });
            scope.submit("c", () -> {
                throw new InterruptedException();
            });
            scope.submit("d", () -> "never").cancel();
            steps.runAll();
            scope.cancel("late");
            assertThat(infos.getFirst().scopeId()).isEqualTo(scope.id());
            assertThat(infos.getFirst().createdAt()).isBetween(before, Instant.now());
        }
        assertThat(events)
                .containsExactly(
                        "hook: d cancelled after 0",
                        "hook: a started",
                        "hook: a succeeded after 0",
                        "hook: b started",
                        "hook: b failed after 1, disk",
                        "hook: c started",
                        "hook: c cancelled after 0");
    }

    @Test
    void a_hook_is_notified_of_an_end_after_the_start_although_the_task_ends_meanwhile() {
        List<Task<?>> itself = new ArrayList<>();
        ThreadHook cancels = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                events.add("start");
                assertThat(itself.getFirst().cancel()).isTrue();
                events.add("started");
            }

            @Override
            public void onCancel(TaskInfo task, Duration ran) {
                events.add("cancelled");
            }
        };
        try (ThreadScope scope = stepped().addHook(cancels)) {
            itself.add(scope.submit("t", () -> events.add("never")));
            steps.runAll();
            assertThat(itself.getFirst().state()).isEqualTo(Task.State.CANCELLED);
        }
        assertThat(events).containsExactly("start", "started", "cancelled");
    }

    @Test
    void a_race_of_an_end_and_a_cancel_is_notified_once() throws Exception {
        ConcurrentHashMap<TaskInfo, AtomicInteger> ends = new ConcurrentHashMap<>();
        ThreadHook counts = new ThreadHook() {
            private void count(TaskInfo task) {
                ends.computeIfAbsent(task, key -> new AtomicInteger()).incrementAndGet();
            }

            @Override
            public void onSuccess(TaskInfo task, Duration ran) {
                count(task);
            }

            @Override
            public void onCancel(TaskInfo task, Duration ran) {
                count(task);
            }
        };
        int count = 5_000;
        try (ThreadScope scope = ThreadScope.open().addHook(counts).withScheduler(Scheduler.fixed(1))) {
            for (int i = 0; i < count; i++) {
                AtomicBoolean begun = new AtomicBoolean();
                Task<String> task = scope.submit(() -> {
                    begun.set(true);
                    return "";
                });
                if (i % 2 == 0) {
                    Wait.until(begun::get);
                }
                task.cancel();
            }
        }
        assertThat(ends).hasSize(count);
        assertThat(ends.values()).allMatch(times -> times.get() == 1);
    }

    @Test
    void an_exception_of_a_hook_affects_neither_the_task_nor_the_next_hook_and_goes_to_the_sink() throws Exception {
        List<String> swallowed = new CopyOnWriteArrayList<>();
        ThreadHook pair = new Throwing().andThen(named("next").andThen(new Throwing()));
        try (ThreadScope scope = stepped()
                .addHook(pair)
                .addHook(named("last"))
                .withExceptionSink(
                        ExceptionSink.to((source, error) -> swallowed.add(source + ": " + error.getMessage())))) {
            Task<String> good = scope.submit("good", () -> "value");
            Task<String> bad = scope.submit("bad", () -> {
                throw new IOException("disk");
            });
            Task<String> off = scope.submit("off", () -> "never");
            off.cancel();
            steps.runAll();

            assertThat(good.await()).isEqualTo("value");
            assertThat(bad.isFailed()).isTrue();
            assertThat(off.isCancelled()).isTrue();
            assertThat(scope.metrics().completed()).isEqualTo(2);
        }
        assertThat(events)
                .containsExactly(
                        "next: off cancelled after 0",
                        "last: off cancelled after 0",
                        "next: good started",
                        "last: good started",
                        "next: good succeeded after 0",
                        "last: good succeeded after 0",
                        "next: bad started",
                        "last: bad started",
                        "next: bad failed after 0, disk",
                        "last: bad failed after 0, disk");
        assertThat(swallowed)
                .containsExactly(
                        "onCancel of the hook, for task \"off\" in scope \"s\": onCancel",
                        "onStart of the hook, for task \"good\" in scope \"s\": onStart",
                        "onSuccess of the hook, for task \"good\" in scope \"s\": onSuccess",
                        "onStart of the hook, for task \"bad\" in scope \"s\": onStart",
                        "onFailure of the hook, for task \"bad\" in scope \"s\": onFailure");
    }

    @Test
    void a_listener_that_throws_changes_nothing() throws Exception {
        List<String> swallowed = new CopyOnWriteArrayList<>();
        dev.raddle.task.TaskListener throwing = new dev.raddle.task.TaskListener() {
            @Override
            public void onSubmitted(dev.raddle.task.TaskIdentity task) {
                throw new IllegalStateException("submitted");
            }

            @Override
            public void onStarted(dev.raddle.task.TaskIdentity task, long waitNanos) {
                throw new AssertionError("started");
            }

            @Override
            public void onSettled(
                    dev.raddle.task.TaskIdentity task, dev.raddle.task.Outcome<?> outcome, long runNanos) {
                throw new IllegalStateException("settled");
            }
        };
        try (ThreadScope scope = stepped()
                .addListener(throwing)
                .withExceptionSink(ExceptionSink.to((source, error) -> swallowed.add(source)))) {
            Task<String> task = scope.submit(() -> "value");
            steps.runAll();
            assertThat(task.await()).isEqualTo("value");
        }
        assertThat(swallowed)
                .containsExactly(
                        "onSubmitted of the listener, for task \"task-1\" in scope \"s\"",
                        "onStarted of the listener, for task \"task-1\" in scope \"s\"",
                        "onSettled of the listener, for task \"task-1\" in scope \"s\"");
    }

    @Test
    void a_slow_task_is_reported_while_it_runs_and_again_with_its_final_duration() throws Exception {
        BlockingQueue<SlowTaskEvent> slowEvents = new LinkedBlockingQueue<>();
        BlockingTask blocker = new BlockingTask();
        SlowTaskHook slow = SlowTaskHook.create(SECOND, slowEvents::add, time);
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).addHook(slow)) {
            Task<String> task = scope.submit("slow", blocker::call);
            blocker.awaitBegun();
            time.advance(SECOND.minusNanos(1));
            assertThat(time.alarms()).isEqualTo(1);
            time.advance(Duration.ofNanos(1));

            SlowTaskEvent running = slowEvents.take();
            assertThat(running.task().name()).isEqualTo("slow");
            assertThat(running.state()).isEqualTo(Task.State.RUNNING);
            assertThat(running.duration()).isEqualTo(SECOND);
            time.advance(SECOND.multipliedBy(4));
            assertThat(slowEvents).as("once").isEmpty();
            blocker.release();
            task.await();

            assertThat(slowEvents)
                    .containsExactly(new SlowTaskEvent(running.task(), Task.State.SUCCESS, SECOND.multipliedBy(5)));
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_quick_task_is_not_slow_however_it_ends_and_leaves_no_alarm() {
        List<SlowTaskEvent> slowEvents = new CopyOnWriteArrayList<>();
        try (ThreadScope scope = stepped().addHook(SlowTaskHook.create(SECOND, slowEvents::add, time))) {
            scope.submit(() -> {
                time.advance(SECOND.minusNanos(1));
                return "";
            });
            scope.submit(() -> {
                throw new IOException();
            });
            scope.submit(() -> {
                throw new InterruptedException();
            });
            Task<String> waits = scope.submit(() -> "never");
            time.advance(SECOND.multipliedBy(9)); // waiting does not count as running
            waits.cancel();
            steps.runAll();
        }
        assertThat(slowEvents).isEmpty();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void every_end_of_a_slow_task_is_reported_and_a_slow_consumer_delays_no_alarm() throws Exception {
        Map<Task.State, SlowTaskEvent> slowEvents = new ConcurrentHashMap<>();
        CountDownLatch letGo = new CountDownLatch(1);
        try (ThreadScope scope = stepped()
                .addHook(SlowTaskHook.create(
                        SECOND,
                        event -> {
                            if (event.state() == Task.State.RUNNING) {
                                try {
                                    letGo.await();
                                } catch (InterruptedException nobodyDoes) {
                                    throw new AssertionError(nobodyDoes);
                                }
                                return;
                            }
                            slowEvents.put(event.state(), event);
                        },
                        new RealAlarms(time)))) {
            scope.submit(() -> {
                time.advance(SECOND);
                throw new IOException();
            });
            scope.submit(() -> {
                time.advance(SECOND.multipliedBy(2));
                throw new InterruptedException();
            });
            steps.runAll();
        } finally {
            letGo.countDown();
        }
        assertThat(slowEvents.get(Task.State.FAILED).duration()).isEqualTo(SECOND);
        assertThat(slowEvents.get(Task.State.CANCELLED).duration()).isEqualTo(SECOND.multipliedBy(2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlowTaskHook.create(Duration.ZERO, event -> {}))
                .withMessage("threshold of slow tasks must be positive, was PT0S");
    }
}
