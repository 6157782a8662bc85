package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class NestedScopesTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private ThreadScope budgeted(Duration budget) {
        return ThreadScope.open("outer").withTimeSource(time).withDeadline(budget);
    }

    // The current scope of a thread.

    @Test
    void a_thread_is_inside_the_open_scope_that_it_opened_last() {
        assertThat(ThreadScope.current()).isEmpty();
        try (ThreadScope outer = ThreadScope.open()) {
            assertThat(ThreadScope.current()).contains(outer);
            try (ThreadScope inner = ThreadScope.open()) {
                assertThat(ThreadScope.current()).contains(inner);
            }
            assertThat(ThreadScope.current()).contains(outer);
        }
        assertThat(ThreadScope.current()).isEmpty();
    }

    @Test
    void a_task_is_inside_its_scope_and_what_it_opens_is_inside_that() throws Exception {
        try (ThreadScope outer = ThreadScope.open()) {
            Task<Optional<ThreadScope>> task = outer.submit(ThreadScope::current);
            assertThat(task.await()).contains(outer);

            Task<List<Optional<ThreadScope>>> nesting = outer.submit(() -> {
                List<Optional<ThreadScope>> seen = new ArrayList<>();
                try (ThreadScope inner = ThreadScope.open()) {
                    seen.add(inner.submit(ThreadScope::current).await().filter(inner::equals));
                    seen.add(outer.submit(ThreadScope::current).await());
                    seen.add(ThreadScope.current().filter(inner::equals));
                }
                seen.add(ThreadScope.current());
                return seen;
            });
            List<Optional<ThreadScope>> seen = nesting.await();
            assertThat(seen.get(0)).isPresent();
            assertThat(seen.get(1)).contains(outer);
            assertThat(seen.get(2)).isPresent();
            assertThat(seen.get(3)).contains(outer);
        }
    }

    @Test
    void another_thread_is_inside_no_scope() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            FutureTask<Optional<ThreadScope>> elsewhere = new FutureTask<>(ThreadScope::current);
            Thread.ofPlatform().start(elsewhere);
            assertThat(elsewhere.get()).isEmpty();
            assertThat(ThreadScope.current()).contains(scope);
        }
    }

    @Test
    void a_scope_that_a_task_never_closed_is_not_seen_by_the_next_task_of_its_thread() throws Exception {
        List<ThreadScope> forgotten = new ArrayList<>();
        try (ThreadScope one = ThreadScope.open().withScheduler(Scheduler.fixed(1))) {
            one.submit(() -> forgotten.add(ThreadScope.open("forgotten"))).await();

            assertThat(one.submit(ThreadScope::current).await()).contains(one);
            one.submit(() -> forgotten.add(ThreadScope.open("forgotten too"))).await();
            try (ThreadScope other = ThreadScope.open().withScheduler(one.scheduler())) {
                assertThat(other.submit(ThreadScope::current).await()).contains(other);
            }
        }
        assertThat(forgotten).hasSize(2);
    }

    @Test
    void a_scope_that_a_groups_task_never_closed_is_not_seen_by_the_next_task_of_its_thread() throws Exception {
        try (ExecutorService pool = Executors.newSingleThreadExecutor();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .scheduler(key -> Scheduler.from(pool))
                        .build())) {
            ThreadScope forgotten = executor.submit("g", "opens", () -> ThreadScope.open())
                    .await()
                    .value();

            assertThat(executor.submit("g", "looks", ThreadScope::current)
                            .await()
                            .value())
                    .isEmpty();
            assertThat(forgotten.remaining()).isEmpty();
        }
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().reuseThreads(true).build())) {
            TaskHandle<Thread> opens;
            List<TaskHandle<Thread>> looks = new ArrayList<>();
            List<Optional<ThreadScope>> seen = java.util.Collections.synchronizedList(new ArrayList<>());
            BlockingTask blocker = new BlockingTask();
            opens = executor.submit("g", "opens", () -> {
                blocker.call();
                ThreadScope.open();
                return Thread.currentThread();
            });
            for (int i = 0; i < 3; i++) {
                looks.add(executor.submit("g", "looks", () -> {
                    seen.add(ThreadScope.current());
                    return Thread.currentThread();
                }));
            }
            blocker.release();
            for (TaskHandle<Thread> look : looks) {
                assertThat(look.await().value()).isSameAs(opens.await().value());
            }
            assertThat(seen).hasSize(3).containsOnly(Optional.empty());
        }
    }

    @Test
    void a_task_that_runs_in_its_submitter_is_not_inside_the_submitters_scopes_and_does_not_change_them()
            throws Exception {
        Scheduler here = Runnable::run;
        try (ThreadScope outer = ThreadScope.open().withScheduler(here)) {
            try (ThreadScope inner = ThreadScope.open()) {
                assertThat(outer.submit(ThreadScope::current).await()).contains(outer);
                Task<Optional<ThreadScope>> nested = outer.submit(() -> {
                    try (ThreadScope third = ThreadScope.open()) {
                        assertThat(ThreadScope.current()).contains(third);
                        return outer.submit(ThreadScope::current).await();
                    }
                });
                assertThat(nested.await()).contains(outer);
                outer.submit(() -> ThreadScope.open("forgotten"));

                assertThat(ThreadScope.current()).contains(inner);
            }
            assertThat(ThreadScope.current()).contains(outer);
        }
    }

    @Test
    void there_is_no_deadline_unless_one_is_set() throws Exception {
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time)) {
            assertThat(scope.remaining()).isEmpty();
            scope.submit(() -> "").await();
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void a_scope_inside_another_has_the_remaining_time_and_may_only_shorten_it() {
        try (ThreadScope outer = budgeted(SECOND.multipliedBy(10))) {
            time.advance(SECOND.multipliedBy(4));
            assertThat(outer.remaining()).contains(SECOND.multipliedBy(6));
            try (ThreadScope inner = ThreadScope.open()) {
                assertThat(inner.remaining()).contains(SECOND.multipliedBy(6));
                inner.withDeadline(SECOND.multipliedBy(60));
                assertThat(inner.remaining()).contains(SECOND.multipliedBy(6));
                inner.withDeadline(SECOND);
                assertThat(inner.remaining()).contains(SECOND);
                inner.withDeadline(SECOND.multipliedBy(60));
                assertThat(inner.remaining()).as("as much as there is").contains(SECOND.multipliedBy(6));
                assertThatIllegalStateException()
                        .isThrownBy(() -> inner.withTimeSource(new VirtualTime()))
                        .withMessageContaining("has a deadline on ");
            }
            assertThat(time.alarms()).as("that of the outer scope").isEqualTo(1);
            time.advance(SECOND.multipliedBy(60));
            assertThat(outer.remaining()).contains(Duration.ZERO);
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_scope_that_a_task_opens_ends_with_the_budget_of_the_tasks_scope() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope outer = budgeted(SECOND)) {
            Task<String> task = outer.submit("parent", () -> {
                try (ThreadScope inner = ThreadScope.open("inner")) {
                    assertThat(inner.remaining()).contains(SECOND);
                    return inner.submit("child", blocker::call).await();
                }
            });
            blocker.awaitBegun();

            time.advance(SECOND);

            assertThatThrownBy(task::await)
                    .isInstanceOf(ScopeTimeoutException.class)
                    .hasMessage("scope \"outer\" ran out of time after 1000 ms; unfinished: \"parent\"");
        }
        assertThat(blocker.interrupts()).isEqualTo(1);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_groups_task_that_is_submitted_inside_a_scope_has_no_more_time_than_that() throws Exception {
        BlockingTask running = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .timeSource(time)
                        .idleGroupTtl(Duration.ZERO)
                        .build());
                ThreadScope outer = budgeted(SECOND)) {
            TaskHandle<String> runs = executor.submit("g", "runs", running);
            TaskHandle<String> waits =
                    executor.submit("g", "waits", new BlockingTask()); // begins if the first ends first
            TaskHandle<String> ownLimit =
                    executor.submit("g", TaskSpec.named("own", () -> "never").timeout(SECOND.dividedBy(2)));
            Task<TaskStatus> fromTask = outer.submit(() -> {
                try {
                    return executor.submit("g", "from a task", new BlockingTask())
                            .await()
                            .status();
                } catch (InterruptedException expected) {
                    return null;
                }
            });
            running.awaitBegun();
            time.awaitAlarms(5);

            time.advance(SECOND.dividedBy(2));
            GroupResult<String> own = ownLimit.await();
            assertThat(own.status()).isEqualTo(TaskStatus.FAILED);
            assertThat(own.error())
                    .hasMessage("task \"own\" ran out of time after 500 ms (its timeout), before it began");
            time.advance(SECOND.dividedBy(2));

            GroupResult<String> first = runs.await();
            assertThat(first.status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(first.error()).hasMessage("task \"runs\" was cancelled: the time of scope \"outer\" is over");
            assertThat(waits.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThatThrownBy(fromTask::await).isInstanceOf(ScopeTimeoutException.class);
            assertThat(executor.submit("g", "late", () -> "x").await().status()).isNotNull();
        }
        assertThat(running.interrupts()).isEqualTo(1);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_call_in_a_group_from_inside_a_scope_ends_with_its_budget() throws Exception {
        BlockingTask blocker = new BlockingTask();
        FutureTask<String> block = new FutureTask<>(() -> {
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                            .timeSource(time)
                            .idleGroupTtl(Duration.ZERO)
                            .build());
                    ThreadScope outer = budgeted(SECOND)) {
                assertThat(outer.remaining()).contains(SECOND);
                return executor.call("g", blocker);
            }
        });
        Thread thread = Thread.ofPlatform().start(block);
        blocker.awaitBegun();

        time.advance(SECOND);

        thread.join();
        assertThat(block.state()).isEqualTo(FutureTask.State.FAILED);
        assertThat(block.exceptionNow()).hasMessageContaining("the time of scope \"outer\" is over");
        assertThat(blocker.interrupts()).isEqualTo(1);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_structured_scope_inside_a_scope_sees_the_budget_in_its_block_and_in_its_subtasks() throws Exception {
        VirtualTime time = new VirtualTime();
        try (ThreadScope outer = ThreadScope.open().withTimeSource(time).withDeadline(Duration.ofSeconds(2))) {
            time.advance(Duration.ofSeconds(1));
            try (var inner = new StructuredTaskScope<Optional<Duration>>()) {
                var inBlock =
                        inner.fork(() -> ThreadScope.current().orElseThrow().remaining());
                inner.join();
                assertThat(inBlock.get()).contains(Duration.ofSeconds(1));
            }
            Task<Optional<Duration>> inTask = outer.submit(() -> {
                try (var inner = new StructuredTaskScope<Optional<Duration>>()) {
                    var subtask =
                            inner.fork(() -> ThreadScope.current().orElseThrow().remaining());
                    inner.join();
                    return subtask.get();
                }
            });
            assertThat(inTask.await()).contains(Duration.ofSeconds(1));
        }
    }
}
