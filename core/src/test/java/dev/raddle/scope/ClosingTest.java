package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ClosingTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<String> events = new ArrayList<>();

    @Test
    void close_cancels_waits_runs_deferred_actions_in_reverse_and_releases_the_scheduler() throws Exception {
        Scheduler leased = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                Scheduler.virtualThreads().execute(task);
            }

            @Override
            public Lease lease() {
                return () -> events.add("lease ended");
            }
        };
        Task<String> task;
        Task<String> waits;
        Thread owner = Thread.currentThread();
        try (ThreadScope scope = ThreadScope.open("s").withScheduler(leased).withConcurrencyLimit(1)) {
            CountDownLatch begun = new CountDownLatch(1);
            task = scope.submit(() -> {
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException cancelled) {
                    Thread.yield();
                    events.add("task ended");
                }
                return "";
            });
            waits = scope.submit(() -> "never");
            scope.defer(() -> events.add("first, closed to new tasks: " + refuses(scope)));
            scope.defer(() -> events.add("second, by the owner: " + (Thread.currentThread() == owner)));
            begun.await();
        }
        assertThat(events)
                .containsExactly(
                        "task ended", "second, by the owner: true", "first, closed to new tasks: true", "lease ended");
        assertThat(task.isCancelled()).isTrue();
        assertThatThrownBy(waits::await).isInstanceOf(CancelledException.class).hasMessage("scope \"s\" was closed");
    }

    private static boolean refuses(ThreadScope scope) {
        try {
            scope.submit(() -> "");
            return false;
        } catch (IllegalStateException closed) {
            return true;
        }
    }

    @Test
    void a_scope_without_tasks_closes_and_still_cleans_up() {
        try (ThreadScope scope = ThreadScope.open()) {
            scope.defer(() -> events.add("cleaned up"));
        }
        assertThat(events).containsExactly("cleaned up");
    }

    @Test
    void deferred_actions_that_throw_prevent_no_other_and_are_thrown_at_the_end() {
        RuntimeException one = new IllegalStateException("one");
        Error three = new AssertionError("three");
        RuntimeException lease = new IllegalStateException("lease");
        Scheduler throwsAtTheEnd = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                task.run();
            }

            @Override
            public Lease lease() {
                return () -> {
                    throw lease;
                };
            }
        };
        ThreadScope scope = ThreadScope.open("s").withScheduler(throwsAtTheEnd);
        scope.submit(() -> "");
        scope.defer(() -> {
            events.add("one");
            throw one;
        });
        scope.defer(() -> events.add("two"));
        scope.defer(() -> {
            events.add("three");
            throw three;
        });

        assertThatThrownBy(scope::close)
                .isInstanceOfSatisfying(
                        AggregateException.class,
                        all -> assertThat(all.failures()).containsExactly(three, one, lease));
        scope.close();

        assertThat(events).as("each exactly once").containsExactly("three", "two", "one");
        assertThat(ThreadScope.current()).isEmpty();
    }

    @Test
    void the_exception_of_the_block_has_those_of_deferred_actions_suppressed() {
        assertThatThrownBy(() -> {
                    try (ThreadScope scope = ThreadScope.open()) {
                        scope.defer(() -> {
                            throw new IllegalStateException("clean-up");
                        });
                        throw new IllegalArgumentException("block");
                    }
                })
                .hasMessage("block")
                .satisfies(thrown -> assertThat(thrown.getSuppressed()[0]).isInstanceOf(AggregateException.class));
    }

    @Test
    void a_scheduler_that_loses_its_tasks_prevents_no_scope_from_closing() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        BlockingTask blocker = new BlockingTask();
        Task<String> lost;
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.from(executor))) {
            Task<String> runs = scope.submit(blocker::call);
            lost = scope.submit(() -> "never");
            blocker.awaitBegun();

            assertThat(executor.shutdownNow()).hasSize(1);

            assertThatThrownBy(runs::await).isInstanceOf(CancelledException.class);
        }
        assertThat(lost.isCancelled()).isTrue();
        try (ThreadScope scope = ThreadScope.open().withScheduler(task -> {}).withConcurrencyLimit(1)) {
            lost = scope.submit(() -> "never");
            Task<String> next = scope.submit(() -> "never");
            assertThat(lost.cancel()).isTrue();
            assertThat(scope.tasks.pending.unfinished())
                    .extracting(ScopeRun::id)
                    .containsExactly(next.id());
        }
        assertThat(lost.isCancelled()).isTrue();
    }

    @Test
    void a_task_cancelled_before_its_admission_is_not_given_to_a_scheduler_that_would_lose_it() {
        TaskListener cancels = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                ((Task<?>) task).cancel();
            }
        };
        Task<String> task;
        try (ThreadScope scope = ThreadScope.open().addListener(cancels).withScheduler(lost -> events.add("placed"))) {
            task = scope.submit(() -> "never");
        }
        assertThat(task.isCancelled()).isTrue();
        assertThat(events).isEmpty();
    }

    @Test
    void close_reports_a_task_that_ignores_its_interrupt_once_an_interval_and_waits_for_it() throws Exception {
        BlockingQueue<String> sources = new LinkedBlockingQueue<>();
        BlockingQueue<Throwable> reports = new LinkedBlockingQueue<>();
        BlockingTask stubborn = BlockingTask.uninterruptible();
        AtomicReference<ThreadScope> closing = new AtomicReference<>();
        FutureTask<String> block = new FutureTask<>(() -> {
            ThreadScope scope = ThreadScope.open("s")
                    .withTimeSource(time)
                    .withPatience(SECOND.multipliedBy(2))
                    .withExceptionSink(ExceptionSink.to((source, error) -> {
                        sources.add(source);
                        reports.add(error);
                    }));
            scope.submit("quick", new BlockingTask()::call);
            scope.submit("stubborn", stubborn::call);
            stubborn.awaitBegun();
            time.advance(SECOND.multipliedBy(3));
            closing.set(scope);
            scope.close();
            return "closed";
        });
        Thread closer = Thread.ofPlatform().start(block);
        stubborn.awaitInterrupt();
        Wait.until(() -> stubborn.thread().getState() == Thread.State.WAITING); // its text has the state
        Wait.until(() -> closing.get().tasks.pending.unfinished().size() == 1); // the quick one has ended
        for (int interval = 1; interval <= 3; interval++) {
            time.awaitAlarms(1);
            time.advance(SECOND.multipliedBy(2).minusNanos(1));
            assertThat(reports).isEmpty();
            time.advance(Duration.ofNanos(1));

            assertThat(sources.take()).isEqualTo("close() of scope \"s\", which waits for task \"stubborn\"");
            Throwable report = reports.take();
            assertThat(report)
                    .hasMessage("task \"stubborn\" ignores its interrupt; it has run for " + (3 + 2 * interval)
                            + "000 ms in " + stubborn.thread());
            assertThat(report.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().equals(BlockingTask.class.getName()));
            assertThat(block.isDone()).isFalse();
        }
        time.awaitAlarms(1);

        stubborn.release();
        closer.join();

        assertThat(block.resultNow()).isEqualTo("closed");
        assertThat(time.alarms()).isZero();
        assertThat(reports).isEmpty();
    }

    @Test
    void patience_is_ten_seconds_unless_it_is_set() throws Exception {
        BlockingQueue<Throwable> reports = new LinkedBlockingQueue<>();
        BlockingTask stubborn = BlockingTask.uninterruptible();
        FutureTask<String> block = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open("s")
                    .withTimeSource(time)
                    .withExceptionSink(ExceptionSink.to((source, error) -> reports.add(error)))) {
                scope.submit("stubborn", stubborn::call);
                stubborn.awaitBegun();
            }
            return "closed";
        });
        Thread closer = Thread.ofPlatform().start(block);
        stubborn.awaitInterrupt();
        time.awaitAlarms(1);
        time.advance(SECOND.multipliedBy(10).minusNanos(1));
        assertThat(time.alarms()).isEqualTo(1);
        time.advance(Duration.ofNanos(1));
        assertThat(reports.take()).hasMessageContaining("it has run for 10000 ms");
        stubborn.release();
        closer.join();
    }

    @Test
    void a_token_that_is_first_used_after_the_end_is_cancelled_by_it() {
        ThreadScope closed;
        try (ThreadScope scope = ThreadScope.open("s")) {
            closed = scope;
        }
        List<String> actions = new ArrayList<>();
        closed.token().whenCancelled(() -> actions.add("at once"));
        assertThat(actions).containsExactly("at once");
        assertThat(closed.token()).isSameAs(closed.token()).hasToString("token of scope \"s\", cancelled");
        assertThatThrownBy(closed.token()::throwIfCancelled)
                .isInstanceOf(CancelledException.class)
                .hasMessage("scope \"s\" was closed");
    }

    @Test
    void closing_twice_has_no_effect() {
        ThreadScope scope = ThreadScope.open().withScheduler(steps);
        scope.submit(() -> "");
        scope.defer(() -> {
            events.add("once");
            scope.close();
        });
        scope.close();
        scope.close();
        assertThat(events).containsExactly("once");
        assertThat(scope.toString()).endsWith(", closed, 0 of 1 tasks running");
    }

    @Test
    void only_the_owner_closes() throws Exception {
        try (ThreadScope scope = ThreadScope.open("s")) {
            Task<String> goesOn = scope.submit(new BlockingTask()::call);
            FutureTask<String> other = new FutureTask<>(() -> {
                scope.close();
                return "";
            });
            Thread thread = Thread.ofPlatform().name("other").start(other);
            thread.join();
            assertThat(other.exceptionNow())
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessageStartingWith("scope \"s\" can be closed only by its owner, " + Thread.currentThread()
                            + ", was closed by Thread[#" + thread.threadId() + ",other,");
            assertThat(goesOn.isDone()).isFalse();
            assertThat(scope.token().isCancelled()).isFalse();
        }
    }

    @Test
    void a_scope_cannot_be_closed_by_its_tasks_or_by_tasks_of_inner_scopes() throws Exception {
        for (Scheduler scheduler : List.<Scheduler>of(Scheduler.virtualThreads(), Runnable::run)) {
            try (ThreadScope scope = ThreadScope.open("s").withScheduler(scheduler)) {
                Task<String> closes = scope.submit(() -> {
                    scope.close();
                    return "";
                });
                Task<String> nested = scope.submit(() -> {
                    try (ThreadScope inner = ThreadScope.open("inner").withScheduler(scheduler)) {
                        return inner.submit(() -> {
                                    scope.close();
                                    return "";
                                })
                                .await();
                    }
                });
                for (Task<String> task : List.of(closes, nested)) {
                    assertThatIllegalStateException()
                            .isThrownBy(task::await)
                            .withMessage("scope \"s\" cannot be closed by one of its own tasks, for which it waits;"
                                    + " cancel it through its token");
                }
                assertThat(scope.submit(() -> "still open").await()).isEqualTo("still open");
            }
        }
    }

    @Test
    void an_interrupt_of_the_closing_thread_abandons_no_task_and_is_kept() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        FutureTask<Boolean> block = new FutureTask<>(() -> {
            ThreadScope scope = ThreadScope.open();
            scope.submit(stubborn::call);
            scope.defer(() -> events.add(
                    "cleaned up, interrupted: " + Thread.currentThread().isInterrupted()));
            stubborn.awaitBegun();
            scope.close();
            return Thread.currentThread().isInterrupted();
        });
        Thread closer = Thread.ofPlatform().start(block);
        stubborn.awaitInterrupt();
        Wait.until(() -> closer.getState() == Thread.State.WAITING);
        closer.interrupt();
        Wait.until(() -> !closer.isInterrupted() && closer.getState() == Thread.State.WAITING);
        closer.interrupt();
        assertThat(block.isDone()).isFalse();

        stubborn.release();
        closer.join();

        assertThat(block.resultNow()).isTrue();
        assertThat(events).hasSize(1);
    }

    @Test
    void a_thread_that_is_interrupted_before_it_closes_waits_as_well() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open()) {
            scope.submit(blocker::call);
            blocker.awaitBegun();
            Thread.currentThread().interrupt();
        }
        assertThat(Thread.interrupted()).isTrue();
        blocker.awaitInterrupt();
        assertThat(blocker.interrupts()).isEqualTo(1);
    }
}
