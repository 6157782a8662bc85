package dev.raddle.bench.trace;

import dev.raddle.bench.JdkScopes;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The calls that are traced, and the executors that they use. A task ends only when the caller waits for it: otherwise
 * each call would pass fewer methods or more, depending on which of the two threads is faster.
 */
final class TracedCalls implements AutoCloseable {

    /** A call. */
    interface Call {
        void run() throws Throwable;
    }

    /** Prepares a call, untraced. */
    interface Preparation {
        Call prepare() throws Throwable;
    }

    /**
     * A call with its name.
     *
     * @param name the name
     * @param library the library whose method entries are counted
     * @param preparation the preparation of the call
     */
    record Named(String name, Library library, Preparation preparation) {
        static Named raddle(String name, Call call) {
            return new Named(name, Library.RADDLE, () -> call);
        }

        static Named jdk(String name, Call call) {
            return new Named("JDK: " + name, Library.JDK, () -> call);
        }
    }

    /** A task that blocks, with a monitor because {@code java.util.concurrent} is traced. */
    private static final class BlockingTask implements Callable<String> {
        private boolean begun; // guarded by this
        private boolean released; // guarded by this

        @Override
        public synchronized String call() throws InterruptedException {
            begun = true;
            notifyAll();
            while (!released) {
                wait();
            }
            return "done";
        }

        synchronized void awaitBegun() throws InterruptedException {
            while (!begun) {
                wait();
            }
        }

        synchronized void release() {
            released = true;
            notifyAll();
        }
    }

    private final Thread caller = Thread.currentThread();
    private final Callable<String> task = this::awaitCaller;
    private final GroupExecutor groups =
            GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build());
    private final GroupExecutor cappedGroups = GroupExecutor.newVirtualThreadExecutor(
            GroupPolicy.builder().globalMaxInFlight(1).build());
    private final ExecutorService virtualThreads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore permits = new Semaphore(1);
    private volatile Thread runner; // of the last task that acquires a permit
    private final FlowPlan<Void, String> flow = flow();
    private final ThreadPool pool = ThreadPool.builder("trace").threads(1).build();
    private final ThreadPoolExecutor jdkPool =
            new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());

    private FlowPlan<Void, String> flow() {
        FlowBuilder<Void> builder = FlowPlan.define("trace");
        Node<String> a = builder.node("a", task);
        return builder.returning(builder.node("b", a, value -> value + "b"));
    }

    List<Named> all() {
        return List.of(
                Named.raddle(
                        "GroupExecutor: submit, await",
                        () -> groups.submit("group", "task", task).await()),
                Named.jdk(
                        "virtual threads and a semaphore: submit, get",
                        () -> virtualThreads.submit(this::withPermit).get()),
                new Named("GroupExecutor: submit, wait for the cap, await", Library.RADDLE, this::waitForCap),
                new Named(
                        "JDK: virtual threads and a semaphore: submit, wait for the permit, get",
                        Library.JDK,
                        this::waitForPermit),
                Named.raddle("StructuredTaskScope: open, fork, join, get, close", this::structuredScope),
                Named.jdk("StructuredTaskScope: open, fork, join, get, close", this::jdkScope),
                Named.raddle("ThreadScope: open, submit, await, close", this::threadScope),
                Named.raddle("FlowPlan of a and b: run", () -> flow.run(null)),
                Named.jdk("CompletableFuture of a and b: supplyAsync, thenApply, join", this::future),
                Named.raddle("ThreadPool: submit, get", () -> pool.submit(task).get()),
                Named.jdk(
                        "ThreadPoolExecutor: submit, get",
                        () -> jdkPool.submit(task).get()));
    }

    private String awaitCaller() {
        while (Thread.currentThread() != caller && !isWaiting(caller)) {
            Thread.onSpinWait();
        }
        return "done";
    }

    private static boolean isWaiting(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    private String withPermit() throws InterruptedException {
        runner = Thread.currentThread();
        permits.acquire();
        try {
            return awaitCaller();
        } finally {
            permits.release();
        }
    }

    private Call waitForCap() throws InterruptedException {
        BlockingTask holder = new BlockingTask();
        cappedGroups.submit("other", "holder", () -> {
            holder.call();
            return awaitCaller();
        });
        holder.awaitBegun();
        return () -> {
            TaskHandle<String> waiting = cappedGroups.submit("group", "task", task);
            holder.release();
            waiting.await();
        };
    }

    private Call waitForPermit() throws InterruptedException {
        BlockingTask holder = new BlockingTask();
        Future<String> _ = virtualThreads.submit(() -> {
            permits.acquire();
            try {
                holder.call();
                return awaitCaller();
            } finally {
                permits.release();
            }
        });
        holder.awaitBegun();
        runner = null;
        return () -> {
            Future<String> waiting = virtualThreads.submit(this::withPermit);
            while (runner == null || !isWaiting(runner)) {
                Thread.onSpinWait();
            }
            holder.release();
            waiting.get();
        };
    }

    private void structuredScope() throws InterruptedException {
        try (var scope = new StructuredTaskScope<String>()) {
            StructuredTaskScope.Subtask<String> subtask = scope.fork(task);
            scope.join();
            subtask.get();
        }
    }

    private void jdkScope() throws Throwable {
        Object scope = JdkScopes.open();
        Object subtask = JdkScopes.fork(scope, task);
        JdkScopes.join(scope);
        JdkScopes.get(subtask);
        JdkScopes.close(scope);
    }

    private void future() {
        CompletableFuture.supplyAsync(this::awaitCaller)
                .thenApply(value -> value + "b")
                .join();
    }

    private void threadScope() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open()) {
            Task<String> submitted = scope.submit(task);
            submitted.await();
        }
    }

    @Override
    public void close() {
        groups.close();
        cappedGroups.close();
        virtualThreads.close();
        pool.close();
        jdkPool.close();
    }
}
