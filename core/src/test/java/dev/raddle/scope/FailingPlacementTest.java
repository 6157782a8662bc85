package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks in the queue of a scheduler. */
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
    void a_task_that_was_ended_does_not_enter_the_gate_of_its_scope() {
        Queue queue = new Queue(task -> Scheduler.Placement.FINAL);
        try (ThreadScope scope = ThreadScope.open().withScheduler(queue).withConcurrencyLimit(1)) {
            Task<String> task = scope.submit(() -> "never");
            task.cancel();
            ScopeRun<?> ended = (ScopeRun<?>) task;

            assertThat(ended.scope.gate.admit(ended)).isFalse();

            assertThat(ended.scope.gate.isSubjectToLimits(ended)).isFalse();
        }
    }
}
