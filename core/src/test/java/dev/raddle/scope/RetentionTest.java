package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A reachable handle keeps its own result reachable, but not its siblings. */
class RetentionTest {

    private static final int ALL = 400;
    private static final int EVERY = 20;
    private static final int KEPT = ALL / EVERY;

    private final List<WeakReference<Object>> values = Collections.synchronizedList(new ArrayList<>());
    private final List<Object> kept = new ArrayList<>();

    private Object value() {
        Object value = new Object();
        values.add(new WeakReference<>(value));
        return value;
    }

    private void keep(int i, Object handle) {
        if (i % EVERY == 0) {
            kept.add(handle);
        }
    }

    private void assertOnlyKeptAreRetained() {
        assertThat(values).hasSize(ALL);
        assertThat(Retained.after(values, KEPT)).isEqualTo(KEPT);
        Reference.reachabilityFence(kept);
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_keeps_no_sibling_of_a_closed_scope(Kind kind) throws Exception {
        kind.open().close(); // skips kinds that this JDK does not have
        try (StructuredTaskScope<Object> scope = kind.open()) {
            for (int i = 0; i < ALL; i++) {
                keep(i, scope.fork(this::value));
            }
            scope.join();
        }
        assertOnlyKeptAreRetained();
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_keeps_no_sibling_of_an_open_scope_that_was_joined(Kind kind) throws Exception {
        try (StructuredTaskScope<Object> scope = kind.open()) {
            for (int i = 0; i < ALL; i++) {
                keep(i, scope.fork(this::value));
                if (i % 7 == 0) {
                    scope.join();
                }
            }
            scope.join();
            assertOnlyKeptAreRetained();
            assertThat(scope.isShutdown()).isFalse();
        }
    }

    @Test
    void a_subtask_keeps_no_sibling_that_was_unlinked_while_others_ran() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (StructuredTaskScope<Object> scope = new StructuredTaskScope<>()) {
            for (int i = 0; i < ALL; i++) {
                CountDownLatch called = new CountDownLatch(1);
                keep(i, scope.fork(() -> {
                    called.countDown();
                    return value();
                }));
                called.await();
                if (i % 50 == 0) {
                    scope.fork(Tasks.after(end, ""));
                }
            }
            end.countDown();
            scope.join();
        }
        assertOnlyKeptAreRetained();
    }

    @Test
    @Timeout(120)
    void a_shutdown_during_the_unlinking_of_ended_subtasks_interrupts_all_running_ones() throws Exception {
        for (int round = 0; round < 300; round++) {
            int before = round % 100;
            try (StructuredTaskScope<Object> scope = new StructuredTaskScope<>()) {
                CountDownLatch forked = new CountDownLatch(before);
                scope.fork(() -> {
                    forked.await();
                    scope.shutdown();
                    return "";
                });
                for (int i = 0; i < 200; i++) {
                    boolean stays = i % 4 == 0;
                    scope.fork(() -> stays ? Tasks.forever() : "");
                    forked.countDown();
                }
                scope.join();
            } // close() waits for all
        }
    }

    @Test
    void a_subtask_of_a_scope_with_a_joiner_keeps_no_sibling() throws Exception {
        joinAll(); // a call of its own, so that its frame keeps nothing reachable
        assertOnlyKeptAreRetained();
    }

    private void joinAll() throws Exception {
        try (var scope = dev.raddle.structured.StructuredTaskScope.open(Joiner.allSuccessfulOrThrow())) {
            for (int i = 0; i < ALL; i++) {
                keep(i, scope.fork(this::value));
            }
            assertThat(scope.join()).hasSize(ALL);
        }
    }

    @Test
    void a_task_keeps_no_sibling() throws Exception {
        List<ThreadScope> scopes = List.of(
                ThreadScope.open(),
                ThreadScope.open().withConcurrencyLimit(3),
                ThreadScope.open().withScheduler(Scheduler.priority(2)).withRetryPolicy(RetryPolicy.attempts(2)),
                ThreadScope.open().withScheduler(Scheduler.fixed(2)).withDeadline(Duration.ofHours(1)));
        for (ThreadScope scope : scopes) {
            values.clear();
            kept.clear();
            runTasks(scope);
            assertOnlyKeptAreRetained(); // while the scope is open
        }
        scopes.reversed().forEach(ThreadScope::close);
        assertOnlyKeptAreRetained();
    }

    private void runTasks(ThreadScope scope) throws InterruptedException {
        List<Task<Object>> tasks = new ArrayList<>();
        for (int i = 0; i < ALL; i++) {
            Callable<Object> callable = this::value;
            Task<Object> task = i % 3 == 0
                    ? scope.submit(callable)
                    : i % 3 == 1
                            ? scope.submit("timed", callable, Duration.ofHours(1))
                            : scope.schedule(Duration.ZERO, callable);
            keep(i, task);
            tasks.add(task);
        }
        scope.await(tasks);
    }

    @Test
    void a_task_keeps_no_thread_and_no_queue() throws Exception {
        List<WeakReference<Thread>> threads = Collections.synchronizedList(new ArrayList<>());
        try (ThreadScope scope = ThreadScope.open()) {
            Task<String> task = scope.submit(() -> {
                threads.add(new WeakReference<>(Thread.currentThread()));
                return "";
            });
            task.await();
            Retained.awaitCleared(threads);
            Reference.reachabilityFence(task);
        }
    }

    @Test
    void a_groups_handle_keeps_no_sibling() throws Exception {
        for (boolean reuse : new boolean[] {false, true}) {
            values.clear();
            kept.clear();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                    .defaultMaxConcurrencyPerGroup(3)
                    .reuseThreads(reuse)
                    .build())) {
                List<TaskHandle<Object>> handles = new ArrayList<>();
                for (int i = 0; i < ALL; i++) {
                    TaskHandle<Object> handle = executor.submit("g" + i % 2, "t", this::value);
                    keep(i, handle);
                    handles.add(handle);
                }
                for (TaskHandle<Object> handle : handles) {
                    handle.await();
                }
                handles.clear();
                assertOnlyKeptAreRetained();
            }
        }
    }

    @Test
    void a_pools_future_keeps_no_sibling() throws Exception {
        try (ThreadPool pool = ThreadPool.builder("kept").threads(2).build()) {
            List<Future<Object>> futures = new ArrayList<>();
            for (int i = 0; i < ALL; i++) {
                Future<Object> future = pool.submit(this::value);
                keep(i, future);
                futures.add(future);
            }
            for (Future<Object> future : futures) {
                future.get();
            }
            futures.clear();
            assertOnlyKeptAreRetained();
        }
    }

    @Test
    void a_run_of_a_flow_keeps_no_other_run() throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("kept");
        Node<Object> value = flow.node("value", this::value);
        FlowPlan<Void, Object> plan = flow.returning(flow.node("passed on", value, given -> given));
        for (int i = 0; i < ALL; i++) {
            FlowRun<Object> run = plan.start(null);
            assertThat(run.get()).isNotNull();
            keep(i, run);
        }
        assertOnlyKeptAreRetained();
    }

    @Test
    void an_alarm_keeps_no_other_and_not_its_own_action() {
        for (int i = 0; i < ALL; i++) {
            Object value = value();
            Alarm alarm = TimeSource.system().after(Duration.ofHours(1), () -> Reference.reachabilityFence(value));
            kept.add(alarm);
        }
        kept.forEach(alarm -> ((Alarm) alarm).cancel());
        assertThat(Retained.after(values, 0)).isZero();
        Reference.reachabilityFence(kept);
    }
}
