package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.Propagation;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class TaskContextTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");
    private static final TaskContext.Key<Integer> ATTEMPT = TaskContext.Key.named("attempt");

    private final List<String> events = new ArrayList<>();
    private final List<String> reports = new ArrayList<>();
    private final ExceptionSink sink =
            ExceptionSink.to((source, error) -> reports.add(source + ": " + error.getMessage()));

    @Test
    void a_context_is_current_only_while_its_action_runs() throws Exception {
        assertThat(TaskContext.current().get(TENANT)).isNull();

        TaskContext.current().with(TENANT, "a").run(() -> {
            events.add(TaskContext.current().get(TENANT));
            TaskContext inner = TaskContext.current().with(TENANT, "b").with(ATTEMPT, 2);
            inner.run(() -> events.add(
                    TaskContext.current().get(TENANT) + TaskContext.current().get(ATTEMPT)));
            events.add(TaskContext.current().get(TENANT));
        });
        String called = TaskContext.current()
                .with(TENANT, "c")
                .call(() -> TaskContext.current().get(TENANT));

        assertThat(events).containsExactly("a", "b2", "a");
        assertThat(called).isEqualTo("c");
        assertThat(TaskContext.current().get(TENANT)).isNull();
    }

    @Test
    void call_throws_the_exception_of_the_action() {
        TaskContext context = TaskContext.current().with(TENANT, "a");
        IOException thrown = new IOException("disk");

        assertThatThrownBy(() -> context.call(() -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
    }

    @Test
    void a_context_is_immutable() {
        TaskContext empty = TaskContext.current();
        TaskContext one = empty.with(TENANT, "a");
        TaskContext other = one.with(TENANT, "b");

        assertThat(empty.get(TENANT)).isNull();
        assertThat(one.get(TENANT)).isEqualTo("a");
        assertThat(other.get(TENANT)).isEqualTo("b");
        assertThat(one).hasToString("task context {tenant=a}");
    }

    @Test
    void two_keys_with_the_same_name_are_different_keys() {
        TaskContext context = TaskContext.current().with(TENANT, "a");

        assertThat(context.get(TaskContext.Key.<String>named("tenant"))).isNull();
    }

    @Test
    void a_key_a_value_and_a_name_must_not_be_null() {
        TaskContext empty = TaskContext.current();

        assertThatNullPointerException().isThrownBy(() -> empty.with(null, "a")).withMessage("key");
        assertThatNullPointerException()
                .isThrownBy(() -> empty.with(TENANT, null))
                .withMessage("value");
        assertThatNullPointerException()
                .isThrownBy(() -> TaskContext.Key.named(null))
                .withMessage("name");
    }

    @Test
    void a_task_sees_the_context_of_its_submitter_in_any_thread() throws Exception {
        Callable<? extends String> propagated = TaskContext.current()
                .with(TENANT, "a")
                .<Callable<? extends String>>call(
                        () -> carry(() -> TaskContext.current().get(TENANT), List.of(), sink));

        FutureTask<String> otherThread = new FutureTask<>(propagated::call);
        Thread.ofPlatform().start(otherThread);

        assertThat(otherThread.get()).isEqualTo("a");
        assertThat(TaskContext.current().with(TENANT, "other").<String>call(propagated))
                .as("not the current context of the running thread")
                .isEqualTo("a");
    }

    @Test
    void a_thread_that_was_started_in_a_context_does_not_have_it() throws Exception {
        FutureTask<String> otherThread =
                new FutureTask<>(() -> TaskContext.current().get(TENANT));

        TaskContext.current().with(TENANT, "a").run(() -> Thread.ofVirtual().start(otherThread));

        assertThat(otherThread.get()).isNull();
    }

    @Test
    void without_a_context_to_propagate_the_callable_is_the_given_one() {
        Callable<String> callable = () -> "hi";

        assertThat((Object) carry(callable, List.of(), sink)).isSameAs(callable);
    }

    @Test
    void propagators_capture_at_once_install_in_order_and_restore_in_reverse_order() throws Exception {
        Callable<? extends String> propagated =
                carry(() -> event("called"), List.of(propagator("p"), propagator("q")), sink);
        events.add("submitted");

        assertThat(propagated.call()).isEqualTo("called");

        assertThat(events)
                .containsExactly(
                        "capture p",
                        "capture q",
                        "submitted",
                        "install p",
                        "install q",
                        "called",
                        "close q",
                        "close p");
        assertThat(reports).isEmpty();
    }

    @Test
    void installed_contexts_are_restored_although_the_callable_throws() {
        Error thrown = new Error("from the callable");
        Callable<? extends String> propagated = carry(
                () -> {
                    throw thrown;
                },
                List.of(propagator("p")),
                sink);

        assertThatThrownBy(propagated::call).isSameAs(thrown);

        assertThat(events).containsExactly("capture p", "install p", "close p");
    }

    @Test
    void the_task_context_and_propagators_are_applied_together() throws Exception {
        Callable<? extends String> propagated = TaskContext.current()
                .with(TENANT, "a")
                .<Callable<? extends String>>call(
                        () -> carry(() -> event(TaskContext.current().get(TENANT)), List.of(propagator("p")), sink));

        assertThat(propagated.call()).isEqualTo("a");
        assertThat(events).containsExactly("capture p", "install p", "a", "close p");
    }

    @Test
    void a_propagator_that_throws_affects_neither_the_task_nor_the_other_propagators() throws Exception {
        ContextPropagator noCapture = () -> {
            throw new IllegalStateException("no capture");
        };
        ContextPropagator noInstall = () -> () -> {
            throw new AssertionError("no install");
        };
        ContextPropagator noClose = () -> () -> () -> {
            throw new StackOverflowError("no close");
        };
        Callable<? extends String> propagated = carry(
                () -> event("called"), List.of(noCapture, propagator("p"), noInstall, noClose, propagator("q")), sink);

        assertThat(propagated.call()).isEqualTo("called");

        assertThat(events)
                .containsExactly("capture p", "capture q", "install p", "install q", "called", "close q", "close p");
        assertThat(reports)
                .satisfiesExactly(
                        report -> assertThat(report)
                                .startsWith("capture() of context propagator ")
                                .endsWith(": no capture"),
                        report -> assertThat(report)
                                .startsWith("install() of captured context ")
                                .endsWith(": no install"),
                        report -> assertThat(report)
                                .startsWith("close() of installed context ")
                                .endsWith(": no close"));
    }

    @Test
    void a_propagator_that_returns_null_is_reported_like_one_that_throws() throws Exception {
        Callable<? extends String> propagated = carry(() -> "called", List.of(() -> null, () -> () -> null), sink);

        assertThat(propagated.call()).isEqualTo("called");

        assertThat(reports).hasSize(2);
    }

    @Test
    void a_task_finds_its_scope_and_the_deadline_of_that() throws InterruptedException {
        VirtualTime time = new VirtualTime();
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(time).withDeadline(Duration.ofSeconds(2));
        try (ThreadScope scope = ThreadScope.open("page", options)) {
            TaskContext seen = scope.submit(TaskContext::current).await();

            assertThat(seen.isMember()).isTrue();
            assertThat(seen.owner()).isNotNull();
            assertThat(seen.owner().label()).isEqualTo("scope \"page\"");
            assertThat(seen.owner().deadline()).isNotNull();
            assertThat(seen.owner().deadline().remaining()).isEqualTo(Duration.ofSeconds(2));
        }
    }

    @Test
    void an_owner_that_is_not_raddles_bounds_nothing() throws Exception {
        TaskContext.Owner owner = new TaskContext.Owner() {
            @Override
            public Deadline deadline() {
                return Deadline.after(TimeSource.system(), Duration.ofSeconds(-1));
            }

            @Override
            public String label() {
                return "a stranger";
            }
        };
        String value = TaskContext.current().within(owner).call(() -> {
            try (ThreadScope scope = ThreadScope.open()) {
                return scope.submit(() -> "ran").await();
            }
        });

        assertThat(value).isEqualTo("ran");
    }

    private String event(String event) {
        events.add(event);
        return event;
    }

    private ContextPropagator propagator(String name) {
        return () -> {
            events.add("capture " + name);
            return () -> {
                events.add("install " + name);
                return () -> events.add("close " + name);
            };
        };
    }

    private static <T> Callable<? extends T> carry(
            Callable<? extends T> callable, List<ContextPropagator> propagators, ExceptionSink sink) {
        return new Propagation(false, propagators, List.of(), sink).carry(callable);
    }
}
