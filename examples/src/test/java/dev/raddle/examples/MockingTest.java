package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.structured.StructuredTaskScope;
import dev.raddle.task.CancellationToken;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskListener;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.ArgumentMatchers;
import org.mockito.MockedStatic;
import org.mockito.exceptions.base.MockitoException;

/** Mocks what users mock: the table of {@code docs/guide/testing.md}. */
class MockingTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                GroupExecutor.class,
                GroupPolicy.class,
                GroupResult.class,
                TaskHandle.class,
                ThreadScope.class,
                ScopeOptions.class,
                Task.class,
                dev.raddle.scope.StructuredTaskScope.class,
                FlowBuilder.class,
                FlowPlan.class,
                FlowRun.class,
                FlowResult.class,
                Node.class,
                NodeContext.class,
                RunOptions.class,
                ThreadPool.class,
                PoolBuilder.class,
                CancellationToken.class,
                Scheduler.class
            })
    void a_type_that_is_not_sealed_can_be_mocked(Class<?> type) {
        assertThat(mock(type)).isInstanceOf(type);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Outcome.class,
                Dependency.class,
                StructuredTaskScope.Subtask.class,
                StructuredTaskScope.Configuration.class
            })
    void a_sealed_type_cannot_be_mocked(Class<?> type) {
        assertThatThrownBy(() -> mock(type)).isInstanceOf(MockitoException.class);
    }

    @Test
    void a_stubbed_executor_returns_a_stubbed_handle() {
        GroupExecutor executor = mock();
        TaskHandle<String> handle = mock();
        when(executor.submit(eq("key"), MockingTest.<Callable<String>>something()))
                .thenReturn(handle);
        when(handle.join()).thenReturn(GroupResult.success("key", "task", "stubbed", 0, 1));

        TaskHandle<String> submitted = executor.submit("key", () -> "real");

        assertThat(submitted.join().value()).isEqualTo("stubbed");
    }

    @Test
    void a_mocked_executor_runs_the_callable_only_if_its_answer_does() throws Exception {
        GroupExecutor executor = mock();
        Callable<String> callable = () -> "called";

        assertThat(executor.call("key", callable)).isNull();

        when(executor.call(eq("key"), MockingTest.<Callable<String>>something()))
                .thenAnswer(call -> call.<Callable<String>>getArgument(1).call());

        assertThat(executor.call("key", callable)).isEqualTo("called");
    }

    @Test
    void a_mocked_plan_returns_a_mocked_result() throws Exception {
        FlowPlan<String, String> plan = mock();
        FlowResult<String> result = mock();
        when(plan.run("order")).thenReturn(result);
        when(result.value()).thenReturn("stubbed");

        assertThat(plan.run("order").value()).isEqualTo("stubbed");
    }

    @Test
    void the_static_method_that_opens_a_scope_can_return_a_mock() {
        ThreadScope scope = mock();
        try (MockedStatic<ThreadScope> scopes = mockStatic(ThreadScope.class)) {
            scopes.when(() -> ThreadScope.open("page")).thenReturn(scope);

            assertThat(ThreadScope.open("page")).isSameAs(scope);
        }
    }

    @Test
    void a_spy_on_an_executor_runs_its_tasks_and_closes_it() throws Exception {
        GroupExecutor real =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build());
        try (GroupExecutor executor = spy(real)) {
            Callable<String> callable = () -> "called";
            assertThat(executor.submit("key", callable).await().value()).isEqualTo("called");
            verify(executor).submit("key", callable);
        }
        assertThat(real.isShutdown()).isTrue();
    }

    @Test
    void a_spy_on_a_scope_runs_its_tasks() throws Exception {
        try (ThreadScope scope = spy(ThreadScope.open("page"))) {
            assertThat(scope.submit("task", () -> "called").await()).isEqualTo("called");
        }
    }

    @Test
    void a_spy_on_a_pool_shares_its_threads() throws Exception {
        ThreadPool real = ThreadPool.builder("spied").threads(1).build();
        ThreadPool pool = spy(real);

        assertThat(pool.submit(() -> "called").get()).isEqualTo("called");
        pool.shutdown();

        assertThat(real.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void a_mocked_listener_is_notified() throws Exception {
        TaskListener listener = mock();
        GroupPolicy policy = GroupPolicy.builder().addListener(listener).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("key", () -> "called").await();
        }

        verify(listener).onStarted(any(), anyLong());
        verify(listener).onSettled(any(), any(), anyLong());
    }

    @Test
    void a_scheduler_that_runs_at_once_replaces_a_mock() throws Exception {
        GroupPolicy atOnce =
                GroupPolicy.builder().scheduler(key -> Runnable::run).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(atOnce);
                ThreadScope scope = ThreadScope.open("page").withScheduler(Runnable::run)) {
            Callable<Thread> current = Thread::currentThread;

            assertThat(executor.submit("key", current).await().value()).isSameAs(Thread.currentThread());
            assertThat(scope.submit("task", current).await()).isSameAs(Thread.currentThread());
        }
    }

    private static <T> T something() {
        return ArgumentMatchers.any();
    }
}
