package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.GrantedPermits;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StackEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No task and no permit of a scope is lost if the stack or the heap is exhausted. */
@Timeout(60)
class ExhaustedScopeTest {

    private static final int STACK = 256 * 1024;
    private static final int TRIALS = 8;
    private static final int CALLS = 60; // from as many frames, the deepest first

    private static final Callable<String> TASK = () -> "v";

    /** The calls of a scope near the end of the stack. */
    enum Use {
        SUBMIT {
            @Override
            Task<?> call(ThreadScope scope) {
                return scope.submit("t", TASK);
            }
        },
        SUBMIT_TIMED {
            @Override
            Task<?> call(ThreadScope scope) {
                return scope.submit("t", TASK, Duration.ofMinutes(1));
            }
        },
        SUBMIT_AND_CANCEL {
            @Override
            Task<?> call(ThreadScope scope) {
                Task<?> task = scope.submit("t", TASK);
                task.cancel();
                return task;
            }
        };

        abstract Task<?> call(ThreadScope scope);
    }

    @ParameterizedTest
    @EnumSource
    void a_call_near_the_end_of_the_stack_takes_effect_completely_or_not_at_all(Use use) throws Exception {
        int overflows = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            try (ThreadScope scope = ThreadScope.open("s").withConcurrencyLimit(2)) {
                use.call(scope); // links the calls
                Task<?>[] tasks = new Task<?>[CALLS];
                FutureTask<Integer> dive =
                        new FutureTask<>(() -> StackEnd.call(CALLS, call -> tasks[call] = use.call(scope)));
                new Thread(null, dive, "diver", STACK + 1024L * trial).start();

                overflows += dive.get();

                for (Task<?> task : tasks) {
                    if (task != null && use != Use.SUBMIT_AND_CANCEL) {
                        assertThat(task.await()).isEqualTo("v");
                    }
                }
                assertThat(scope.submit("further", TASK).await()).isEqualTo("v");
            } // waits for every task that was counted
        }
        assertThat(overflows).isPositive();
    }

    @Test
    void a_fork_near_the_end_of_the_stack_takes_effect_completely_or_not_at_all() throws Exception {
        int overflows = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            FutureTask<Integer> owner = new FutureTask<>(ExhaustedScopeTest::forkNearTheEndOfTheStack);
            new Thread(null, owner, "owner", STACK + 1024L * trial).start();
            overflows += owner.get();
        }
        assertThat(overflows).isPositive();
    }

    private static int forkNearTheEndOfTheStack() throws Exception {
        Queue<Runnable> placed = new ConcurrentLinkedQueue<>();
        StructuredScopeOptions options = StructuredScopeOptions.defaults()
                .withScheduler(placed::add)
                .withListener(new TaskListener() {})
                .withSink(ExceptionSink.to((source, failure) -> {}));
        var scope = new StructuredTaskScope<String>(options); // not in a try block: closing waits for lost subtasks
        scope.fork(TASK); // links the calls
        Subtask<?>[] subtasks = new Subtask<?>[CALLS];
        int overflows = StackEnd.call(CALLS, call -> subtasks[call] = scope.fork(TASK));

        placed.forEach(Runnable::run);

        assertThat(scope.pending.count()).isZero();
        scope.join();
        for (Subtask<?> subtask : subtasks) {
            if (subtask != null) {
                assertThat(subtask.get()).isEqualTo("v");
            }
        }
        scope.close();
        return overflows;
    }

    @Test
    void a_cancellation_that_fails_at_one_task_goes_on_with_the_others() throws InterruptedException {
        BlockingTask holder = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open("s").withConcurrencyLimit(1)) {
            Task<String> first = scope.submit("holder", holder::call);
            holder.awaitBegun();
            List<Task<String>> all = new ArrayList<>(List.of(first));
            for (int task = 0; task < 3; task++) {
                all.add(scope.submit("t" + task, TASK));
            }
            ScopeTasks tasks = ((ScopeRun<String>) first).scope;
            CancelledException cause = new CancelledException("by the test");
            AtomicBoolean failed = new AtomicBoolean();
            tasks.gate.close(cause);

            tasks.cancelAll(cause, notification -> {
                if (failed.compareAndSet(false, true)) {
                    throw new OutOfMemoryError("simulated");
                }
                notification.run();
            });

            for (Task<String> task : all) {
                assertThatThrownBy(task::await).isInstanceOf(CancelledException.class);
            }
        }
    }

    @Test
    void a_task_whose_rejection_exhausts_the_stack_is_ended_by_another_thread() throws InterruptedException {
        RejectedExecutionException reason = new RejectedExecutionException("by the test");
        Scheduler full = task -> {
            throw reason;
        };
        try (ThreadScope scope = ThreadScope.open("s").withScheduler(full)) {
            ScopeTasks tasks = ((ScopeRun<String>) scope.submit("known", TASK)).scope;
            Thread submitter = Thread.currentThread();
            ScopeRun<String> run = new ScopeRun<>(tasks, tasks.nextId(), "t", TASK, tasks.defaultSettings(), 0) {
                @Override
                void leftScope() {
                    if (Thread.currentThread() == submitter) {
                        throw new StackOverflowError();
                    }
                }
            };

            tasks.submit(run);

            assertThatThrownBy(run::await).isSameAs(reason);
        }
    }

    @Test
    void a_task_whose_end_from_outside_exhausts_the_stack_leaves_the_scope_by_another_thread() {
        BlockingTask holder = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open("s").withConcurrencyLimit(1)) {
            ScopeTasks tasks = ((ScopeRun<String>) scope.submit("holder", holder::call)).scope;
            Thread canceller = Thread.currentThread();
            ScopeRun<String> run = new ScopeRun<>(tasks, tasks.nextId(), "t", TASK, tasks.defaultSettings(), 0) {
                @Override
                void countEnd(ScopeMeter meter) {
                    if (Thread.currentThread() == canceller) {
                        throw new StackOverflowError();
                    }
                    super.countEnd(meter);
                }
            };
            tasks.submit(run);

            run.cancel();

            holder.release();
        } // waits until the end of each task was counted
    }

    @Test
    void a_permit_granted_with_one_whose_start_exhausts_the_stack_is_started_by_another_thread()
            throws InterruptedException {
        BlockingTask holder = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open("s").withConcurrencyLimit(2)) {
            List<ScopeRun<?>> holders = new ArrayList<>();
            for (int task = 0; task < 2; task++) {
                holders.add((ScopeRun<String>) scope.submit("holder" + task, holder::call));
            }
            ScopeTasks tasks = holders.getFirst().scope;
            Thread starter = Thread.currentThread();
            AtomicBoolean failing = new AtomicBoolean();
            ScopeRun<String> run = new ScopeRun<>(tasks, tasks.nextId(), "t", TASK, tasks.defaultSettings(), 0) {
                @Override
                void leftScope() {
                    if (failing.get() && Thread.currentThread() == starter) {
                        throw new StackOverflowError();
                    }
                }
            };
            tasks.submit(run);
            Task<String> next = scope.submit("next", TASK);
            GrantedPermits grants = new GrantedPermits();
            holders.forEach(held -> tasks.gate.release(held, null, 0, grants)); // grants both
            run.cancel();
            failing.set(true);

            tasks.dispatch(grants);

            assertThat(next.await()).isEqualTo("v");
            holder.release();
        }
    }
}
