package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.Jvm;
import dev.raddle.testing.Wait;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thread dump shows what a thread belongs to, and whether its wait has a time limit. */
class ThreadDumpTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final CountDownLatch hold = new CountDownLatch(1);
    private final GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build());

    @AfterEach
    void close() {
        hold.countDown();
        groups.close();
    }

    private TaskHandle<Integer> occupyGroup() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        TaskHandle<Integer> holder = groups.submit("held", () -> {
            begun.countDown();
            hold.await();
            return 1;
        });
        begun.await();
        return holder;
    }

    /** Starts a thread that waits, and interrupts it when it is TIMED_WAITING. A thread that is not hangs the test. */
    private static void assertTimedWaiting(Callable<?> wait) throws InterruptedException {
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                wait.call();
            } catch (Exception interrupted) {
                // as expected
            }
        });
        Wait.until(() -> thread.getState() == Thread.State.TIMED_WAITING || !thread.isAlive());
        assertThat(thread.isAlive()).isTrue();
        thread.interrupt();
        thread.join();
    }

    @Test
    void waits_for_groups_with_a_time_limit_are_TIMED_WAITING() throws Exception {
        TaskHandle<Integer> holder = occupyGroup();

        assertTimedWaiting(() -> groups.tryCall("held", HOUR, () -> 1));
        assertTimedWaiting(
                () -> groups.call("held", TaskSpec.named("a", () -> 1).queueTimeout(HOUR)));
        assertTimedWaiting(
                () -> groups.call("held", TaskSpec.named("a", () -> 1).timeout(HOUR)));
        assertTimedWaiting(() -> holder.await(1, TimeUnit.HOURS));
        assertTimedWaiting(() -> groups.awaitIdle("held", HOUR));
        assertTimedWaiting(() -> groups.awaitIdle(HOUR));
        assertTimedWaiting(() -> groups.call(
                "free",
                TaskSpec.named("a", () -> {
                            throw new IllegalStateException("always");
                        })
                        .retry(RetryPolicy.fixedDelay(2, HOUR))));
        assertTimedWaiting(() -> groups.shutdown(HOUR));
    }

    @Test
    void waits_in_scopes_with_a_time_limit_are_TIMED_WAITING() throws Exception {
        Callable<Integer> task = () -> {
            hold.await();
            return 1;
        };
        assertTimedWaiting(() -> {
            try (ThreadScope scope = ThreadScope.open("s")) {
                return scope.submit(task).await(HOUR);
            }
        });
        assertTimedWaiting(() -> {
            try (var scope = new StructuredTaskScope.ShutdownOnFailure()) {
                scope.fork(task);
                return scope.joinUntil(Instant.now().plus(HOUR));
            }
        });
        assertTimedWaiting(() -> {
            try (var scope = dev.raddle.structured.StructuredTaskScope.<Integer>open(with -> with.withTimeout(HOUR))) {
                scope.fork(task);
                return scope.join();
            }
        });
    }

    @Test
    void waits_for_pools_with_a_time_limit_are_TIMED_WAITING() throws Exception {
        ThreadPool pool = ThreadPool.builder("p")
                .threads(1)
                .queueCapacity(1)
                .rejection(new ThreadPool.BlockPolicy(HOUR))
                .build();
        assertTimedWaiting(() -> pool.getQueue().poll(1, TimeUnit.HOURS));
        pool.execute(() -> Wait.uninterruptibly(hold));
        pool.execute(() -> {});

        assertTimedWaiting(() -> pool.getQueue().offer(() -> {}, 1, TimeUnit.HOURS));
        assertTimedWaiting(() -> {
            pool.execute(() -> {});
            return null;
        });
        assertTimedWaiting(() -> pool.awaitTermination(1, TimeUnit.HOURS));
        assertTimedWaiting(() -> pool.drain(HOUR));
        hold.countDown();
        pool.close();
    }

    @Test
    void idle_threads_of_a_pool_that_will_end_are_TIMED_WAITING() throws Exception {
        for (boolean ownQueue : new boolean[] {true, false}) {
            var plan = ThreadPool.builder("p").threads(1).keepAlive(HOUR).allowCoreTimeout(true);
            try (ThreadPool pool = (ownQueue ? plan : plan.queue(new LinkedBlockingQueue<>())).build()) {
                Thread worker = pool.submit(Thread::currentThread).get();

                Wait.until(() -> worker.getState() == Thread.State.TIMED_WAITING);
            }
        }
    }

    @Test
    void a_dump_names_the_group_of_a_task_and_the_flow_of_a_node(@TempDir Path folder) throws Exception {
        occupyGroup();
        var flow = FlowPlan.define("checkout");
        CountDownLatch begun = new CountDownLatch(1);
        var node = flow.node("pay", () -> {
            begun.countDown();
            hold.await();
            return 1;
        });
        Path file = folder.resolve("dump.txt");
        try (FlowRun<Integer> run = flow.returning(node).start(null)) {
            begun.await();

            String jcmd =
                    Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
            String pid = String.valueOf(ProcessHandle.current().pid());
            Jvm.run(List.of(jcmd, pid, "Thread.dump_to_file", file.toString()));
            hold.countDown();
            run.join();
        }

        assertThat(Files.readString(file)).contains("\"held\" virtual", "\"checkout\" virtual");
    }

    @Test
    void a_task_that_is_started_from_a_platform_thread_beside_busy_carriers_has_the_name_of_its_group()
            throws Exception {
        int more = Runtime.getRuntime().availableProcessors() + 2; // then a start is handed to the carriers, too
        try (GroupExecutor all = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(more).build())) {
            for (int i = 1; i < more; i++) {
                all.submit("vip", () -> {
                    hold.await();
                    return 1;
                });
            }

            assertThat(all.submit("vip", () -> Thread.currentThread().getName())
                            .join()
                            .value())
                    .isEqualTo("vip");
            hold.countDown();
        }
    }

    @Test
    void the_thread_of_a_node_or_scope_task_in_a_group_is_named_by_the_group_or_the_scope() throws Exception {
        var flow = FlowPlan.define("checkout");
        var node = flow.node("pay", () -> Thread.currentThread().getName()).group("bank");
        String ofNode = flow.returning(node)
                .run(null, RunOptions.defaults().withGroups(groups::scheduler))
                .value();
        String ofScope;
        try (ThreadScope scope =
                ThreadScope.open("page", ScopeOptions.defaults().withScheduler(groups.scheduler("bank")))) {
            ofScope =
                    scope.submit("user", () -> Thread.currentThread().getName()).await();
        }

        assertThat(ofNode).isEqualTo("bank");
        assertThat(ofScope).isEqualTo("page/user");
    }
}
