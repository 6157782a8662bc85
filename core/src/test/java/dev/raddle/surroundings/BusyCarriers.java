package dev.raddle.surroundings;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Rate;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Keeps the only carrier busy for ever, and uses each kind of limit with tasks on platform threads. Prints those that
 * did not end what they limit.
 */
final class BusyCarriers {

    private static final Duration LIMIT = Duration.ofMillis(20);
    private static final ExecutorService PLATFORM =
            Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
    private static final Scheduler THREADS = PLATFORM::execute;
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private BusyCarriers() {}

    private static int forever() throws InterruptedException {
        NEVER.await();
        return 1;
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            busy.countDown();
            while (true) {
                Thread.onSpinWait();
            }
        });
        busy.await();
        List<String> late = new ArrayList<>();
        groups(late);
        scopes(late);
        flows(late);
        System.out.println(late.isEmpty() ? "all limits are kept" : "never ended: " + late);
        System.exit(0);
    }

    private static void check(List<String> late, String kind, Callable<?> use) throws Exception {
        FutureTask<Object> result = new FutureTask<>(use::call);
        Thread.ofPlatform().daemon().start(result);
        try {
            result.get(10, TimeUnit.SECONDS);
        } catch (ExecutionException ended) {
            // by its limit
        } catch (TimeoutException never) {
            late.add(kind);
        }
    }

    private static void groups(List<String> late) throws Exception {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .scheduler(key -> THREADS)
                .build());
        executor.submit("held", BusyCarriers::forever);
        executor.setRate("rate", Rate.perSecond(20).burst(1));
        TaskSpec<Integer> task = TaskSpec.named("task", BusyCarriers::forever);
        check(
                late,
                "queue timeout",
                () -> executor.submit("held", task.queueTimeout(LIMIT)).await());
        check(
                late,
                "timeout of a waiting task",
                () -> executor.submit("held", task.timeout(LIMIT)).await());
        check(
                late,
                "timeout of a running task",
                () -> executor.submit("free", task.timeout(LIMIT)).await());
        check(
                late,
                "rate",
                () -> executor.submit("rate", () -> 1).await() + ""
                        + executor.submit("rate", () -> 1).await());
    }

    private static void scopes(List<String> late) throws Exception {
        ScopeOptions options = ScopeOptions.defaults().withScheduler(THREADS);
        check(late, "deadline of a scope", () -> {
            try (ThreadScope scope = ThreadScope.open("limited", options.withDeadline(LIMIT))) {
                return scope.submit(BusyCarriers::forever).await();
            }
        });
        check(late, "timeout of a task of a scope", () -> {
            try (ThreadScope scope = ThreadScope.open("tasks", options)) {
                return scope.submit("task", BusyCarriers::forever, LIMIT).await();
            }
        });
        check(late, "delay of a scheduled task", () -> {
            try (ThreadScope scope = ThreadScope.open("delayed", options)) {
                return scope.schedule(LIMIT, () -> 1).await();
            }
        });
        check(late, "hedge", () -> {
            try (ThreadScope scope = ThreadScope.open("hedged", options)) {
                return scope.join(JoinStrategy.hedged(LIMIT), List.of(BusyCarriers::forever, () -> 2));
            }
        });
        check(late, "timeout of a structured scope", () -> {
            try (var scope = dev.raddle.structured.StructuredTaskScope.<Integer>open(each -> each.withTimeout(LIMIT)
                    .withThreadFactory(Thread.ofPlatform().daemon().factory()))) {
                scope.fork(BusyCarriers::forever);
                return scope.join();
            }
        });
    }

    private static void flows(List<String> late) throws Exception {
        RunOptions options = RunOptions.defaults().withScheduler(THREADS);
        check(late, "timeout of a node", () -> {
            FlowBuilder<Void> flow = FlowPlan.define("node");
            Node<Integer> slow =
                    flow.node("slow", BusyCarriers::forever).timeout(LIMIT).defaultValue(7);
            return flow.returning(slow).run(null, options).value();
        });
        check(late, "timeout of a run", () -> {
            FlowBuilder<Void> flow = FlowPlan.define("run");
            Node<Integer> slow = flow.node("slow", BusyCarriers::forever).onResult(result -> {});
            return flow.returning(slow)
                    .run(null, RunOptions.timeout(LIMIT).withScheduler(THREADS))
                    .status();
        });
    }
}
