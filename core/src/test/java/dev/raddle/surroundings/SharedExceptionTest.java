package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.FailurePolicy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An exception that the host keeps and throws again, such as a constant, does not grow with its uses. */
class SharedExceptionTest {

    private static final int USES = 100;
    private static final RetryPolicy THREE = RetryPolicy.attempts(3);

    private final IllegalStateException shared = new IllegalStateException("busy");

    /** A way in which Raddle adds a suppressed exception to one that it has not created. */
    record Way(String name, Use use) {
        @Override
        public String toString() {
            return name;
        }
    }

    interface Use {
        void with(RuntimeException shared) throws Exception;
    }

    static Stream<Way> ways() {
        return Stream.of(
                new Way("a wait in a scope", SharedExceptionTest::awaitScope),
                new Way("a retry in a scope", SharedExceptionTest::retryInScope),
                new Way("a retry in a group", SharedExceptionTest::retryInGroup),
                new Way("a retry in a flow", SharedExceptionTest::retryInFlow),
                new Way("a policy that throws", SharedExceptionTest::failInPolicy),
                new Way("a fallback of a flow", SharedExceptionTest::failInFallback),
                new Way("a default of a flow", SharedExceptionTest::failInDefault),
                new Way("two listeners", SharedExceptionTest::failInListeners));
    }

    private static void awaitScope(RuntimeException shared) throws Exception {
        try (ThreadScope scope = ThreadScope.open("page")) {
            Task<?> busy = scope.submit("a", () -> throwing(shared));
            assertThatThrownBy(busy::await).isSameAs(shared);
            Task<?> other = scope.submit("b", () -> throwing(new IllegalStateException("b")));
            assertThatThrownBy(other::await).hasMessage("b");
            assertThatThrownBy(() -> scope.await(busy, other)).isSameAs(shared);
        }
    }

    private static void retryInScope(RuntimeException shared) throws Exception {
        try (ThreadScope scope = ThreadScope.open("page")) {
            Task<Object> task = scope.submit(TaskSpec.named("a", resets(shared)).retry(THREE));
            assertThatThrownBy(task::await).isSameAs(shared);
        }
    }

    private static void retryInGroup(RuntimeException shared) throws Exception {
        try (GroupExecutor groups =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            TaskSpec<Object> task = TaskSpec.named("a", resets(shared)).retry(THREE);
            assertThatThrownBy(() -> groups.call("k", task)).isSameAs(shared);
        }
    }

    private static void retryInFlow(RuntimeException shared) throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("f");
        Callable<Object> action = resets(shared);
        FlowPlan<Void, Object> plan =
                flow.returning(flow.node("n", () -> action.call()).retry(THREE));
        assertThat(plan.run(null).node("n").cause()).isSameAs(shared);
    }

    private static void failInPolicy(RuntimeException shared) throws Exception {
        RetryPolicy broken = RetryPolicy.builder()
                .maxAttempts(3)
                .retryIf((attempt, failure) -> throwing(shared))
                .build();
        try (ThreadScope scope = ThreadScope.open("page")) {
            Task<Object> task = scope.submit(TaskSpec.named("a", resets(shared)).retry(broken));
            assertThatThrownBy(task::await).isSameAs(shared);
        }
    }

    private static void failInFallback(RuntimeException shared) throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("f");
        FlowPlan<Void, Object> plan = flow.returning(flow.node("n", () -> throwing(new IllegalStateException("first")))
                .fallback(failure -> throwing(shared)));
        assertThat(plan.run(null).node("n").cause()).isSameAs(shared);
    }

    private static void failInDefault(RuntimeException shared) throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("f");
        FlowPlan<Void, Object> plan = flow.returning(flow.node("n", () -> throwing(shared))
                .defaultFrom(() -> throwing(new IllegalStateException("default"))));
        assertThat(plan.run(null).node("n").cause()).isSameAs(shared);
    }

    private static void failInListeners(RuntimeException shared) throws Exception {
        TaskListener first = listener(shared);
        TaskListener second = listener(new IllegalStateException("second"));
        ScopeOptions options = ScopeOptions.defaults()
                .addListener(first.and(second))
                .withExceptionSink(ExceptionSink.to((s, e) -> {}));
        try (ThreadScope scope = ThreadScope.open("page", options)) {
            scope.submit(() -> 1).await();
        }
    }

    private static TaskListener listener(RuntimeException thrown) {
        return new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                throw thrown;
            }
        };
    }

    private static Callable<Object> resets(RuntimeException last) {
        AtomicInteger attempts = new AtomicInteger();
        return () -> {
            if (attempts.incrementAndGet() < 3) {
                throw new IOException("reset");
            }
            throw last;
        };
    }

    private static <T> T throwing(RuntimeException exception) {
        throw exception;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ways")
    void a_shared_exception_gets_at_most_sixteen_suppressed_ones_in_its_life(Way way) throws Exception {
        for (int use = 0; use < USES; use++) {
            way.use().with(shared);
        }

        assertThat(shared.getSuppressed()).hasSizeBetween(1, 16);
    }

    @Test
    void an_exception_is_added_once_and_never_to_itself() throws Exception {
        IllegalStateException other = new IllegalStateException("other");
        try (ThreadScope scope = ThreadScope.open("page")) {
            for (int use = 0; use < 3; use++) {
                Task<?> a = scope.submit("a", () -> throwing(shared));
                assertThatThrownBy(a::await).isSameAs(shared);
                Task<?> b = scope.submit("b", () -> throwing(other));
                assertThatThrownBy(b::await).isSameAs(other);
                Task<?> c = scope.submit("c", () -> throwing(shared));
                assertThatThrownBy(c::await).isSameAs(shared);
                assertThatThrownBy(() -> scope.await(a, b, c)).isSameAs(shared);
            }
        }

        assertThat(shared.getSuppressed()).containsExactly(other);
    }

    @Test
    void two_shared_exceptions_do_not_contain_each_other() throws Exception {
        IllegalStateException other = new IllegalStateException("other");
        for (List<IllegalStateException> order : List.of(List.of(shared, other), List.of(other, shared))) {
            try (ThreadScope scope = ThreadScope.open("page")) {
                Task<?> a = scope.submit("a", () -> throwing(order.getFirst()));
                assertThatThrownBy(a::await).isSameAs(order.getFirst());
                Task<?> b = scope.submit("b", () -> throwing(order.getLast()));
                assertThatThrownBy(b::await).isSameAs(order.getLast());
                assertThatThrownBy(() -> scope.await(a, b)).isSameAs(order.getFirst());
            }
        }

        assertThat(shared.getSuppressed()).containsExactly(other);
        assertThat(other.getSuppressed()).isEmpty();
    }

    @Test
    void an_exception_whose_cause_cannot_be_read_is_thrown_all_the_same() throws Exception {
        IllegalStateException unreadable = new IllegalStateException("unreadable") {
            @Override
            public synchronized Throwable getCause() {
                throw new UnsupportedOperationException("no cause");
            }
        };
        try (ThreadScope scope = ThreadScope.open("page")) {
            Task<?> a = scope.submit("a", () -> throwing(shared));
            assertThatThrownBy(a::await).isSameAs(shared);
            Task<?> b = scope.submit("b", () -> throwing(unreadable));
            assertThatThrownBy(b::await).isSameAs(unreadable);
            assertThatThrownBy(() -> scope.await(a, b)).isSameAs(shared);
        }

        assertThat(shared.getSuppressed()).hasSize(1);
    }

    @Test
    void an_aggregate_has_all_failures_however_many() throws Exception {
        try (ThreadScope scope = ThreadScope.open("page").withFailurePolicy(FailurePolicy.COLLECT_ALL)) {
            List<Task<?>> tasks = new ArrayList<>();
            for (int task = 0; task < USES; task++) {
                tasks.add(scope.submit(() -> throwing(new IllegalStateException("one of many"))));
            }
            assertThatThrownBy(() -> scope.await(tasks))
                    .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(USES));
        }
    }
}
