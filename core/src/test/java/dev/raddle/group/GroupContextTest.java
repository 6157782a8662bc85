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
    private final ThreadLocal<String> value = new ThreadLocal<>();
    private final ContextPropagator propagator = () -> {
        String captured = value.get();
        return () -> {
            String before = value.get();
            value.set(captured);
            return () -> value.set(before);
        };
    };

    @Test
    void a_task_sees_the_contexts_of_its_submitter_through_every_method_of_submission() throws Exception {
        List<Object> seen = new ArrayList<>();
        Callable<Boolean> task = () -> seen.add(TaskContext.current().get(TENANT) + " " + value.get());
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(9)
                .addPropagator(propagator)
                .build())) {
            value.set("of the submitter");
            TaskContext.current().with(TENANT, "a").<Object>call(() -> {
                executor.submit("g", "t1", task);
                executor.submit("g", TaskSpec.named("t2", task));
                executor.submit("g", TaskSpec.named("t3", task));
                executor.call("g", task);
                return executor.tryCall("g", Duration.ZERO, task);
            });
            value.set("of the runner");

            steps.runAll();

            assertThat(seen).hasSize(5).containsOnly("a of the submitter");
            assertThat(value.get()).as("restored").isEqualTo("of the runner");
            assertThat(TaskContext.current().get(TENANT)).isNull();
        }
    }

    @Test
    void a_task_that_is_placed_in_a_group_sees_the_contexts_of_the_placing_thread() throws Exception {
        List<Object> seen = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).addPropagator(propagator).build())) {
            value.set("of the submitter");
            TaskContext.current()
                    .with(TENANT, "a")
                    .run(() -> executor.scheduler("g")
                            .execute(() -> seen.add(TaskContext.current().get(TENANT) + " " + value.get())));
            value.set("of the runner");
            steps.runAll();

            assertThat(seen).containsExactly("a of the submitter");
        }
    }

    /** The task is placed by the end of another task of the scope, in the thread and context of that task. */
    @Test
    void a_task_of_a_scope_sees_the_context_of_its_submitter_although_another_thread_places_it_in_the_group()
            throws Exception {
        List<Object> seen = new ArrayList<>();
        List<Object> notified = new ArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                notified.add(task.name() + " " + value.get());
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                        .addPropagator(propagator)
                        .addListener(listener)
                        .build());
                ThreadScope scope = ThreadScope.open("scope")
                        .withConcurrencyLimit(1)
                        .addPropagator(propagator)
                        .withScheduler(executor.scheduler("g"))) {
            value.set("1");
            scope.submit("first", () -> seen.add(value.get()));
            value.set("2");
            scope.submit("second", () -> seen.add(value.get()));
            value.set("of the runner");
            steps.runAll();

            assertThat(seen).containsExactly("1", "2");
            assertThat(notified).containsExactly("first 1", "second 2");
        }
    }

    @Test
    void a_placed_task_has_its_name_or_that_of_its_class() {
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
                TestTasks.stepped(steps).addListener(listener).build())) {
            executor.scheduler("g").execute(() -> {});
            executor.scheduler("g").execute(new Import("import-7"));
            steps.runAll();
        }
        assertThat(names).containsExactly("lambda in " + GroupContextTest.class.getName(), "import-7");
    }
}
