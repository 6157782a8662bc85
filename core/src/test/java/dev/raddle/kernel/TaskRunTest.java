package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class TaskRunTest {

    private final VirtualTime time = new VirtualTime();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private TimeSource clock = time;

    /** A time source that never tells the time. */
    private static final class BrokenClock implements TimeSource {
        @Override
        public long nanoTime() {
            throw new IllegalStateException("the clock is broken, on purpose");
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            throw new AssertionError("no run arms an alarm");
        }
    }

    /** A run that records its events. */
    private final class Run<T> extends TaskRun<T> {
        private final String name;
        private TaskRun<?> next;
        private Runnable whenStarted = () -> {};
        private Runnable whenReleased = () -> {};
        private Runnable whenSettled = () -> {};

        Run(String name, Callable<? extends T> callable) {
            super(callable, time.nanoTime());
            this.name = name;
        }

        @Override
        protected ClassLoader loader() {
            return Thread.currentThread().getContextClassLoader();
        }

        @Override
        protected ExceptionSink sink() {
            return ExceptionSink.logging();
        }

        @Override
        protected TimeSource time() {
            return clock;
        }

        @Override
        protected void started(long waitNanos) {
            events.add(name + " started after " + waitNanos);
            whenStarted.run();
        }

        @Override
        protected void settled(Outcome<T> outcome) {
            events.add(name + " settled " + outcome.status() + (isSettled() ? " late" : ""));
            whenSettled.run();
        }

        @Override
        protected TaskRun<?> releasePermits(long ranNanos, long grantedNanos, long nowNanos) {
            events.add(name + " released after " + ranNanos
                    + (nowNanos == time.nanoTime() ? "" : " with a wrong end time"));
            whenReleased.run();
            return next;
        }

        @Override
        protected void startGranted() {
            run();
        }

        void runInCallersThread() {
            runHere();
        }

        @Override
        public String owner() {
            return "test";
        }

        @Override
        public String name() {
            return name;
        }

        Outcome<T> outcome() {
            return settledOutcome();
        }

        Outcome<T> await() throws InterruptedException {
            return awaitOutcome();
        }

        Outcome<T> await(Deadline deadline) throws InterruptedException {
            return awaitOutcome(deadline);
        }

        long start() {
            return startNanos();
        }

        long ended() {
            return endNanos();
        }

        boolean cancel(boolean mayInterrupt) {
            return cancel(new Outcome.Cancelled<>(new CancelledException("by the test")), mayInterrupt);
        }

        boolean cancel(Executor notifier) {
            return end(new Outcome.Cancelled<>(new CancelledException("by the test")), true, notifier);
        }

        void interruptForShutdown() {
            interrupt("shutdown");
        }

        boolean tryClaim() {
            return claim();
        }

        Thread runner() {
            return runningThread();
        }

        @Override
        public String toString() {
            return "run \"" + name + "\"";
        }
    }

    // The normal course.

    @Test
    void a_run_starts_releases_settles_and_is_done_in_this_order() throws InterruptedException {
        Run<String> run = new Run<>("a", () -> {
            events.add("called");
            time.advance(Duration.ofNanos(30));
            return "value";
        });
        run.whenReleased = () -> events.add("decided " + run.outcome().status() + ", done " + run.isSettled());
        time.advance(Duration.ofNanos(5));
        assertThat(run.isSettled()).isFalse();

        run.run();

        assertThat(events)
                .containsExactly(
                        "a started after 5",
                        "called",
                        "a released after 30",
                        "decided SUCCESS, done false",
                        "a settled SUCCESS");
        assertThat(run.isSettled()).isTrue();
        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value"));
        assertThat(run.start()).isEqualTo(5);
        assertThat(run.ended()).isEqualTo(35);
    }

    @Test
    void whatever_the_callable_throws_the_run_settles_and_releases_its_permit() {
        Throwable[] thrown = {
            new IllegalStateException(),
            new IOException(),
            new OutOfMemoryError("simulated"),
            new StackOverflowError(),
            new InterruptedException(),
            new CancelledException("inside")
        };
        for (Throwable each : thrown) {
            events.clear();
            Run<Object> run = new Run<>("a", () -> TaskRunTest.<Object, RuntimeException>sneakyThrow(each));

            run.run();

            assertThat(run.outcome()).isEqualTo(Outcome.ofThrown(each));
            assertThat(events)
                    .containsExactly(
                            "a started after 0",
                            "a released after 0",
                            "a settled " + run.outcome().status());
        }
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneakyThrow(Throwable thrown) throws X {
        throw (X) thrown;
    }

    @Test
    void the_runner_is_known_only_while_it_runs_the_callable() {
        List<Thread> seen = new ArrayList<>();
        List<Run<Object>> self = new ArrayList<>();
        Run<Object> run = new Run<>("a", () -> seen.add(self.getFirst().runner()));
        self.add(run);
        run.whenStarted = () -> seen.add(run.runner());
        run.whenReleased = () -> seen.add(run.runner());

        run.run();

        assertThat(seen).containsExactly(null, Thread.currentThread(), null);
    }

    @Test
    void a_run_runs_only_once() {
        AtomicInteger calls = new AtomicInteger();
        Run<Integer> run = new Run<>("a", calls::incrementAndGet);
        run.run();
        events.clear();

        run.run();

        assertThat(calls).hasValue(1);
        assertThat(events).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(run::callable)
                .withMessage("run \"a\" has run before; a run runs once");
    }

    @Test
    void a_run_that_is_called_again_while_its_cancelled_callable_goes_on_keeps_its_permits() {
        AtomicReference<Runnable> again = new AtomicReference<>(() -> {});
        Run<String> run = new Run<>("a", () -> {
            again.get().run();
            return "late";
        });
        again.set(() -> {
            run.cancel(true);
            events.clear();
            run.run();
            events.add("called again");
        });

        run.run();

        assertThat(events).containsExactly("called again", "a released after 0");
    }

    @Test
    void a_thread_continues_with_the_next_run_and_settles_each_run_before_the_next() {
        Run<String> first = new Run<>("first", () -> "1");
        Run<String> second = new Run<>("second", () -> "2");
        Run<String> third = new Run<>("third", () -> "3");
        first.next = second;
        second.next = third;
        second.cancel(false);
        events.clear();

        first.run();

        assertThat(events)
                .containsExactly(
                        "first started after 0",
                        "first released after 0",
                        "first settled SUCCESS",
                        "second released after -1",
                        "third started after 0",
                        "third released after 0",
                        "third settled SUCCESS");
    }

    @Test
    void a_long_chain_of_runs_needs_no_stack() {
        Run<String> next = null;
        for (int i = 0; i < 100_000; i++) {
            Run<String> run = new Run<>("r", () -> "");
            run.next = next;
            run.whenStarted = events::clear; // bounds the list of events
            next = run;
        }

        next.run();

        assertThat(events).containsExactly("r released after 0", "r settled SUCCESS");
    }

    // Cancelling.

    @Test
    void a_run_that_was_cancelled_before_it_began_is_never_called_and_releases_its_permit_when_it_is_run() {
        Run<String> run = new Run<>("a", () -> "never");
        time.advance(Duration.ofNanos(7));

        assertThat(run.cancel(true)).isTrue();
        assertThat(run.cancel(true)).as("a second time").isFalse();
        assertThat(run.isSettled()).isTrue();
        assertThat(events).containsExactly("a settled CANCELLED");
        assertThat(run.start()).isEqualTo(7);
        assertThat(run.ended()).isEqualTo(7);

        run.run();
        assertThat(events).containsExactly("a settled CANCELLED", "a released after -1");
    }

    @Test
    void a_run_that_is_cancelled_during_the_started_notification_is_not_called_and_settles_after_it() {
        for (boolean mayInterrupt : new boolean[] {false, true}) {
            events.clear();
            Run<String> run = new Run<>("a", () -> "never");
            run.whenStarted = () -> {
                events.add("cancelled " + run.cancel(mayInterrupt) + ", done " + run.isSettled());
                events.add("again " + run.cancel(mayInterrupt));
            };

            run.run();

            assertThat(events)
                    .containsExactly(
                            "a started after 0",
                            "cancelled true, done false",
                            "again false",
                            "a released after -1",
                            "a settled CANCELLED");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(run.isSettled()).isTrue();
        }
    }

    @Test
    void a_cancel_without_interrupt_does_not_affect_a_running_callable() throws Exception {
        ParkedCallable callable = new ParkedCallable();
        Run<String> run = callable.start(new Run<>("a", callable));

        assertThat(run.cancel(false)).isFalse();
        callable.release();

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value, interrupts: 0"));
        assertThat(run.cancel(true)).as("the run has ended").isFalse();
        assertThat(run.outcome().status()).isEqualTo(TaskStatus.SUCCESS);
    }

    @Test
    void a_cancel_with_interrupt_interrupts_once_and_the_permit_is_released_when_the_callable_has_ended()
            throws Exception {
        ParkedCallable callable = new ParkedCallable();
        Run<String> run = callable.start(new Run<>("a", callable));
        time.advance(Duration.ofNanos(11));

        assertThat(run.cancel(true)).isTrue();
        assertThat(run.isSettled()).isTrue();
        assertThat(run.cancel(true)).isFalse();
        callable.awaitInterrupted();
        assertThat(events).containsExactly("a started after 0", "a settled CANCELLED");
        assertThat(run.ended()).isEqualTo(11);

        time.advance(Duration.ofNanos(2));
        callable.release();
        callable.thread.join();
        assertThat(events).containsExactly("a started after 0", "a settled CANCELLED", "a released after 13");
        assertThat(callable.interrupts).hasValue(1);
        assertThat(run.outcome()).as("a late value is discarded").isInstanceOf(Outcome.Cancelled.class);
        assertThat(callable.interruptedAfterwards).isFalse();
    }

    @Test
    void an_interrupt_without_a_cancel_does_not_determine_the_outcome() throws Exception {
        ParkedCallable callable = new ParkedCallable();
        Run<String> run = callable.start(new Run<>("a", callable));

        run.interruptForShutdown();
        callable.awaitInterrupted();
        assertThat(run.isSettled()).isFalse();
        assertThat(run.runner()).isSameAs(callable.thread);
        run.interruptForShutdown();
        callable.awaitInterrupted();
        callable.release();

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value, interrupts: 2"));
        run.interruptForShutdown();
        callable.thread.join();
        assertThat(callable.interruptedAfterwards).isFalse();
    }

    @Test
    void an_interrupt_before_the_callable_is_called_cancels_and_one_before_the_run_begins_does_nothing() {
        Run<String> early = new Run<>("early", () -> "value");
        early.interruptForShutdown();
        early.run();
        assertThat(early.outcome().status()).isEqualTo(TaskStatus.SUCCESS);

        Run<String> entering = new Run<>("entering", () -> "never");
        entering.whenStarted = entering::interruptForShutdown;
        entering.run();
        assertThat(entering.outcome())
                .isInstanceOfSatisfying(
                        Outcome.Cancelled.class,
                        cancelled -> assertThat(cancelled.cause())
                                .isInstanceOf(CancelledException.class)
                                .hasMessage("shutdown"));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void the_interrupt_status_that_a_callable_leaves_is_cleared_after_it() {
        List<Boolean> seen = new ArrayList<>();
        Run<String> run = new Run<>("a", () -> {
            Thread.currentThread().interrupt();
            return "value";
        });
        run.whenReleased = () -> seen.add(Thread.currentThread().isInterrupted());
        run.whenSettled = () -> seen.add(Thread.currentThread().isInterrupted());

        run.run();

        assertThat(seen).containsExactly(false, false);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void an_interrupt_for_one_run_never_reaches_the_next_run_of_its_thread() throws Exception {
        int rounds = 20_000;
        Phaser phase = new Phaser(2);
        AtomicInteger leaked = new AtomicInteger();
        List<Run<String>> runs = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            runs.add(new Run<>("r", () -> {
                phase.arriveAndAwaitAdvance(); // the run ends while it is being cancelled
                return "value";
            }));
        }
        FutureTask<Integer> canceller = new FutureTask<>(() -> {
            int cancelled = 0;
            for (int i = 0; i < rounds; i++) {
                phase.arriveAndAwaitAdvance();
                if (i % 2 == 0) {
                    cancelled += runs.get(i).cancel(true) ? 1 : 0;
                } else {
                    runs.get(i).interruptForShutdown();
                }
                phase.arriveAndAwaitAdvance();
            }
            return cancelled;
        });
        Thread thread = Thread.ofPlatform().start(canceller);
        int cancelled = 0;
        for (Run<String> run : runs) {
            run.run();
            leaked.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
            phase.arriveAndAwaitAdvance(); // every pending interrupt has been delivered
            leaked.addAndGet(Thread.interrupted() ? 1 : 0);
            cancelled += run.outcome().status() == TaskStatus.CANCELLED ? 1 : 0;
            events.clear();
        }
        thread.join();

        assertThat(leaked).hasValue(0);
        assertThat(canceller.get()).as("successful cancels are cancelled runs").isEqualTo(cancelled);
    }

    // In a caller's thread.

    @Test
    void in_a_callers_thread_an_interrupt_that_the_callable_left_is_restored_for_the_caller_but_not_for_listeners() {
        List<Boolean> seen = new ArrayList<>();
        Run<String> run = new Run<>("a", () -> {
            Thread.currentThread().interrupt();
            return "value";
        });
        run.whenReleased = () -> seen.add(Thread.currentThread().isInterrupted());
        run.whenSettled = () -> seen.add(Thread.currentThread().isInterrupted());

        run.runInCallersThread();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(seen).containsExactly(false, false);
        assertThat(run.outcome()).isEqualTo(new Outcome.Success<>("value"));
    }

    @Test
    void in_a_callers_thread_the_interrupt_that_cancelled_the_run_is_cleared_too() {
        List<Run<Boolean>> self = new ArrayList<>();
        Run<Boolean> run = new Run<>("a", () -> self.getFirst().cancel(true));
        self.add(run);

        run.runInCallersThread();

        assertThat(Thread.interrupted()).isFalse();
        assertThat(run.outcome().status()).isEqualTo(TaskStatus.CANCELLED);
    }

    @Test
    void a_callers_thread_never_continues_with_another_run() {
        Run<String> run = new Run<>("a", () -> "value");
        run.next = new Run<>("b", () -> "other");

        assertThatThrownBy(run::runInCallersThread)
                .isInstanceOf(AssertionError.class)
                .hasMessage("a caller's thread must not be given run \"b\" to run");
    }

    // Claiming.

    @Test
    void a_claimed_run_cannot_be_run_cancelled_or_interrupted_until_it_is_concluded() throws Exception {
        Callable<String> callable = () -> "never";
        Run<String> run = new Run<>("a", callable);
        assertThat(run.tryClaim()).isTrue();

        assertThat(run.tryClaim()).isFalse();
        assertThat(run.cancel(true)).isFalse();
        run.interruptForShutdown();
        run.run();
        assertThat((Object) run.callable()).isSameAs(callable);
        assertThat(run.isSettled()).isFalse();
        assertThatIllegalStateException().isThrownBy(run::outcome).withMessage("run \"a\" has not ended");

        time.advance(Duration.ofNanos(3));
        run.conclude(new Outcome.Rejected<>(Rejection.of(Rejection.Reason.OTHER, "full")), true);

        assertThat(run.await()).isEqualTo(new Outcome.Rejected<>(Rejection.of(Rejection.Reason.OTHER, "full")));
        assertThat(run.start()).isEqualTo(3);
        assertThat(run.ended()).isEqualTo(3);
        assertThat(events).containsExactly("a settled REJECTED");
    }

    @Test
    void a_claimed_run_may_be_concluded_with_the_times_of_another_and_without_a_notification() throws Exception {
        Run<String> run = new Run<>("a", () -> "never");
        run.tryClaim();

        run.conclude(new Outcome.Success<>("by a handler"), 100, 140, false);

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("by a handler"));
        assertThat(run.start()).isEqualTo(100);
        assertThat(run.ended()).isEqualTo(140);
        assertThat(events).isEmpty();
    }

    @Test
    void only_a_claimed_run_can_be_concluded_and_only_one_that_has_not_begun_can_be_claimed() {
        Run<String> run = new Run<>("a", () -> "value");

        assertThatIllegalStateException()
                .isThrownBy(
                        () -> run.conclude(new Outcome.Rejected<>(Rejection.of(Rejection.Reason.OTHER, "full")), true))
                .withMessage("run \"a\" was not claimed");
        Run<String> other = new Run<>("b", () -> "value");
        other.whenStarted = () -> events.add("claimed " + other.tryClaim());
        other.run();

        assertThat(events).contains("claimed false");
        assertThat(other.tryClaim()).isFalse();
        assertThat(other.outcome()).isEqualTo(new Outcome.Success<>("value"));
    }

    @Test
    void a_claimed_run_may_be_concluded_by_calling_it_in_the_callers_thread_without_permits() {
        Run<String> run = new Run<>("a", () -> {
            time.advance(Duration.ofNanos(9));
            return "value";
        });
        run.tryClaim();
        time.advance(Duration.ofNanos(1));

        run.concludeByCalling();

        assertThat(run.outcome()).isEqualTo(new Outcome.Success<>("value"));
        assertThat(run.start()).isEqualTo(1);
        assertThat(run.ended()).isEqualTo(10);
        assertThat(events).isEmpty();

        Error thrown = new Error();
        Run<String> failing = new Run<>("b", () -> {
            throw thrown;
        });
        failing.tryClaim();
        failing.concludeByCalling();
        assertThat(failing.outcome()).isEqualTo(new Outcome.Failure<>(thrown));
    }

    @Test
    void an_interrupt_of_the_caller_that_the_callable_consumed_is_restored() {
        Run<String> run = new Run<>("a", () -> {
            throw new InterruptedException();
        });
        run.tryClaim();

        run.concludeByCalling();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(run.outcome().status()).isEqualTo(TaskStatus.CANCELLED);
    }

    // Waiting.

    @Test
    void a_wait_that_times_out_returns_null_and_the_run_continues() throws Exception {
        Run<String> run = new Run<>("a", () -> "value");

        assertThat(run.await(Deadline.after(time, Duration.ZERO))).isNull();
        run.run();

        assertThat(run.await(Deadline.after(time, Duration.ZERO))).isEqualTo(new Outcome.Success<>("value"));
    }

    @Test
    void all_waiting_threads_are_woken_when_the_run_is_settled_after_the_listener() throws Exception {
        Run<String> run = new Run<>("a", () -> "value");
        run.settledSignal().whenSet(() -> events.add("signalled, done " + run.isSettled()));
        FutureTask<Outcome<String>> one = new FutureTask<>(run::await);
        FutureTask<Outcome<String>> other =
                new FutureTask<>(() -> run.await(Deadline.after(time, Duration.ofSeconds(1))));
        Thread.ofPlatform().start(one);
        Thread.ofPlatform().start(other);
        time.awaitAlarms(1);

        run.run();

        assertThat(one.get()).isEqualTo(new Outcome.Success<>("value"));
        assertThat(other.get()).isEqualTo(new Outcome.Success<>("value"));
        assertThat(events)
                .containsExactly(
                        "a started after 0", "a released after 0", "a settled SUCCESS", "signalled, done true");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_listener_that_throws_does_not_block_the_waiting_threads() throws Exception {
        Run<String> run = new Run<>("a", () -> "value");
        run.whenSettled = () -> {
            throw new IllegalStateException("listener");
        };

        assertThatThrownBy(run::run).hasMessage("listener");

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value"));
    }

    /** Parks until it is released, and counts its interrupts. */
    private static final class ParkedCallable implements Callable<String> {
        final AtomicInteger interrupts = new AtomicInteger();
        private final CountDownLatch begun = new CountDownLatch(1);
        private final Phaser interrupted = new Phaser(2);
        private volatile boolean released;
        Thread thread;
        volatile boolean interruptedAfterwards;

        @Override
        public String call() {
            begun.countDown();
            while (!released) {
                LockSupport.park(this);
                if (Thread.interrupted()) {
                    interrupts.incrementAndGet();
                    interrupted.arrive();
                }
            }
            return "value, interrupts: " + interrupts;
        }

        <T> Run<T> start(Run<T> run) throws InterruptedException {
            thread = Thread.ofPlatform().start(() -> {
                run.run();
                interruptedAfterwards = Thread.currentThread().isInterrupted();
            });
            begun.await();
            return run;
        }

        void awaitInterrupted() {
            interrupted.arriveAndAwaitAdvance();
        }

        void release() {
            released = true;
            LockSupport.unpark(thread);
        }
    }

    @Test
    void every_run_settles_although_the_clock_throws() throws Exception {
        Run<Integer> waiting = new Run<>("waiting", () -> 1);
        Run<Integer> claimed = new Run<>("claimed", () -> 1);
        Run<Integer> entered = new Run<>("entered", () -> 1);
        Run<Integer> ended = new Run<>("ended", () -> {
            clock = new BrokenClock();
            return 1;
        });
        Run<Integer> interrupted = new Run<>("interrupted", () -> {
            new CountDownLatch(1).await();
            return 1;
        });
        FutureTask<Void> runner = new FutureTask<>(interrupted, null);
        Thread.ofVirtual().start(runner);
        while (interrupted.runner() == null) {
            Thread.onSpinWait();
        }
        assertThat(claimed.tryClaim()).isTrue();
        time.advance(Duration.ofNanos(5));

        ended.run();
        entered.run();
        waiting.cancel(false);
        interrupted.cancel(true);
        claimed.conclude(new Outcome.Rejected<>(Rejection.of(Rejection.Reason.OTHER, "full")), true);

        assertThat(ended.await()).isEqualTo(new Outcome.Success<>(1));
        assertThat(entered.await()).isEqualTo(new Outcome.Success<>(1));
        assertThat(waiting.await().status()).isEqualTo(TaskStatus.CANCELLED);
        assertThat(interrupted.await().status()).isEqualTo(TaskStatus.CANCELLED);
        assertThat(claimed.await().status()).isEqualTo(TaskStatus.REJECTED);
        assertThat(List.of(ended, entered, waiting, claimed))
                .allSatisfy(run ->
                        assertThat(run.ended()).as("no earlier than the start").isGreaterThanOrEqualTo(run.start()));
        runner.get();
    }
}
