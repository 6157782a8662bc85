package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.NamedTask;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
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

    @Test
    void a_task_that_is_placed_in_a_group_sees_the_contexts_of_who_placed_it() throws Exception {
        List<Object> seen = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).propagators(List.of(propagator)).build())) {
            foreign.set("of the submitter");
            TaskContext.current()
                    .with(TENANT, "a")
                    .run(() -> executor.scheduler("g")
                            .execute(() -> seen.add(TaskContext.current().get(TENANT) + " " + foreign.get())));
            foreign.set("of the runner");
            steps.runAll();

            assertThat(seen).containsExactly("a of the submitter");
        }
    }

    /** Another task of the scope, which has ended, makes room for it: in that one's thread and context. */
    @Test
    void a_task_of_a_scope_brings_the_context_of_its_submitter_into_the_group_whoever_places_it_there()
            throws Exception {
        List<Object> seen = new ArrayList<>();
        List<Object> heard = new ArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                heard.add(task.name() + " " + foreign.get());
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                        .propagators(List.of(propagator))
                        .taskListener(listener)
                        .build());
                ThreadScope scope = ThreadScope.open("scope")
                        .withConcurrencyLimit(1)
                        .withPropagator(propagator)
                        .withScheduler(executor.scheduler("g"))) {
            foreign.set("1");
            scope.submit("first", () -> seen.add(foreign.get()));
            foreign.set("2");
            scope.submit("second", () -> seen.add(foreign.get()));
            foreign.set("of the runner");
            steps.runAll();

            assertThat(seen).containsExactly("1", "2");
            assertThat(heard).containsExactly("first 1", "second 2");
        }
    }

    @Test
    void a_placed_task_has_a_name_or_else_that_of_where_it_stands() {
        List<String> names = new ArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                names.add(task.name());
            }
        };
        record Import(String name) implements NamedTask, Runnable {
            @Override
            public void run() {}
        }
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).taskListener(listener).build())) {
            executor.scheduler("g").execute(() -> {});
            executor.scheduler("g").execute(new Import("import-7"));
            steps.runAll();
        }
        assertThat(names).containsExactly("lambda in " + GroupContextTest.class.getName(), "import-7");
    }
}
