package program;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupTask;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Alarm;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** An application's groups, scopes, flows and pool, and every place in them that runs code of the application. */
public final class Places implements AutoCloseable {

    /** Longer than any patience: what waits for it would stay. */
    private static final Duration LONG = Duration.ofHours(1);

    private final Map<String, String> found = new TreeMap<>();
    private final Consumer<GroupPolicy.Builder> options;
    private final ScopeOptions scopes;
    private final RunOptions runs;
    private final ThreadPool pool;
    private final GroupExecutor groups;
    private final GroupExecutor reusing;
    private final GroupExecutor pooled;
    private final Alarm drainOnExit;

    /** Creates the executors. */
    public Places() {
        this(policy -> {}, ScopeOptions.defaults(), RunOptions.defaults());
    }

    /** Creates the executors, with options for all groups, scopes and flows. */
    public Places(Consumer<GroupPolicy.Builder> options, ScopeOptions scopes, RunOptions runs) {
        this.options = options;
        this.scopes = scopes;
        this.runs = runs;
        pool = ThreadPool.builder("program").threads(2).stuckAfter(LONG).build();
        groups = executor(options, policy -> {});
        reusing = executor(options, policy -> policy.reuseThreads(true));
        pooled = executor(options, policy -> policy.scheduler(key -> Scheduler.from(pool)));
        drainOnExit = ThreadPool.drainOnExit(Duration.ofSeconds(1), report -> {}, pool);
    }

    private static GroupExecutor executor(Consumer<GroupPolicy.Builder> options, Consumer<GroupPolicy.Builder> more) {
        GroupPolicy.Builder policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .queueTimeout(LONG)
                .closeTimeout(Duration.ofSeconds(10));
        options.accept(policy);
        more.accept(policy);
        return GroupExecutor.newVirtualThreadExecutor(policy.build());
    }

    /** Calls the supplier in each place, and returns what it has returned there. */
    public synchronized Map<String, String> visit(Supplier<String> look) throws Exception {
        found.clear();
        found.put("caller", look.get());
        visitGroups(look);
        visitScopes(look);
        visitFlows(look);
        visitPool(look);
        return new TreeMap<>(found);
    }

    private void visitGroups(Supplier<String> look) throws Exception {
        for (var each : Map.of("group", groups, "group with reuseThreads", reusing, "group on a pool", pooled)
                .entrySet()) {
            String name = each.getKey();
            GroupExecutor executor = each.getValue();
            found.put(
                    name + ", submit", executor.submit("key", look::get).await().orElseThrow());
            found.put(name + ", after a wait", afterWait(executor, look));
            found.put(name + ", call", executor.call("key", look::get));
            found.put(
                    name + ", executeAll",
                    executor.executeAll(List.of(new GroupTask<>("key", "all", look::get)))
                            .getFirst()
                            .orElseThrow());
            found.put(
                    name + ", scheduler(key)",
                    CompletableFuture.supplyAsync(look, executor.scheduler("key"))
                            .get());
            found.put(
                    name + ", second attempt",
                    executor.submit(
                                    "key",
                                    TaskSpec.named("retried", secondAttempt(look))
                                            .retry(RetryPolicy.fixedDelay(2, Duration.ofMillis(1)))
                                            .timeout(LONG))
                            .await()
                            .orElseThrow());
        }
    }

    private static String afterWait(GroupExecutor executor, Supplier<String> look) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        TaskHandle<Void> first = executor.submit("key", "first", () -> {
            release.await();
            return null;
        });
        TaskHandle<String> second = executor.submit("key", "second", look::get);
        CompletableFuture<?> other = CompletableFuture.runAsync(release::countDown); // a thread of the JVM
        other.get();
        first.await();
        return second.await().orElseThrow();
    }

    private static Callable<String> secondAttempt(Supplier<String> look) {
        boolean[] failed = {false};
        return () -> {
            if (!failed[0]) {
                failed[0] = true;
                throw new IllegalStateException("the first attempt");
            }
            return look.get();
        };
    }

    private void visitScopes(Supplier<String> look) throws Exception {
        ScopeOptions onPool = scopes.withScheduler(Scheduler.from(pool));
        for (var each : Map.of("scope", scopes, "scope on a pool", onPool).entrySet()) {
            String name = each.getKey();
            try (ThreadScope scope = ThreadScope.open("scope", each.getValue().withDeadline(LONG))) {
                found.put(name + ", submit", scope.submit(look::get).await());
                found.put(
                        name + ", schedule",
                        scope.schedule(Duration.ofMillis(1), look::get).await());
                found.put(
                        name + ", map",
                        scope.map(List.of(1), 1, item -> look.get()).getFirst());
                CompletableFuture<String> round = new CompletableFuture<>();
                scope.scheduleAtFixedRate(Duration.ZERO, Duration.ofMillis(1), () -> round.complete(look.get()));
                found.put(name + ", periodic", round.get());
            }
        }
        try (var scope = new StructuredTaskScope<String>()) {
            var subtask = scope.fork(look::get);
            scope.join();
            found.put("StructuredTaskScope", subtask.get());
        }
    }

    private void visitFlows(Supplier<String> look) throws Exception {
        RunOptions onPool = runs.withScheduler(Scheduler.from(pool));
        for (var each : Map.of("flow", runs, "flow on a pool", onPool).entrySet()) {
            String name = each.getKey();
            RunOptions options = each.getValue().withTimeout(LONG);
            FlowBuilder<Void> flow = FlowPlan.define("flow");
            var node = flow.node("node", look::get);
            var after = flow.node("after", node, value -> look.get());
            var compute = flow.node("compute", after, value -> look.get()).compute();
            var second = flow.node("second attempt", secondAttempt(look))
                    .retry(RetryPolicy.fixedDelay(2, Duration.ofMillis(1)));
            var items = flow.node("items", () -> List.of(1, 2));
            var map = flow.map("map", items, item -> look.get());
            var wait = flow.sleep("sleep", Duration.ofMillis(1));
            var later = flow.node("after a sleep", look::get).needs(wait);
            Callable<String> failing = () -> {
                throw new IllegalStateException("always");
            };
            var fallback = flow.node("fallback", failing).fallback(failure -> look.get());
            var result = flow.returning(List.of(node, after, compute, second, map, later, fallback))
                    .run(null, options)
                    .value();
            result.forEach((id, value) -> found.put(
                    name + ", " + id, value instanceof List<?> list ? (String) list.getLast() : (String) value));
            found.put(name + ", compensation", compensation(look, options));
        }
    }

    private static String compensation(Supplier<String> look, RunOptions options) throws Exception {
        CompletableFuture<String> undone = new CompletableFuture<>();
        FlowBuilder<Void> flow = FlowPlan.define("undone");
        var first = flow.node("first", () -> 1).compensate(value -> undone.complete(look.get()));
        var second = flow.node("second", first, value -> {
            if (value > 0) {
                throw new IllegalStateException("always");
            }
            return value;
        });
        flow.returning(second).run(null, options);
        return undone.get(10, TimeUnit.SECONDS);
    }

    private void visitPool(Supplier<String> look) throws Exception {
        found.put("pool, submit", pool.submit(look::get).get());
        try (GroupExecutor fixed = executor(options, policy -> policy.scheduler(key -> Scheduler.fixed(1)))) {
            found.put(
                    "group on Scheduler.fixed",
                    fixed.submit("key", look::get).await().orElseThrow());
        }
    }

    @Override
    public void close() {
        groups.close();
        reusing.close();
        pooled.close();
        pool.drain(Duration.ofSeconds(10));
        drainOnExit.cancel();
    }
}
