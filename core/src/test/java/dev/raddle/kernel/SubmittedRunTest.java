package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskStatus;
import dev.raddle.time.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** The way of a run from its submission to its callable, without an API around it. */
class SubmittedRunTest {

    private final List<String> events = new ArrayList<>();

    /** A run that records its events, in a gate and a scheduler that the test plays. */
    private final class Run extends SubmittedRun<String> {
        private boolean isQueued;
        private Runnable whenWithdrawn = () -> {};
        private Runnable scheduler = () -> {};

        Run() {
            super(() -> "value", NOT_MEASURED);
        }

        void cancel() {
            endFromOutside(new Outcome.Cancelled<>(new CancelledException("by the test")), true, Runnable::run);
        }

        @Override
        protected GrantedPermits withdraw() {
            boolean wasQueued = isQueued;
            isQueued = false;
            whenWithdrawn.run();
            events.add((wasQueued ? "left the queue" : "in no queue") + (isDecided() ? ", decided" : ""));
            return wasQueued ? new GrantedPermits() : null;
        }

        @Override
        protected boolean mayStartInPlace() {
            return false;
        }

        @Override
        protected void placeAtScheduler() {
            scheduler.run();
        }

        @Override
        protected void releaseUnbegun(GrantedPermits grants) {
            events.add("released unbegun");
        }

        @Override
        protected TaskRun<?> releasePermits(long ranNanos, long grantedNanos, long nowNanos) {
            events.add("released by its runner");
            return null;
        }

        @Override
        protected void dispatch(GrantedPermits grants) {
            events.add("dispatched");
        }

        @Override
        protected void started(long waitNanos) {}

        @Override
        protected void settled(Outcome<String> outcome) {
            events.add("settled " + outcome.status());
        }

        @Override
        public int priority() {
            return 0;
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
            return TimeSource.system();
        }

        @Override
        public String owner() {
            return "test";
        }

        @Override
        public String name() {
            return "run";
        }
    }

    private final Run run = new Run();

    private static void fail() {
        throw new RejectedExecutionException("planned");
    }

    @Test
    void a_waiting_run_leaves_its_queue_before_it_is_decided() {
        run.isQueued = true;

        run.cancel();

        assertThat(events).containsExactly("left the queue", "dispatched", "settled CANCELLED");
    }

    @Test
    void a_run_that_enters_its_queue_while_it_is_cancelled_leaves_it_again() {
        run.whenWithdrawn = () -> {
            run.isQueued = !run.isDecided(); // the submitter lets it enter after the canceller has looked
            run.whenWithdrawn = () -> {};
        };

        run.cancel();

        assertThat(events).containsExactly("in no queue", "settled CANCELLED", "left the queue, decided", "dispatched");
    }

    @Test
    void a_start_that_fails_releases_the_permit_before_the_run_is_settled() {
        run.scheduler = SubmittedRunTest::fail;

        assertThat(run.start(null)).isFalse();

        assertThat(events).containsExactly("released unbegun", "settled FAILED", "dispatched");
    }

    @Test
    void what_a_failing_start_allows_is_left_to_the_thread_that_is_starting_runs() {
        run.scheduler = SubmittedRunTest::fail;

        assertThat(run.start(new GrantedPermits())).isFalse();

        assertThat(events).containsExactly("released unbegun", "settled FAILED");
    }

    @Test
    void a_run_that_its_scheduler_runs_and_then_rejects_is_ended_by_its_runner_alone() {
        run.scheduler = () -> {
            run.run();
            fail();
        };

        run.start(null);

        assertThat(events).containsExactly("released by its runner", "settled SUCCESS");
        assertThat(run.settledOutcome().status()).isEqualTo(TaskStatus.SUCCESS);
    }

    @Test
    void a_run_that_was_cancelled_before_its_scheduler_rejects_it_releases_its_permit_and_stays_cancelled() {
        run.start(null);
        run.cancel();
        events.clear();

        run.reject(new RejectedExecutionException("planned"));

        assertThat(events).containsExactly("released unbegun", "dispatched");
        assertThat(run.settledOutcome().status()).isEqualTo(TaskStatus.CANCELLED);
    }
}
