package dev.raddle.group;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Rate;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** An application that uses a service and closes it. {@link ClosedServicesTest} loads it with a loader of its own. */
public final class ServiceProgram implements Consumer<String> {

    private static final Duration LONG = Duration.ofHours(1);

    /** Creates the program. */
    public ServiceProgram() {}

    @Override
    public void accept(String service) {
        try {
            switch (service) {
                case "group executor" -> useGroups(policy());
                case "executor with rates" ->
                    useGroups(policy().defaultRatePerGroup(Rate.of(2, LONG)).globalRate(Rate.of(3, LONG)));
                case "executor that is shut down at once" -> shutDownGroups();
                case "pool" -> usePool();
                case "scope" -> useScope();
                case "structured scope" -> useStructuredScope();
                case "flow run" -> useFlow();
                default -> throw new IllegalArgumentException(service);
            }
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static GroupPolicy.Builder policy() {
        return GroupPolicy.builder().concurrencyResolver(key -> key.length()).idleGroupTtl(LONG);
    }

    private static void useGroups(GroupPolicy.Builder policy) {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy.build())) {
            executor.submit("a", TaskSpec.named("task", () -> "a").timeout(LONG).queueTimeout(LONG))
                    .await();
            executor.submit("b", "task", () -> "b").await(1, TimeUnit.HOURS);
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }

    private static void shutDownGroups() throws InterruptedException {
        GroupPolicy.Builder slow =
                policy().defaultRatePerGroup(Rate.of(1, LONG)).globalRate(Rate.of(2, LONG));
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(slow.build());
        executor.submit("a", TaskSpec.named("runs", () -> "a").timeout(LONG).queueTimeout(LONG))
                .await();
        executor.submit("a", TaskSpec.named("waits", () -> "a").timeout(LONG).queueTimeout(LONG));
        executor.submit("b", TaskSpec.named("waits", () -> "b").timeout(LONG).queueTimeout(LONG));
        executor.submit("c", TaskSpec.named("waits", () -> "c").timeout(LONG).queueTimeout(LONG));
        executor.holdGroup("d", LONG);
        executor.pauseGroup("e");
        executor.shutdown();
        executor.shutdown(LONG);
    }

    private static void usePool() throws Exception {
        try (ThreadPool pool = ThreadPool.builder("closed").build()) {
            pool.submit(() -> "value").get();
        }
    }

    private static void useScope() throws Exception {
        try (ThreadScope scope = ThreadScope.open("closed").withDeadline(LONG)) {
            Task<String> timed = scope.submit("timed", () -> "value", LONG);
            Task<String> scheduled = scope.schedule(Duration.ZERO, () -> "value");
            scope.await(List.of(timed, scheduled));
        }
    }

    private static void useStructuredScope() throws Exception {
        try (StructuredTaskScope<String> scope = new StructuredTaskScope<>()) {
            StructuredTaskScope.Subtask<String> subtask = scope.fork(() -> "value");
            scope.joinUntil(Instant.now().plus(LONG));
            subtask.get();
        }
    }

    private static void useFlow() throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("closed");
        Node<String> node = flow.node("node", () -> "value").timeout(LONG);
        FlowPlan<Void, String> plan = flow.returning(flow.node("passed on", node, given -> given));
        try (FlowRun<String> run = plan.start(null)) {
            run.get();
        }
    }
}
