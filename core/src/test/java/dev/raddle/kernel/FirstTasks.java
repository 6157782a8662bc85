package dev.raddle.kernel;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;

/** A process that runs one task of each API, at once or when it receives a line. */
final class FirstTasks {

    private FirstTasks() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            System.out.println("ready");
            System.in.read();
        }
        try (GroupExecutor groups =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            groups.submit("group", "task", () -> 1).join();
        }
        try (ThreadScope scope = ThreadScope.open("scope")) {
            scope.submit("task", () -> 1).await();
        }
        try (StructuredTaskScope<Integer> scope = new StructuredTaskScope<>()) {
            scope.fork(() -> 1);
            scope.join();
        }
        FlowBuilder<Void> f = FlowPlan.define("flow");
        f.node("node", () -> 1);
        f.build().run(null);
        ThreadPool pool = ThreadPool.builder("pool").threads(1).build();
        pool.submit(() -> 1).get();
        pool.close();
        System.out.println("done");
        if (arguments.length > 0) {
            System.in.read();
        }
    }
}
