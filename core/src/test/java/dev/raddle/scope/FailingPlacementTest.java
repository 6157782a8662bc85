package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks and subtasks in the queue of a scheduler. */
@Timeout(120)
class FailingPlacementTest {

    /** Keeps tasks, with placements that the test creates. */
    private record Queue(List<Placeable> tasks, Function<Placeable, Placement> placement) implements Scheduler {
        Queue(Function<Placeable, Placement> placement) {
            this(new CopyOnWriteArrayList<>(), placement);
        }

        @Override
        public void execute(Runnable task) {
            throw new AssertionError("tasks are placed");
        }

        @Override
        public Placement place(Placeable task) {
            tasks.add(task);
            return placement.apply(task);
        }
    }

    private record Stuck() implements NamedTask, Callable<String> {
        @Override
        public String name() {
            return "stuck";
        }

        @Override
        public String call() {
            return "ran";
        }
    }

    private static StructuredScopeOptions on(Scheduler scheduler) {
        return StructuredScopeOptions.defaults().withScheduler(scheduler);
    }

    @Test
    void every_wait_that_a_placement_has_recorded_ends_although_the_subtask_has_ended_before() throws Exception {
        List<Runnable> awaited = new ArrayList<>();
        List<Thread> waiters = new CopyOnWriteArrayList<>();
        Queue queue = new Queue(task -> new Scheduler.Placement() {
            @Override
            public boolean withdraw() {
                return false;
            }

            @Override
            public boolean beginWait(Thread waiter) {
                waiters.add(waiter);
                awaited.add(task);
                if (awaited.size() == 2) {
                    awaited.forEach(Thread::startVirtualThread);
                }
                return true;
            }

            @Override
            public void endWait(Thread waiter) {
                waiters.remove(waiter);
            }
        });
        try (var scope = new StructuredTaskScope<Integer>(on(queue))) {
            scope.fork(() -> 1);
            scope.fork(() -> 2);

            scope.join();

            assertThat(awaited).hasSize(2);
            assertThat(waiters).isEmpty();
        }
    }

    @Test
    void a_placement_that_fails_to_record_a_wait_leaves_no_record_in_the_scope() {
        IllegalArgumentException failure = new IllegalArgumentException("planned");
        Queue queue = new Queue(task -> new Scheduler.Placement() {
            @Override
            public boolean withdraw() {
                return true;
            }

            @Override
            public boolean beginWait(Thread waiter) {
                throw failure;
            }
        });
        try (ThreadScope scope = ThreadScope.open().withScheduler(queue).withConcurrencyLimit(2)) {
            List<Task<String>> inner = new ArrayList<>();
            Task<String> outer = scope.submit(() -> inner.getFirst().await());
            inner.add(scope.submit(() -> "has not begun"));
            ScopeGate gate = ((ScopeRun<?>) outer).scope.gate;
            queue.tasks().getFirst().run();

            assertThatThrownBy(outer::await).isSameAs(failure);

            assertThat(gate.awaitedRuns()).isEmpty();
        }
    }

    @Test
    void a_placement_that_fails_to_withdraw_is_reported_and_the_other_subtasks_are_stopped() throws Exception {
        IllegalArgumentException failure = new IllegalArgumentException("planned");
        Map<String, Throwable> reports = new ConcurrentHashMap<>();
        Queue queue = new Queue(task -> () -> {
            throw failure;
        });
        BlockingTask running = new BlockingTask();
        try (var scope = new StructuredTaskScope<Object>(
                on(queue).withName("s").withExceptionSink(ExceptionSink.to(reports::put)))) {
            scope.fork(running);
            Thread.startVirtualThread(queue.tasks().getFirst());
            running.awaitBegun();
            Subtask<Object> stuck = scope.fork(new Stuck());

            scope.shutdown();

            running.awaitInterrupt();
            assertThat(reports).containsExactly(Map.entry("withdraw() of subtask stuck of scope \"s\"", failure));
            scope.join();
            queue.tasks().getLast().run();
            assertThat(stuck.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
    }

    @Test
    void a_thread_that_rejects_a_subtask_after_a_shutdown_keeps_its_interrupt() throws Exception {
        Queue queue = new Queue(task -> () -> false); // the rejecting thread has taken the task
        try (var scope = new StructuredTaskScope<String>(on(queue))) {
            scope.fork(() -> "never");
            scope.shutdown();
            Thread.currentThread().interrupt();

            queue.tasks().getFirst().reject(new RejectedExecutionException("planned"));

            assertThat(Thread.interrupted()).isTrue();
            scope.join();
        }
    }

    @Test
    void a_thread_that_rejects_a_subtask_is_not_interrupted_by_a_shutdown() throws Exception {
        Queue queue = new Queue(task -> () -> false);
        CountDownLatch completing = new CountDownLatch(1);
        CountDownLatch shutdown = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        try (var scope = new StructuredTaskScope<String>(on(queue)) {
            @Override
            protected void handleComplete(Subtask<? extends String> subtask) {
                completing.countDown();
                Wait.uninterruptibly(shutdown);
                interrupted.set(Thread.currentThread().isInterrupted());
            }
        }) {
            scope.fork(() -> "never");
            Thread rejecting = Thread.startVirtualThread(
                    () -> queue.tasks().getFirst().reject(new RejectedExecutionException("planned")));
            completing.await();

            scope.shutdown();
            shutdown.countDown();

            rejecting.join();
            assertThat(interrupted).isFalse();
            scope.join();
        }
    }
}
