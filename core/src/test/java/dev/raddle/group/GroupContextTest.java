package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class GroupContextTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");

    private final StepScheduler steps = new StepScheduler();
    private final ThreadLocal<String> foreign = new ThreadLocal<>();
    private final ContextPropagator propagator = () -> {
        String captured = foreign.get();
        return () -> {
            String before = foreign.get();
            foreign.set(captured);
            return () -> foreign.set(before);
        };
    };

    // Z8
    @Test
    void a_task_sees_the_contexts_of_its_submitter_by_whatever_door_it_came() throws Exception {
        List<Object> seen = new ArrayList<>();
        Callable<Boolean> task = () -> seen.add(TaskContext.current().get(TENANT) + " " + foreign.get());
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(9)
                .propagators(List.of(propagator))
                .build())) {
            foreign.set("of the submitter");
            TaskContext.current().with(TENANT, "a").<Object>call(() -> {
                executor.submit("g", "t1", task);
                executor.submit("g", "t2", task, TaskOptions.defaults());
                executor.submit("g", TaskSpec.named("t3", task));
                executor.call("g", task);
                return executor.tryCall("g", Duration.ZERO, task);
            });
            foreign.set("of the runner");

            steps.runAll();

            assertThat(seen).hasSize(5).containsOnly("a of the submitter");
            assertThat(foreign.get()).as("restored").isEqualTo("of the runner");
            assertThat(TaskContext.current().get(TENANT)).isNull();
        }
    }
}
