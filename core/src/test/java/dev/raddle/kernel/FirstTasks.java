package dev.raddle.kernel;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A process that runs the first task of one API, or one of each. Has no lambda: the JVM would load classes for it. */
final class FirstTasks {

    private FirstTasks() {}

    private static final class Task implements Callable<Integer> {
        @Override
        public Integer call() {
            return 1;
        }
    }

    /** With the argument "waits", runs the tasks when a line arrives; with the name of an API, only a task of that. */
    public static void main(String[] arguments) throws Exception {
        String argument = arguments.length > 0 ? arguments[0] : "";
        boolean waits = argument.equals("waits");
        String only = waits ? "" : argument;
        if (waits) {
            System.out.println("ready");
            System.in.read();
        }
        if (only.equals("bare")) {
            bare();
        }
        if (only.isEmpty() || only.equals("group")) {
            group();
        }
        if (only.isEmpty() || only.equals("scope")) {
            scope();
        }
        if (only.isEmpty()) {
            structured();
        }
        if (only.isEmpty() || only.equals("flow")) {
            flow();
        }
        if (only.isEmpty() || only.equals("pool")) {
            pool();
        }
        System.out.println("done");
        if (waits) {
            System.in.read();
        }
    }

    private static void bare() throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            executor.submit(new Task()).get();
        }
    }

    private static void group() {
        GroupPolicy policy = GroupPolicy.builder().build();
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(policy)) {
            groups.submit("group", "task", new Task()).join();
        }
    }

    private static void scope() throws Exception {
        try (ThreadScope scope = ThreadScope.open("scope")) {
            scope.submit("task", new Task()).await();
        }
    }

    private static void structured() throws Exception {
        try (StructuredTaskScope<Integer> scope = new StructuredTaskScope<>()) {
            scope.fork(new Task());
            scope.join();
        }
    }

    private static void flow() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("flow");
        f.returning(f.node("node", new Task())).run(null).value();
    }

    private static void pool() throws Exception {
        try (ThreadPool pool = ThreadPool.builder("pool").threads(1).build()) {
            pool.submit(new Task()).get();
        }
    }
}
