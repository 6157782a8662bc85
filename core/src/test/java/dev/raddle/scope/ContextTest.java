package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskContext;
import dev.raddle.testing.StepScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class ContextTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");
    private static final ScopedValue<String> LOCALE = ScopedValue.newInstance();

    private final StepScheduler steps = new StepScheduler();
    private final List<String> events = new CopyOnWriteArrayList<>();

    private ThreadScope stepped() {
        return ThreadScope.open("s").withScheduler(steps);
    }

    private static String tenant() {
        return String.valueOf(TaskContext.current().get(TENANT));
    }

    /** A propagator of a thread-local that records its calls. */
    private ContextPropagator carrying(String name, ThreadLocal<String> local) {
        return () -> {
            String captured = local.get();
            events.add(name + " captured " + captured);
            return () -> {
                String before = local.get();
                local.set(captured);
                events.add(name + " installed");
                return () -> {
                    local.set(before);
                    events.add(name + " restored " + before);
                };
            };
        };
    }

    @Test
    void a_task_sees_the_values_of_its_submitter_as_they_were_at_submit() throws Exception {
        try (ThreadScope scope = stepped()) {
            Task<String> none = scope.submit(ContextTest::tenant);
            Task<String> a = TaskContext.current().with(TENANT, "a").call(() -> scope.submit(ContextTest::tenant));
            Task<String> b = TaskContext.current().with(TENANT, "b").call(() -> {
                Task<String> submitted = scope.submit(ContextTest::tenant);
                assertThat(TaskContext.current().with(TENANT, "too late").get(TENANT))
                        .isEqualTo("too late");
                return submitted;
            });
            TaskContext.current().with(TENANT, "of the runner").run(steps::runAll);

            assertThat(none.await()).isEqualTo("null");
            assertThat(a.await()).isEqualTo("a");
            assertThat(b.await()).isEqualTo("b");
        }
    }

    @Test
    void a_context_value_set_by_a_task_is_seen_by_its_own_tasks_only() throws Exception {
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(1))) {
            Task<Task<String>> parent = TaskContext.current()
                    .with(TENANT, "a")
                    .call(() -> scope.submit(() -> TaskContext.current()
                            .with(TENANT, tenant() + "/child")
                            .call(() -> scope.submit(ContextTest::tenant))));
            Task<String> fails = TaskContext.current()
                    .with(TENANT, "b")
                    .call(() -> scope.submit(() -> {
                        throw new IllegalStateException(tenant());
                    }));
            Task<String> next = scope.submit(ContextTest::tenant);

            assertThat(parent.await().await()).isEqualTo("a/child");
            assertThatThrownBy(fails::await).hasMessage("b");
            assertThat(next.await()).isEqualTo("null");
            assertThat(tenant()).isEqualTo("null");
        }
    }

    @Test
    void propagators_capture_at_submit_are_installed_in_order_and_restored_in_reverse() throws Exception {
        ThreadLocal<String> one = new ThreadLocal<>();
        ThreadLocal<String> two = new ThreadLocal<>();
        try (ThreadScope scope = stepped().addPropagator(carrying("one", one)).addPropagator(carrying("two", two))) {
            one.set("1");
            two.set("2");
            Task<Boolean> task = scope.submit(() -> {
                events.add("called with " + one.get() + two.get());
                throw new IllegalStateException("and threw");
            });
            one.set("later");
            two.set("too");

            steps.runAll();

            assertThat(task.isFailed()).isTrue();
            assertThat(one.get() + two.get()).isEqualTo("latertoo");
        }
        assertThat(events)
                .containsExactly(
                        "one captured 1",
                        "two captured 2",
                        "one installed",
                        "two installed",
                        "called with 12",
                        "two restored too",
                        "one restored later");
    }

    @Test
    void each_attempt_and_the_hooks_start_get_the_context_anew() {
        ThreadLocal<String> local = new ThreadLocal<>();
        ThreadHook hook = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                events.add("hook sees " + local.get());
            }

            @Override
            public void onFailure(TaskInfo task, Throwable error, Duration ran) {
                events.add("hook sees the runner's " + local.get());
            }
        };
        try (ThreadScope scope =
                stepped().addPropagator(carrying("p", local)).addHook(hook).withRetryPolicy(RetryPolicy.attempts(2))) {
            local.set("a");
            scope.submit(() -> {
                events.add("called with " + local.get());
                local.set("left by an attempt");
                throw new IllegalStateException("again");
            });
            local.set("b");
            steps.runAll();
        }
        assertThat(events)
                .containsExactly(
                        "p captured a",
                        "p installed",
                        "hook sees a",
                        "p restored b",
                        "p installed",
                        "called with a",
                        "p restored b",
                        "p installed",
                        "called with a",
                        "p restored b",
                        "hook sees the runner's b");
    }

    @Test
    void a_propagator_that_throws_changes_nothing_and_is_reported_to_the_sink() throws Exception {
        List<String> swallowed = new ArrayList<>();
        ThreadLocal<String> local = new ThreadLocal<>();
        ContextPropagator noCapture = () -> {
            throw new StackOverflowError("no capture");
        };
        ContextPropagator noInstall = () -> () -> {
            throw new IllegalStateException("no install");
        };
        ContextPropagator noRestore = () -> () -> () -> {
            throw new AssertionError("no restore");
        };
        try (ThreadScope scope = stepped()
                .addPropagator(noCapture)
                .addPropagator(noInstall)
                .addPropagator(carrying("p", local))
                .addPropagator(noRestore)
                .withExceptionSink(ExceptionSink.to((source, error) -> swallowed.add(error.getMessage())))) {
            local.set("a");
            Task<String> task = scope.submit(local::get);
            local.set("b");
            steps.runAll();

            assertThat(task.await()).isEqualTo("a");
            assertThat(local.get()).isEqualTo("b");
        }
        assertThat(swallowed).containsExactly("no capture", "no install", "no restore");
    }

    @Test
    void without_propagators_tasks_share_one_captured_context() {
        try (ThreadScope scope = stepped()) {
            assertThat(scope.tasks.defaultSettings()).isSameAs(scope.tasks.defaultSettings());
        }
    }

    @Test
    void registered_scoped_values_are_bound_in_the_task_as_they_were_in_the_submitter() throws Exception {
        ScopedValue<String> other = ScopedValue.newInstance();
        try (ThreadScope scope = ThreadScope.open().addScopedValue(LOCALE).addScopedValue(other)) {
            Task<String> bound =
                    ScopedValue.where(LOCALE, "fr").call(() -> scope.submit(() -> LOCALE.get() + other.orElse("-")));
            Task<String> both = ScopedValue.where(LOCALE, "de")
                    .where(other, "x")
                    .call(() -> TaskContext.current()
                            .with(TENANT, "a")
                            .call(() -> scope.submit(() -> LOCALE.get() + other.get() + tenant())));
            Task<Boolean> unbound = scope.submit(LOCALE::isBound);

            assertThat(bound.await()).isEqualTo("fr-");
            assertThat(both.await()).isEqualTo("dexa");
            assertThat(unbound.await()).isFalse();
        }
    }
}
