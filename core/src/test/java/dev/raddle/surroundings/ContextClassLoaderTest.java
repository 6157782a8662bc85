package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.GroupTask;
import dev.raddle.group.PermitSource;
import dev.raddle.group.RejectionHandler;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.VirtualTime;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * User code sees the context class loader of the thread that submitted it or started the run. In an executable jar or a
 * WAR, the loader of a new virtual thread is another one, which finds no service and no resource of the application.
 */
class ContextClassLoaderTest {

    private static final ClassLoader APPLICATION = new ClassLoader("application", null) {};
    private static final ClassLoader OTHER = new ClassLoader("other", null) {};
    private static final Callable<ClassLoader> SEEN =
            () -> Thread.currentThread().getContextClassLoader();

    private final ClassLoader before = Thread.currentThread().getContextClassLoader();
    private final List<AutoCloseable> opened = new ArrayList<>();

    private interface Action<T> {
        T call() throws Exception;
    }

    /** Calls an action in the calling thread under a loader. */
    private static <T> T under(ClassLoader loader, Action<T> action) throws Exception {
        Thread self = Thread.currentThread();
        ClassLoader mine = self.getContextClassLoader();
        self.setContextClassLoader(loader);
        try {
            return action.call();
        } finally {
            self.setContextClassLoader(mine);
        }
    }

    @AfterEach
    void the_test_thread_has_its_loader_as_before() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(before);
    }

    /** Schedulers whose threads have another loader than the tests, and the executor of the last one. */
    private Map<String, Scheduler> schedulers() throws Exception {
        Map<String, Scheduler> all = new LinkedHashMap<>();
        all.put("virtual threads", Scheduler.virtualThreads());
        all.put("common pool", Scheduler.commonPool());
        all.put("the calling thread", Runnable::run);
        all.put("fixed", Scheduler.fixed(1));
        ExecutorService foreign = under(OTHER, () -> {
            ExecutorService one = Executors.newSingleThreadExecutor();
            one.submit(() -> {}).get();
            return one;
        });
        opened.add(foreign);
        all.put("an executor", Scheduler.from(foreign));
        ThreadPool pool =
                under(OTHER, () -> ThreadPool.builder("pool").threads(1).build());
        opened.add(pool);
        all.put("a pool", Scheduler.from(pool));
        return all;
    }

    private static GroupPolicy.Builder oneAtATime() {
        return GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1);
    }

    // Groups.

    @Test
    void a_task_of_a_group_sees_the_loader_of_its_submitter_wherever_it_runs() throws Exception {
        for (Map.Entry<String, Scheduler> each : schedulers().entrySet()) {
            GroupPolicy policy = oneAtATime().scheduler(key -> each.getValue()).build();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                TaskHandle<ClassLoader> mine = under(APPLICATION, () -> executor.submit("a", SEEN));
                TaskHandle<ClassLoader> others = under(OTHER, () -> executor.submit("a", SEEN));
                TaskHandle<ClassLoader> mineAgain = under(APPLICATION, () -> executor.submit("a", SEEN));

                assertThat(mine.await().value()).as(each.getKey()).isSameAs(APPLICATION);
                assertThat(others.await().value()).as(each.getKey()).isSameAs(OTHER);
                assertThat(mineAgain.await().value()).as(each.getKey()).isSameAs(APPLICATION);
            }
        }
    }

    @Test
    void a_task_that_waited_sees_the_loader_of_its_submitter_and_not_that_of_the_task_before() throws Exception {
        for (boolean reuse : new boolean[] {false, true}) {
            for (ClassLoader creator : List.of(before, APPLICATION, OTHER)) {
                GroupPolicy policy = oneAtATime().reuseThreads(reuse).build();
                try (GroupExecutor executor = under(creator, () -> GroupExecutor.newVirtualThreadExecutor(policy))) {
                    CountDownLatch hold = new CountDownLatch(1);
                    TaskHandle<ClassLoader> first = under(
                            APPLICATION,
                            () -> executor.submit("a", () -> {
                                hold.await();
                                ClassLoader seen = SEEN.call();
                                Thread.currentThread().setContextClassLoader(new ClassLoader("left behind", null) {});
                                return seen;
                            }));
                    TaskHandle<ClassLoader> second = under(OTHER, () -> executor.submit("a", SEEN));
                    TaskHandle<ClassLoader> third = under(before, () -> executor.submit("a", SEEN));
                    hold.countDown();

                    assertThat(first.await().value()).isSameAs(APPLICATION);
                    assertThat(second.await().value()).isSameAs(OTHER);
                    assertThat(third.await().value()).isSameAs(before);
                }
            }
        }
    }

    @Test
    void each_way_to_submit_to_a_group_keeps_the_loader() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(oneAtATime().build())) {
            under(APPLICATION, () -> {
                List<GroupTask<ClassLoader>> two =
                        List.of(new GroupTask<>("a", "1", SEEN), new GroupTask<>("a", "2", SEEN));
                assertThat(executor.executeAll(two))
                        .extracting(GroupResult::value)
                        .containsOnly(APPLICATION);
                assertThat(executor.call("a", SEEN)).isSameAs(APPLICATION);
                assertThat(executor.submit("a", TaskSpec.named("retried", SEEN).retry(RetryPolicy.attempts(2)))
                                .await()
                                .value())
                        .isSameAs(APPLICATION);
                CompletableFuture<ClassLoader> placed = new CompletableFuture<>();
                executor.scheduler("a")
                        .execute(() -> placed.complete(Thread.currentThread().getContextClassLoader()));
                assertThat(placed.get()).isSameAs(APPLICATION);
                return null;
            });
        }
    }

    @Test
    void tasks_of_scopes_and_flows_that_are_placed_in_a_group_see_the_loader_of_their_submitter() throws Exception {
        try (GroupExecutor executor = under(
                OTHER, () -> GroupExecutor.newVirtualThreadExecutor(oneAtATime().build()))) {
            Scheduler group = executor.scheduler("a");
            under(APPLICATION, () -> {
                try (ThreadScope scope = ThreadScope.open("scope").withScheduler(group)) {
                    assertThat(scope.submit(SEEN).await()).isSameAs(APPLICATION);
                }
                var flow = FlowPlan.define("flow");
                var node = flow.node("node", SEEN::call).group("a");
                FlowResult<ClassLoader> result =
                        flow.returning(node).run(null, RunOptions.defaults().withGroups(executor::scheduler));
                assertThat(result.value()).isSameAs(APPLICATION);
                return null;
            });
        }
    }

    @Test
    void a_task_that_runs_for_its_submitter_in_another_callers_thread_sees_the_loader_of_its_submitter()
            throws Exception {
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch found = new CountDownLatch(1);
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> {
                    looking.countDown();
                    awaitUninterruptibly(found);
                    return 1;
                })
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            CountDownLatch hold = new CountDownLatch(1);
            Thread resolver =
                    Thread.ofPlatform().unstarted(() -> executor.submit("a", () -> hold.await(1, TimeUnit.DAYS)));
            resolver.setContextClassLoader(OTHER);
            resolver.start();
            looking.await();
            TaskHandle<ClassLoader> rejected = under(APPLICATION, () -> executor.submit("a", SEEN)); // while unresolved
            found.countDown();
            resolver.join();

            assertThat(rejected.await().value()).isSameAs(APPLICATION);
            hold.countDown();
        }
    }

    @Test
    void the_listener_of_a_group_sees_the_loader_of_the_submitter_in_every_event() throws Exception {
        for (Map.Entry<String, Scheduler> each : schedulers().entrySet()) {
            Seen listener = new Seen();
            GroupPolicy policy = oneAtATime()
                    .addListener(listener)
                    .scheduler(key -> each.getValue())
                    .build();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                under(APPLICATION, () -> executor.submit("a", SEEN)).await();
            }
            assertThat(listener.loaders).as(each.getKey()).hasSize(3).containsOnly(APPLICATION);
        }
    }

    @Test
    void a_rejection_handler_after_a_queue_timeout_sees_the_loader_of_the_submitter() throws Exception {
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();
        GroupPolicy policy = oneAtATime()
                .queueTimeout(Duration.ofMillis(1))
                .rejectionHandler(new RejectionHandler() {
                    @Override
                    public <T> GroupResult<T> onRejected(String key, String id, Callable<T> task) {
                        seen.complete(Thread.currentThread().getContextClassLoader());
                        return GroupResult.cancelled(key, id, new IllegalStateException("late"), 0, 0);
                    }
                })
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            CountDownLatch hold = new CountDownLatch(1);
            executor.submit("a", () -> hold.await(1, TimeUnit.DAYS));
            under(APPLICATION, () -> executor.submit("a", SEEN));

            ClassLoader handlers = seen.get();
            hold.countDown();
            assertThat(handlers).isSameAs(APPLICATION);
        }
    }

    @Test
    void a_listener_of_a_group_sees_the_loader_of_the_submitter_when_another_thread_ends_the_task() throws Exception {
        Seen listener = new Seen();
        GroupPolicy policy = oneAtATime().addListener(listener).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            CountDownLatch begun = new CountDownLatch(1);
            Callable<Object> endless = () -> new CountDownLatch(1).await(1, TimeUnit.DAYS);
            Callable<Object> begins = () -> {
                begun.countDown();
                return endless.call();
            };
            under(
                            APPLICATION,
                            () -> executor.submit(
                                    "a", TaskSpec.named("late", endless).timeout(Duration.ofMillis(1))))
                    .await();
            TaskHandle<Object> cancelled = under(APPLICATION, () -> executor.submit("a", begins));
            begun.await();
            under(OTHER, () -> cancelled.cancel(true));
            cancelled.await();
        }
        assertThat(listener.loaders).hasSizeBetween(5, 6).containsOnly(APPLICATION); // "late" may end before it starts
    }

    @Test
    void what_a_group_does_for_no_task_sees_the_loader_of_the_executors_creator() throws Exception {
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();
        PermitSource source = holder -> new PermitSource.Session() {
            @Override
            public void demand(String key, int wanted, int unused) {
                seen.complete(Thread.currentThread().getContextClassLoader());
                holder.grant(key, 1);
            }

            @Override
            public void close() {}
        };
        GroupPolicy policy = oneAtATime().permits(source).build();
        try (GroupExecutor executor = under(APPLICATION, () -> GroupExecutor.newVirtualThreadExecutor(policy))) {
            executor.submit("a", SEEN).await();
            assertThat(seen.get()).isSameAs(APPLICATION);
        }
    }

    // Threads that are not Raddle's.

    @Test
    void a_thread_of_another_executor_has_its_own_loader_again_after_each_kind_of_task() throws Exception {
        ExecutorService foreign = under(OTHER, () -> {
            ExecutorService one = Executors.newSingleThreadExecutor();
            one.submit(() -> {}).get();
            return one;
        });
        opened.add(foreign);
        Scheduler scheduler = Scheduler.from(foreign);
        GroupPolicy policy = GroupPolicy.builder().scheduler(key -> scheduler).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            under(APPLICATION, () -> executor.submit("a", SEEN)).await();
        }
        assertThat(foreign.submit(SEEN).get()).isSameAs(OTHER);
        var flow = FlowPlan.define("flow");
        var node = flow.node("node", SEEN::call);
        var plan = flow.returning(node);
        under(APPLICATION, () -> plan.run(null, RunOptions.defaults().withScheduler(scheduler)));
        assertThat(foreign.submit(SEEN).get()).isSameAs(OTHER);
    }

    // Scopes.

    @Test
    void tasks_of_scopes_see_the_loader_of_their_submitter_on_every_scheduler() throws Exception {
        for (Map.Entry<String, Scheduler> each : schedulers().entrySet()) {
            Seen listener = new Seen();
            under(APPLICATION, () -> {
                try (ThreadScope scope =
                        ThreadScope.open("scope").withScheduler(each.getValue()).addListener(listener)) {
                    assertThat(scope.submit(SEEN).await()).as(each.getKey()).isSameAs(APPLICATION);
                }
                return null;
            });
            assertThat(listener.loaders).as(each.getKey()).hasSize(3).containsOnly(APPLICATION);
        }
    }

    @Test
    void a_callback_of_a_scope_whose_deadline_has_passed_sees_the_loader_of_its_owner() throws Exception {
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();
        under(APPLICATION, () -> {
            try (ThreadScope scope = ThreadScope.open("scope").withDeadline(Duration.ofMillis(1))) {
                scope.token()
                        .whenCancelled(
                                () -> seen.complete(Thread.currentThread().getContextClassLoader()));
                return seen.get();
            }
        });
        assertThat(seen.get()).isSameAs(APPLICATION);
    }

    // Flows.

    @Test
    void everything_in_a_flow_sees_the_loader_of_the_thread_that_started_it() throws Exception {
        for (Map.Entry<String, Scheduler> each : schedulers().entrySet()) {
            Map<String, ClassLoader> seen = new ConcurrentHashMap<>();
            Seen listener = new Seen();
            var inner = FlowPlan.define("inner", String.class);
            var innerNode = inner.node("inside", () -> see(seen, "node of a subflow"));
            var subplan = inner.returning(innerNode);
            var flow = FlowPlan.define("flow");
            var action = flow.node("action", () -> see(seen, "action"))
                    .onBegin(context -> see(seen, "begin callback"))
                    .onResult(report -> see(seen, "result callback"))
                    .compensate(value -> see(seen, "compensation"));
            var changing = flow.node("changing", () -> {
                Thread.currentThread().setContextClassLoader(OTHER);
                return "value";
            });
            var computing = flow.node("computing", changing, text -> see(seen, "compute node"))
                    .compute();
            var next = flow.node("next", changing, text -> see(seen, "the node after one that sets a loader"));
            var conditional = flow.node("conditional", () -> "value").when(context -> {
                see(seen, "condition");
                return true;
            });
            var recovering = flow.<String>node("recovering", () -> {
                        throw new IllegalStateException("to recover");
                    })
                    .fallback(failure -> see(seen, "fallback"));
            var nested = flow.subflow("nested", subplan, next);
            flow.action("failing", () -> {
                        throw new IllegalStateException("to compensate");
                    })
                    .needs(action, computing, conditional, recovering, nested);
            var plan = flow.build();

            try (var run = under(
                    APPLICATION,
                    () -> plan.start(
                            null,
                            RunOptions.defaults().withScheduler(each.getValue()).addListener(listener)))) {
                run.join();
            }

            assertThat(seen).as(each.getKey()).hasSize(9);
            assertThat(seen)
                    .as(each.getKey())
                    .allSatisfy((what, loader) -> assertThat(loader).as(what).isSameAs(APPLICATION));
            assertThat(listener.loaders).as(each.getKey()).containsOnly(APPLICATION);
        }
    }

    @Test
    void a_flow_that_the_joining_thread_runs_sees_the_loader_of_the_thread_that_started_it() throws Exception {
        var flow = FlowPlan.define("flow");
        var node = flow.node("node", SEEN::call);
        var plan = flow.returning(node);
        try (var run =
                under(APPLICATION, () -> plan.start(null, RunOptions.defaults().inCallersThread()))) {
            assertThat(under(OTHER, run::join).value()).isSameAs(APPLICATION);
        }
    }

    @Test
    void a_callback_after_a_timeout_sees_the_loader_of_the_thread_that_started_the_run() throws Exception {
        var flow = FlowPlan.define("flow");
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();
        flow.node("node", () -> new CountDownLatch(1).await(1, TimeUnit.DAYS))
                .onResult(report -> seen.complete(Thread.currentThread().getContextClassLoader()));
        var plan = flow.build();
        under(APPLICATION, () -> plan.run(null, RunOptions.timeout(Duration.ofMillis(1))));
        assertThat(seen.get()).isSameAs(APPLICATION);
    }

    // Pools.

    @Test
    void a_thread_of_a_pool_has_the_loader_of_the_thread_that_built_the_pool_whoever_submits() throws Exception {
        try (ThreadPool pool =
                under(APPLICATION, () -> ThreadPool.builder("pool").threads(2).build())) {
            assertThat(under(OTHER, () -> pool.submit(SEEN)).get()).isSameAs(APPLICATION);
            pool.prestartAllCoreThreads();
            assertThat(pool.submit(SEEN).get()).isSameAs(APPLICATION);
        }
        try (ThreadPool pool =
                under(APPLICATION, () -> ThreadPool.builder("pool").threads(1).build())) {
            pool.execute(() -> {
                throw new IllegalStateException("replaces the thread");
            });
            assertThat(under(OTHER, () -> pool.submit(SEEN)).get()).isSameAs(APPLICATION);
        }
    }

    @Test
    void a_pool_with_a_thread_factory_has_the_threads_of_that_factory_as_they_are() throws Exception {
        try (ThreadPool pool = under(
                APPLICATION,
                () -> ThreadPool.builder("pool")
                        .threads(1)
                        .threadFactory(run -> {
                            Thread made = new Thread(run);
                            made.setContextClassLoader(OTHER);
                            return made;
                        })
                        .build())) {
            assertThat(pool.submit(SEEN).get()).isSameAs(OTHER);
        }
    }

    @Test
    void the_report_of_a_stuck_task_sees_the_loader_of_the_thread_that_built_the_pool() throws Exception {
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();
        VirtualTime time = new VirtualTime();
        CountDownLatch running = new CountDownLatch(1);
        try (ThreadPool pool = under(
                APPLICATION,
                () -> ThreadPool.builder("pool")
                        .threads(1)
                        .timeSource(time)
                        .stuckAfter(Duration.ofSeconds(1))
                        .listener(new PoolListener() {
                            @Override
                            public void stuck(Stuck task) {
                                seen.complete(Thread.currentThread().getContextClassLoader());
                            }
                        })
                        .build())) {
            pool.execute(() -> {
                running.countDown();
                seen.join();
            });
            running.await();
            time.advance(Duration.ofSeconds(3));
            assertThat(seen.get()).isSameAs(APPLICATION);
        }
    }

    // What outlives its use.

    /** Uses every API on every scheduler under a new loader, and closes what was opened. */
    private WeakReference<ClassLoader> useUnderNewLoader(Map<String, Scheduler> schedulers) throws Exception {
        ClassLoader loader = new ClassLoader("undeployed", null) {};
        var flow = FlowPlan.define("flow");
        var plan = flow.returning(flow.node("node", SEEN::call));
        for (Scheduler scheduler : schedulers.values()) {
            GroupPolicy policy = oneAtATime().scheduler(key -> scheduler).build();
            under(loader, () -> {
                try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                        ThreadPool pool = ThreadPool.builder("pool").threads(1).build();
                        ThreadScope scope = ThreadScope.open("scope").withScheduler(scheduler)) {
                    executor.submit("a", SEEN).await();
                    executor.submit("a", TaskSpec.named("late", SEEN).timeout(Duration.ofHours(1)))
                            .await();
                    scope.submit(SEEN).await();
                    pool.submit(SEEN).get();
                    return plan.run(
                            null, RunOptions.timeout(Duration.ofHours(1)).withScheduler(scheduler));
                }
            });
        }
        return new WeakReference<>(loader);
    }

    @Test
    void nothing_keeps_a_loader_when_everything_is_closed() throws Exception {
        WeakReference<ClassLoader> loader = useUnderNewLoader(schedulers());
        for (int i = 0; i < 50 && loader.get() != null; i++) {
            System.gc();
        }
        assertThat(loader.get()).isNull();
    }

    private static String see(Map<String, ClassLoader> seen, String what) {
        seen.put(what, Thread.currentThread().getContextClassLoader());
        return what;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }

    /** Records the loader at each event. */
    private static final class Seen implements TaskListener {
        final Queue<ClassLoader> loaders = new ConcurrentLinkedQueue<>();

        @Override
        public void onSubmitted(TaskIdentity task) {
            loaders.add(Thread.currentThread().getContextClassLoader());
        }

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            loaders.add(Thread.currentThread().getContextClassLoader());
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
            loaders.add(Thread.currentThread().getContextClassLoader());
        }
    }
}
