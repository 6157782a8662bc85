package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskStatus;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Schedulers that run tasks in the placing thread do not exhaust the stack, because few tasks are nested. */
@Timeout(60)
class InPlaceSchedulersTest {

    private static final int MANY = 10_000;
    private static final Duration CLOSE = Duration.ofMinutes(2);
    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");

    private final Scheduler inPlace = Runnable::run;

    private static GroupPolicy.Builder policy(Scheduler scheduler, int limit) {
        return GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(limit)
                .closeTimeout(CLOSE)
                .scheduler(key -> scheduler);
    }

    private static void assertNothingIsHeld(GroupExecutor executor) {
        assertThat(executor.stats().totalActiveCount()).isZero();
        assertThat(executor.stats().totalQueuedCount()).isZero();
        assertThat(executor.shutdown(CLOSE)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 16})
    void ten_thousand_tasks_that_one_resume_starts_do_not_exhaust_the_stack(int limit) {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(inPlace, limit).build())) {
            executor.pauseGroup("g");
            List<TaskHandle<Integer>> handles = new ArrayList<>();
            for (int task = 0; task < MANY; task++) {
                int value = task;
                handles.add(executor.submit("g", "t" + task, () -> value));
            }

            executor.resumeGroup("g");

            assertThat(handles).allMatch(TaskHandle::isDone);
            assertThat(handles).allMatch(handle -> handle.join().status() == TaskStatus.SUCCESS);
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void tasks_that_a_full_pool_runs_in_the_caller_lose_no_permit() throws InterruptedException {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                2, 2, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4), new ThreadPoolExecutor.CallerRunsPolicy());
        try (pool;
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        policy(Scheduler.from(pool), 16).build())) {
            for (int round = 0; round < 5; round++) {
                executor.pauseGroup("g");
                List<TaskHandle<Integer>> handles = new ArrayList<>();
                for (int task = 0; task < MANY; task++) {
                    int value = task;
                    handles.add(executor.submit("g", "t" + task, () -> value));
                }

                executor.resumeGroup("g");

                for (TaskHandle<Integer> handle : handles) {
                    assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
                }
                assertThat(executor.awaitIdle("g", CLOSE)).isTrue();
            }
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void groups_that_share_a_cap_and_start_each_others_tasks_do_not_exhaust_the_stack() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy(inPlace, 4).globalMaxInFlight(3).build())) {
            for (int group = 0; group < 10; group++) {
                executor.pauseGroup("g" + group);
            }
            List<TaskHandle<Integer>> handles = new ArrayList<>();
            for (int task = 0; task < MANY; task++) {
                handles.add(executor.submit("g" + task % 10, "t" + task, () -> 1));
            }

            for (int group = 0; group < 10; group++) {
                executor.resumeGroup("g" + group);
            }

            assertThat(handles).allMatch(TaskHandle::isDone);
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void tasks_that_each_submit_the_next_one_do_not_exhaust_the_stack() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(inPlace, MANY + 1).build())) {
            BlockingQueue<TaskHandle<Integer>> handles = new LinkedBlockingQueue<>();

            submitNext(executor, MANY, handles);

            for (int task = 0; task < MANY; task++) {
                assertThat(handles.take().await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertNothingIsHeld(executor);
        }
    }

    private static void submitNext(GroupExecutor executor, int left, BlockingQueue<TaskHandle<Integer>> handles) {
        handles.add(executor.submit("g", "t" + left, () -> {
            if (left > 1) {
                submitNext(executor, left - 1, handles);
            }
            return left;
        }));
    }

    /** What a nested task has found in its thread. */
    private record Found(
            Thread thread,
            @Nullable String tenant,
            @Nullable ClassLoader loader) {
        static Found here() {
            Thread self = Thread.currentThread();
            return new Found(self, TaskContext.current().get(TENANT), self.getContextClassLoader());
        }
    }

    /** Submits tasks of which each submits the next one, and waits by a latch until that has ended. */
    private static void nest(int depth, List<Found> found, Consumer<Callable<Integer>> submit) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        TaskContext.current().with(TENANT, "tenant " + depth).call(() -> {
            submit.accept(() -> {
                found.add(Found.here());
                if (depth > 1) {
                    nest(depth - 1, found, submit);
                }
                ended.countDown();
                return depth;
            });
            return depth;
        });
        ended.await();
    }

    @Test
    void a_nested_task_runs_in_place_to_a_depth_of_16_and_then_on_a_virtual_thread_with_its_submitters_context()
            throws Exception {
        List<Found> found = Collections.synchronizedList(new ArrayList<>());
        Thread here = Thread.currentThread();
        ClassLoader before = here.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(new URL[0], before);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        policy(inPlace, 1_000).build())) {
            here.setContextClassLoader(loader);

            nest(40, found, task -> executor.submit("g", task));

            List<Thread> threads = found.stream().map(Found::thread).toList();
            assertThat(threads).hasSize(40);
            assertThat(threads.subList(0, 16)).containsOnly(here);
            assertThat(threads.subList(16, 32)).containsOnly(threads.get(16)).doesNotContain(here);
            assertThat(threads.get(16).isVirtual()).isTrue();
            assertThat(threads.get(16).getName()).isEqualTo("g");
            assertThat(found).allMatch(each -> each.loader() == loader);
            assertThat(found.get(0).tenant()).isEqualTo("tenant 40");
            assertThat(found.get(16).tenant()).isEqualTo("tenant 24");
            assertThat(found.get(39).tenant()).isEqualTo("tenant 1");
            assertThat(executor.awaitIdle("g", CLOSE)).isTrue();
            assertNothingIsHeld(executor);
        } finally {
            here.setContextClassLoader(before);
        }
    }

    @Test
    void nested_tasks_of_a_scope_wait_for_one_another_by_a_latch_at_any_depth() throws Exception {
        List<Found> found = Collections.synchronizedList(new ArrayList<>());
        try (ThreadScope scope = ThreadScope.open("s").withScheduler(inPlace)) {
            nest(40, found, scope::submit);
        }
        assertThat(found).hasSize(40);
        assertThat(found.subList(0, 16)).allMatch(each -> each.thread() == Thread.currentThread());
        assertThat(found.get(16).thread().isVirtual()).isTrue();
    }

    @Test
    void a_task_finds_its_submitted_tasks_done_and_can_await_them_at_any_depth() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(inPlace, 1_000).build())) {
            assertThat(sumTo(executor, 40)).isEqualTo(820);
            TaskHandle<Boolean> outer = executor.submit(
                    "g", "outer", () -> executor.submit("g", "inner", () -> 1).isDone());
            assertThat(outer.join().value()).isTrue();
            assertNothingIsHeld(executor);
        }
    }

    private static int sumTo(GroupExecutor executor, int number) {
        if (number == 0) {
            return 0;
        }
        return number
                + executor.submit("g", "t" + number, () -> sumTo(executor, number - 1))
                        .join()
                        .value();
    }

    @Test
    void a_listener_that_submits_the_next_task_does_not_exhaust_the_stack_and_may_await_the_task()
            throws InterruptedException {
        AtomicReference<GroupExecutor> itself = new AtomicReference<>();
        CountDownLatch all = new CountDownLatch(MANY);
        AtomicBoolean waited = new AtomicBoolean();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity event, Outcome<?> outcome, long runNanos) {
                if (event.name().equals("chain")) {
                    all.countDown();
                    if (all.getCount() > 0) {
                        itself.get().submit("g", "chain", () -> 1);
                    }
                }
                if (event.name().equals("first")) {
                    waited.set(
                            itself.get().submit("g", "second", () -> 1).join().status() == TaskStatus.SUCCESS);
                }
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy(inPlace, 2).addListener(listener).build())) {
            itself.set(executor);

            executor.submit("g", "chain", () -> 1);
            executor.submit("g", "first", () -> 1);

            all.await();
            assertThat(waited).isTrue();
            assertThat(executor.awaitIdle("g", CLOSE)).isTrue();
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void the_thread_of_a_pool_reports_the_end_of_its_task_before_it_runs_the_next_in_place() throws Exception {
        Semaphore oneThread = new Semaphore(1);
        List<Thread> threads = new ArrayList<>();
        Executor oneElseCaller = task -> {
            if (oneThread.tryAcquire()) {
                Thread thread = Thread.ofPlatform().unstarted(task);
                threads.add(thread);
                thread.start();
            } else {
                task.run();
            }
        };
        CountDownLatch go = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy(oneElseCaller::execute, 1).build())) {
            TaskHandle<Boolean> first = executor.submit("g", "first", () -> {
                go.await();
                return true;
            });
            TaskHandle<Boolean> second = executor.submit("g", "second", first::isDone);

            go.countDown();

            assertThat(second.await().value()).isTrue();
            assertNothingIsHeld(executor);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void each_task_runs_inside_the_actions_of_its_scheduler_and_not_nested_in_another_task() {
        AtomicInteger inside = new AtomicInteger();
        List<Integer> seen = new ArrayList<>();
        Scheduler surrounding = task -> {
            inside.incrementAndGet();
            try {
                task.run();
            } finally {
                inside.decrementAndGet();
            }
        };
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(surrounding, 2).build())) {
            executor.pauseGroup("g");
            for (int task = 0; task < 100; task++) {
                executor.submit("g", "t" + task, () -> seen.add(inside.get()));
            }

            executor.resumeGroup("g");

            assertThat(seen).hasSize(100).containsOnly(1);
        }
    }

    static List<Error> errors() {
        return List.of(
                new StackOverflowError("exhausted"),
                new OutOfMemoryError("unable to create native thread"),
                new NoClassDefFoundError("gone"));
    }

    @ParameterizedTest
    @MethodSource("errors")
    void an_exception_of_a_scheduler_before_or_after_it_ran_a_task_loses_no_permit(Error error) {
        AtomicInteger calls = new AtomicInteger();
        Scheduler throwing = task -> {
            int call = calls.incrementAndGet();
            if (call % 3 == 0) {
                throw error;
            }
            task.run();
            if (call % 3 == 1) {
                throw error;
            }
        };
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(throwing, 2).build())) {
            executor.pauseGroup("g");
            List<TaskHandle<Integer>> handles = new ArrayList<>();
            for (int task = 0; task < 300; task++) {
                handles.add(executor.submit("g", "t" + task, () -> 1));
            }

            executor.resumeGroup("g");

            assertThat(handles).allMatch(TaskHandle::isDone);
            assertThat(handles.stream().filter(handle -> handle.join().status() == TaskStatus.FAILED))
                    .hasSize(100)
                    .allMatch(handle -> handle.join().error() == error);
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_limited_scope_that_runs_in_place_does_not_exhaust_the_stack() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("s").withScheduler(inPlace).withConcurrencyLimit(2)) {
            List<Task<Integer>> tasks = new ArrayList<>();
            Task<Integer> all = scope.submit("all", () -> {
                for (int task = 0; task < MANY; task++) {
                    int value = task;
                    tasks.add(scope.submit("t" + task, () -> value));
                }
                return 1;
            });
            assertThat(all.await()).isEqualTo(1);
            scope.await(tasks);
            assertThat(tasks).hasSize(MANY).allMatch(Task::isDone);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void a_scope_that_runs_in_place_in_a_group_obeys_the_limit_and_does_not_exhaust_the_stack(int limit)
            throws InterruptedException {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger withoutPermit = new AtomicInteger();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(inPlace, limit).build())) {
            executor.pauseGroup("g");
            try (ThreadScope scope =
                    ThreadScope.open("s").withScheduler(executor.scheduler("g")).withConcurrencyLimit(2)) {
                List<Task<Integer>> tasks = new ArrayList<>();
                for (int task = 0; task < MANY; task++) {
                    tasks.add(scope.submit("t" + task, () -> {
                        running.incrementAndGet();
                        withoutPermit.addAndGet(executor.stats().totalActiveCount() == 0 ? 1 : 0);
                        return running.decrementAndGet();
                    }));
                }

                executor.resumeGroup("g");

                scope.await(tasks);
                assertThat(tasks).allMatch(task -> task.state() == Task.State.SUCCESS);
                assertThat(withoutPermit).hasValue(0);
            }
            assertNothingIsHeld(executor);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_flow_whose_nodes_run_in_place_in_a_group_does_not_exhaust_the_stack(boolean chain)
            throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("f");
        Node<Integer> last = f.node("n0", () -> 0).group("g");
        for (int node = 1; node < MANY; node++) {
            last = chain
                    ? f.node("n" + node, last, x -> x + 1).group("g")
                    : f.node("n" + node, () -> 1).group("g");
        }
        FlowPlan<Void, Void> plan = f.build();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(policy(inPlace, 2).build())) {
            RunOptions options = RunOptions.defaults().withScheduler(inPlace).withGroups(executor::scheduler);
            assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.SUCCESS);
            assertNothingIsHeld(executor);
        }
    }
}
