package dev.raddle.scope;

import static dev.raddle.scope.Tasks.assertWrongThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope.ShutdownOnFailure;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Subtasks that a scheduler starts, such as that of a group. */
class ScheduledScopeTest {

    private static GroupExecutor executor(int limit) {
        return GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(limit).build());
    }

    private static StructuredScopeOptions through(Scheduler scheduler) {
        return StructuredScopeOptions.defaults().withScheduler(scheduler);
    }

    @Test
    void the_groups_limit_holds_for_subtasks() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (GroupExecutor executor = executor(2);
                var scope = new StructuredTaskScope<Integer>(through(executor.scheduler("a")))) {
            List<Subtask<Integer>> subtasks = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                int number = i;
                subtasks.add(scope.fork(() -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    Thread.onSpinWait();
                    running.decrementAndGet();
                    return number;
                }));
            }
            scope.join();

            assertThat(subtasks).allMatch(subtask -> subtask.state() == Subtask.State.SUCCESS);
            assertThat(subtasks.get(7).get()).isEqualTo(7);
            assertThat(scope.toString()).contains("scheduler: scheduler through group \"a\"");
        }
        assertThat(most.get()).isBetween(1, 2);
    }

    @Test
    void a_shutdown_leaves_the_groups_queue_at_once() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(1);
        try (GroupExecutor executor = executor(1);
                var scope = new StructuredTaskScope<Object>(through(executor.scheduler("a")))) {
            scope.fork(() -> {
                begun.countDown();
                return Tasks.forever();
            });
            begun.await();
            for (int i = 0; i < 10; i++) {
                scope.fork(ran::incrementAndGet);
            }
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isEqualTo(10);
            assertThat(ScopeDump.json(scope)).contains("\"state\": \"WAITING\"");
            scope.shutdown();
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isZero();
            scope.join();
        }
        assertThat(ran).hasValue(0);
    }

    @Test
    void a_rejection_is_thrown_by_fork() throws Exception {
        Scheduler full = task -> {
            throw new RejectedExecutionException("full");
        };
        try (var scope = new StructuredTaskScope<Object>(through(full))) {
            assertThatThrownBy(() -> scope.fork(() -> null)).hasMessage("full");
            scope.join();
        }
    }

    @Test
    void a_rejection_after_acceptance_is_a_failure_of_the_subtask() throws Exception {
        AtomicReference<Scheduler.Placeable> accepted = new AtomicReference<>();
        Scheduler scheduler = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                throw new AssertionError("place is asked");
            }

            @Override
            public Placement place(Placeable task) {
                accepted.set(task);
                return Placement.FINAL;
            }
        };
        try (var scope = new ShutdownOnFailure(through(scheduler))) {
            var subtask = scope.fork(() -> "never");
            accepted.get().reject(new RejectedExecutionException("thrown out"));
            accepted.get().reject(new RejectedExecutionException("twice"));
            accepted.get().run();
            scope.join();

            assertThat(subtask.exception()).hasMessage("thrown out");
            assertThatThrownBy(scope::throwIfFailed).isInstanceOf(ExecutionException.class);
        }
    }

    @Test
    void a_subtask_that_cannot_be_withdrawn_runs_after_a_shutdown_and_is_interrupted() throws Exception {
        List<Runnable> later = new ArrayList<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        AtomicBoolean leaked = new AtomicBoolean();
        try (var scope = new StructuredTaskScope<Object>(through(later::add))) {
            var subtask = scope.fork(() -> {
                interrupted.set(Thread.currentThread().isInterrupted());
                return null;
            });
            scope.shutdown();
            Thread pooled = Thread.ofPlatform().start(() -> {
                later.getFirst().run();
                leaked.set(Thread.currentThread().isInterrupted());
            });
            pooled.join();
            scope.join();
            assertThat(leaked).isFalse();

            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
        assertThat(interrupted).isTrue();
    }

    @Test
    void an_interrupt_does_not_follow_a_pools_thread_into_its_next_task() throws Exception {
        try (ThreadPool pool = ThreadPool.builder("one").threads(1).build()) {
            AtomicBoolean leaked = new AtomicBoolean();
            CountDownLatch begun = new CountDownLatch(1);
            try (var scope = new StructuredTaskScope<Object>(through(Scheduler.from(pool)))) {
                scope.fork(() -> {
                    begun.countDown();
                    Wait.until(scope::isShutdown);
                    return null;
                });
                begun.await();
                scope.shutdown();
                scope.join();
            }
            pool.submit(() -> leaked.set(Thread.currentThread().isInterrupted()))
                    .get();

            assertThat(leaked).isFalse();
        }
    }

    @Test
    void subtasks_are_inside_and_fork_through_the_scheduler_too() throws Exception {
        try (GroupExecutor executor = executor(2);
                var scope = new StructuredTaskScope<Object>(through(executor.scheduler("a")));
                var inner = new StructuredTaskScope<Object>()) {
            AtomicReference<Subtask<String>> forked = new AtomicReference<>();
            var subtask = scope.fork(() -> {
                assertWrongThread(() -> inner.fork(() -> null));
                forked.set(scope.fork(() -> "forked"));
                return true;
            });
            inner.join();
            scope.join();

            assertThat(subtask.get()).isEqualTo(true);
            assertThat(forked.get().get()).isEqualTo("forked");
        }
    }

    @Test
    void a_test_may_control_the_order() throws Exception {
        StepScheduler steps = new StepScheduler();
        try (var scope = new StructuredTaskScope<String>(through(steps))) {
            var subtask = scope.fork(() -> "stepped");
            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            Tasks.inAnotherThread(steps::runAll);
            scope.join();

            assertThat(subtask.get()).isEqualTo("stepped");
        }
    }
}
