package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Task;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.StackEnd;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A submission or a fork near the end of the stack takes effect, or throws before anything has changed. */
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
                .withPlainThreads()
                .withThreadFactory(run -> new Thread(run) {
                    @Override
                    public void start() {
                        placed.add(run);
                    }
                })
                .addListener(new TaskListener() {})
                .withExceptionSink(ExceptionSink.to((source, failure) -> {}));
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
}
