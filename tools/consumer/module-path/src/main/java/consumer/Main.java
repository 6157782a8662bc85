package consumer;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import java.time.Duration;

/** Uses the four APIs of the core from the module path, and from an image of jlink. */
public class Main {
    public static void main(String[] args) throws Exception {
        try (var executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).build())) {
            System.out.println(
                    executor.submit("tenant-a", "greet", () -> "a group").join().value());
        }
        try (var scope = ThreadScope.open("page", ScopeOptions.defaults())) {
            System.out.println(scope.submit("greet", () -> "a scope").await());
        }
        var flow = FlowPlan.define("greet", String.class);
        var node = flow.node("greet", c -> c.param());
        System.out.println(flow.returning(node)
                .run("a flow", RunOptions.timeout(Duration.ofSeconds(10)))
                .value());
        var pool = ThreadPool.builder("greet").threads(1).queueCapacity(1).build();
        pool.execute(() -> System.out.println("a pool"));
        System.out.println(pool.drain(Duration.ofSeconds(10)));
        System.out.println(ThreadPool.class.getModule().getDescriptor().toNameAndVersion());
    }
}
