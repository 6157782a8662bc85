package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class TaskRunTest {

    private final VirtualTime time = new VirtualTime();
    private final List<String> events = new CopyOnWriteArrayList<>();

    /** A run whose permits and listeners are a list of events. */
    private final class Run<T> extends TaskRun<T> {
        private final String name;
        private TaskRun<?> following;
        private Runnable whenStarted = () -> {};
        private Runnable whenGivenBack = () -> {};
        private Runnable whenSettled = () -> {};

        Run(String name, Callable<? extends T> callable) {
            super(callable, time.nanoTime());
            this.name = name;
        }

        @Override
        protected TimeSource time() {
            return time;
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
        protected TaskRun<?> giveBack(long ranNanos, long nowNanos) {
            events.add(name + " gave back after " + ranNanos + (nowNanos == time.nanoTime() ? "" : " at another time"));
            whenGivenBack.run();
            return following;
        }

        void here() {
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

        boolean cancelled(boolean mayInterrupt) {
            return cancel(new Outcome.Cancelled<>(new CancelledException("by the test")), mayInterrupt);
        }

        void interrupted() {
            interrupt("shutdown");
        }

        boolean claimed() {
            return claim();
        }

        Thread inside() {
            return runningThread();
        }

        @Override
        public String toString() {
            return "run \"" + name + "\"";
        }
    }

    // From submission to the end.

    @Test
    void a_run_starts_gives_back_settles_and_is_done_in_this_order() throws InterruptedException {
        Run<String> run = new Run<>("a", () -> {
            events.add("called");
            time.advance(Duration.ofNanos(30));
            return "value";
        });
        run.whenGivenBack = () -> events.add("decided " + run.outcome().status() + ", done " + run.isSettled());
        time.advance(Duration.ofNanos(5));
        assertThat(run.isSettled()).isFalse();

        run.run();

        assertThat(events)
                .containsExactly(
                        "a started after 5",
                        "called",
                        "a gave back after 30",
                        "decided SUCCESS, done false",
                        "a settled SUCCESS");
        assertThat(run.isSettled()).isTrue();
        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value"));
        assertThat(run.start()).isEqualTo(5);
        assertThat(run.ended()).isEqualTo(35);
    }

    @Test
    void whatever_the_callable_throws_the_run_settles_and_gives_back() {
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
            Run<Object> run = new Run<>("a", () -> TaskRunTest.<Object, RuntimeException>sneaky(each));

            run.run();

            assertThat(run.outcome()).isEqualTo(Outcome.ofThrown(each));
            assertThat(events)
                    .containsExactly(
                            "a started after 0",
                            "a gave back after 0",
                            "a settled " + run.outcome().status());
        }
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    @Test
    void the_thread_inside_the_callable_is_known_while_it_is_inside() {
        List<Thread> seen = new ArrayList<>();
        List<Run<Object>> self = new ArrayList<>();
        Run<Object> run = new Run<>("a", () -> seen.add(self.getFirst().inside()));
        self.add(run);
        run.whenStarted = () -> seen.add(run.inside());
        run.whenGivenBack = () -> seen.add(run.inside());

        run.run();

        assertThat(seen).containsExactly(null, Thread.currentThread(), null);
    }

    @Test
    void a_run_has_one_life() {
        AtomicInteger calls = new AtomicInteger();
        Run<Integer> run = new Run<>("a", calls::incrementAndGet);
        run.run();
        events.clear();

        run.run();

        assertThat(calls).hasValue(1);
        assertThat(events).as("what it may still hold is given back").containsExactly("a gave back after 0");
        assertThatIllegalStateException()
                .isThrownBy(run::callable)
                .withMessage("run \"a\" has run before; a run has one life");
    }

    @Test
    void a_thread_goes_on_with_the_run_that_it_is_given_and_settles_each_before_the_next() {
        Run<String> first = new Run<>("first", () -> "1");
        Run<String> second = new Run<>("second", () -> "2");
        Run<String> third = new Run<>("third", () -> "3");
        first.following = second;
        second.following = third;
        second.cancelled(false);
        events.clear();

        first.run();

        assertThat(events)
                .containsExactly(
                        "first started after 0",
                        "first gave back after 0",
                        "first settled SUCCESS",
                        "second gave back after 0",
                        "third started after 0",
                        "third gave back after 0",
                        "third settled SUCCESS");
    }

    @Test
    void a_long_line_of_runs_needs_no_stack() {
        Run<String> next = null;
        for (int i = 0; i < 100_000; i++) {
            Run<String> run = new Run<>("r", () -> "");
            run.following = next;
            run.whenStarted = events::clear; // there would be too many of them
            next = run;
        }

        next.run();

        assertThat(events).containsExactly("r gave back after 0", "r settled SUCCESS");
    }

    // Cancelling.

    @Test
    void a_run_that_was_cancelled_before_it_began_is_never_entered_and_gives_back_when_its_turn_comes() {
        Run<String> run = new Run<>("a", () -> "never");
        time.advance(Duration.ofNanos(7));

        assertThat(run.cancelled(true)).isTrue();
        assertThat(run.cancelled(true)).as("a second time").isFalse();
        assertThat(run.isSettled()).isTrue();
        assertThat(events).containsExactly("a settled CANCELLED");
        assertThat(run.start()).isEqualTo(7);
        assertThat(run.ended()).isEqualTo(7);

        run.run();
        assertThat(events).containsExactly("a settled CANCELLED", "a gave back after 0");
    }

    @Test
    void a_run_that_is_cancelled_while_started_is_told_is_not_entered_and_settles_after_started_has_returned() {
        for (boolean mayInterrupt : new boolean[] {false, true}) {
            events.clear();
            Run<String> run = new Run<>("a", () -> "never");
            run.whenStarted = () -> {
                events.add("cancelled " + run.cancelled(mayInterrupt) + ", done " + run.isSettled());
                events.add("again " + run.cancelled(mayInterrupt));
            };

            run.run();

            assertThat(events)
                    .containsExactly(
                            "a started after 0",
                            "cancelled true, done false",
                            "again false",
                            "a gave back after 0",
                            "a settled CANCELLED");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(run.isSettled()).isTrue();
        }
    }

    @Test
    void a_cancel_that_must_not_interrupt_leaves_a_running_callable_alone() throws Exception {
        Inside inside = new Inside();
        Run<String> run = inside.start(new Run<>("a", inside));

        assertThat(run.cancelled(false)).isFalse();
        inside.letGo();

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value, interrupts: 0"));
        assertThat(run.cancelled(true)).as("it has ended").isFalse();
        assertThat(run.outcome().status()).isEqualTo(TaskStatus.SUCCESS);
    }

    @Test
    void a_cancel_that_interrupts_does_so_once_and_what_is_held_is_given_back_when_the_callable_has_ended()
            throws Exception {
        Inside inside = new Inside();
        Run<String> run = inside.start(new Run<>("a", inside));
        time.advance(Duration.ofNanos(11));

        assertThat(run.cancelled(true)).isTrue();
        assertThat(run.isSettled()).isTrue();
        assertThat(run.cancelled(true)).isFalse();
        inside.awaitInterrupted();
        assertThat(events).containsExactly("a started after 0", "a settled CANCELLED");
        assertThat(run.ended()).isEqualTo(11);

        time.advance(Duration.ofNanos(2));
        inside.letGo();
        inside.thread.join();
        assertThat(events).containsExactly("a started after 0", "a settled CANCELLED", "a gave back after 13");
        assertThat(inside.interrupts).hasValue(1);
        assertThat(run.outcome()).as("a value that came late is dropped").isInstanceOf(Outcome.Cancelled.class);
        assertThat(inside.interruptedAfterwards).isFalse();
    }

    @Test
    void an_interrupt_alone_leaves_it_to_the_callable_how_it_ends() throws Exception {
        Inside inside = new Inside();
        Run<String> run = inside.start(new Run<>("a", inside));

        run.interrupted();
        inside.awaitInterrupted();
        assertThat(run.isSettled()).isFalse();
        assertThat(run.inside()).isSameAs(inside.thread);
        run.interrupted();
        inside.awaitInterrupted();
        inside.letGo();

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value, interrupts: 2"));
        run.interrupted();
        inside.thread.join();
        assertThat(inside.interruptedAfterwards).isFalse();
    }

    @Test
    void an_interrupt_before_the_callable_is_entered_cancels_and_one_before_the_beginning_does_nothing() {
        Run<String> early = new Run<>("early", () -> "value");
        early.interrupted();
        early.run();
        assertThat(early.outcome().status()).isEqualTo(TaskStatus.SUCCESS);

        Run<String> entering = new Run<>("entering", () -> "never");
        entering.whenStarted = entering::interrupted;
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
    void the_interrupt_status_that_a_callable_leaves_reaches_nobody_after_it() {
        List<Boolean> seen = new ArrayList<>();
        Run<String> run = new Run<>("a", () -> {
            Thread.currentThread().interrupt();
            return "value";
        });
        run.whenGivenBack = () -> seen.add(Thread.currentThread().isInterrupted());
        run.whenSettled = () -> seen.add(Thread.currentThread().isInterrupted());

        run.run();

        assertThat(seen).containsExactly(false, false);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void an_interrupt_meant_for_one_run_never_reaches_the_next_of_its_thread() throws Exception {
        int rounds = 20_000;
        Phaser phase = new Phaser(2);
        AtomicInteger leaked = new AtomicInteger();
        List<Run<String>> runs = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            runs.add(new Run<>("r", () -> {
                phase.arriveAndAwaitAdvance(); // it ends while it is being cancelled
                return "value";
            }));
        }
        FutureTask<Integer> canceller = new FutureTask<>(() -> {
            int cancelled = 0;
            for (int i = 0; i < rounds; i++) {
                phase.arriveAndAwaitAdvance();
                if (i % 2 == 0) {
                    cancelled += runs.get(i).cancelled(true) ? 1 : 0;
                } else {
                    runs.get(i).interrupted();
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
            phase.arriveAndAwaitAdvance(); // whatever was on its way has arrived
            leaked.addAndGet(Thread.interrupted() ? 1 : 0);
            cancelled += run.outcome().status() == TaskStatus.CANCELLED ? 1 : 0;
            events.clear();
        }
        thread.join();

        assertThat(leaked).hasValue(0);
        assertThat(canceller.get()).as("who is told that it cancelled did").isEqualTo(cancelled);
    }

    // In a caller's thread.

    @Test
    void in_a_callers_thread_an_interrupt_that_the_callable_left_is_for_the_caller_and_for_nobody_who_is_told() {
        List<Boolean> seen = new ArrayList<>();
        Run<String> run = new Run<>("a", () -> {
            Thread.currentThread().interrupt();
            return "value";
        });
        run.whenGivenBack = () -> seen.add(Thread.currentThread().isInterrupted());
        run.whenSettled = () -> seen.add(Thread.currentThread().isInterrupted());

        run.here();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(seen).containsExactly(false, false);
        assertThat(run.outcome()).isEqualTo(new Outcome.Success<>("value"));
    }

    @Test
    void in_a_callers_thread_too_the_interrupt_that_cancelled_the_run_is_cleared() {
        List<Run<Boolean>> self = new ArrayList<>();
        Run<Boolean> run = new Run<>("a", () -> self.getFirst().cancelled(true));
        self.add(run);

        run.here();

        assertThat(Thread.interrupted()).isFalse();
        assertThat(run.outcome().status()).isEqualTo(TaskStatus.CANCELLED);
    }

    @Test
    void a_callers_thread_is_never_given_another_run() {
        Run<String> run = new Run<>("a", () -> "value");
        run.following = new Run<>("b", () -> "other");

        assertThatThrownBy(run::here)
                .isInstanceOf(AssertionError.class)
                .hasMessage("a caller's thread must not be given run \"b\" to run");
    }

    // Claiming.

    @Test
    void a_claimed_run_is_in_nobodys_hands_until_it_is_concluded() throws Exception {
        Callable<String> callable = () -> "never";
        Run<String> run = new Run<>("a", callable);
        assertThat(run.claimed()).isTrue();

        assertThat(run.claimed()).isFalse();
        assertThat(run.cancelled(true)).isFalse();
        run.interrupted();
        run.run();
        assertThat((Object) run.callable()).isSameAs(callable);
        assertThat(run.isSettled()).isFalse();
        assertThatIllegalStateException().isThrownBy(run::outcome).withMessage("run \"a\" has not ended");

        time.advance(Duration.ofNanos(3));
        run.conclude(new Outcome.Rejected<>("full"), true);

        assertThat(run.await()).isEqualTo(new Outcome.Rejected<>("full"));
        assertThat(run.start()).isEqualTo(3);
        assertThat(run.ended()).isEqualTo(3);
        assertThat(events).containsExactly("a gave back after 0", "a settled REJECTED");
    }

    @Test
    void a_claimed_run_may_be_concluded_with_another_ones_times_and_without_telling() throws Exception {
        Run<String> run = new Run<>("a", () -> "never");
        run.claimed();

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
                .isThrownBy(() -> run.conclude(new Outcome.Rejected<>("full"), true))
                .withMessage("run \"a\" was not claimed");
        Run<String> other = new Run<>("b", () -> "value");
        other.whenStarted = () -> events.add("claimed " + other.claimed());
        other.run();

        assertThat(events).contains("claimed false");
        assertThat(other.claimed()).isFalse();
        assertThat(other.outcome()).isEqualTo(new Outcome.Success<>("value"));
    }

    @Test
    void a_claimed_run_may_be_concluded_by_calling_it_here_without_permits() {
        Run<String> run = new Run<>("a", () -> {
            time.advance(Duration.ofNanos(9));
            return "value";
        });
        run.claimed();
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
        failing.claimed();
        failing.concludeByCalling();
        assertThat(failing.outcome()).isEqualTo(new Outcome.Failure<>(thrown));
    }

    @Test
    void an_interrupt_of_the_caller_that_the_callable_took_is_given_back_to_the_caller() {
        Run<String> run = new Run<>("a", () -> {
            throw new InterruptedException();
        });
        run.claimed();

        run.concludeByCalling();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(run.outcome().status()).isEqualTo(TaskStatus.CANCELLED);
    }

    // Waiting.

    @Test
    void a_wait_that_times_out_returns_nothing_and_the_run_goes_on() throws Exception {
        Run<String> run = new Run<>("a", () -> "value");

        assertThat(run.await(Deadline.after(time, Duration.ZERO))).isNull();
        run.run();

        assertThat(run.await(Deadline.after(time, Duration.ZERO))).isEqualTo(new Outcome.Success<>("value"));
    }

    @Test
    void everybody_who_waits_is_woken_when_the_run_is_settled_and_hears_of_it_after_the_listener() throws Exception {
        Run<String> run = new Run<>("a", () -> "value");
        run.end().whenSet(() -> events.add("followed, done " + run.isSettled()));
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
                        "a started after 0", "a gave back after 0", "a settled SUCCESS", "followed, done true");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_listener_that_throws_although_it_must_not_does_not_keep_those_who_wait() throws Exception {
        Run<String> run = new Run<>("a", () -> "value");
        run.whenSettled = () -> {
            throw new IllegalStateException("listener");
        };

        assertThatThrownBy(run::run).hasMessage("listener");

        assertThat(run.await()).isEqualTo(new Outcome.Success<>("value"));
    }

    /** Stays inside until it is let go, and counts the interrupts that it gets. */
    private static final class Inside implements Callable<String> {
        final AtomicInteger interrupts = new AtomicInteger();
        private final CountDownLatch begun = new CountDownLatch(1);
        private final Phaser interrupted = new Phaser(2);
        private volatile boolean letGo;
        Thread thread;
        volatile boolean interruptedAfterwards;

        @Override
        public String call() {
            begun.countDown();
            while (!letGo) {
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

        void letGo() {
            letGo = true;
            LockSupport.unpark(thread);
        }
    }
}
