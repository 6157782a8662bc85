package dev.raddle.checks;

import dev.raddle.scope.AggregateException;
import dev.raddle.scope.FailurePolicy;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ScopeMetrics;
import dev.raddle.scope.ScopeTimeoutException;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskPriority;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Builds one random tree of scopes from a seed, and collects the violations. */
final class ScopeSoak {

    private static final int WIDTH = 24;
    private static final int DEPTH = 3;

    private static final class Planned extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private final Supplier<Scheduler> outermost;
    private final long seed;
    private final AtomicLong tasks = new AtomicLong();
    private final AtomicLong thrown = new AtomicLong(); // planned exceptions of waits
    private final AtomicInteger inside = new AtomicInteger(); // callables that run now
    private final Collection<String> violations = new ConcurrentLinkedQueue<>();

    ScopeSoak(Supplier<Scheduler> outermost, long seed) {
        this.outermost = outermost;
        this.seed = seed;
    }

    long tasks() {
        return tasks.get();
    }

    long thrown() {
        return thrown.get();
    }

    List<String> violations() {
        return List.copyOf(violations);
    }

    void run() throws InterruptedException {
        scope(outermost.get(), new Random(seed), 0);
        if (inside.get() != 0) {
            violate(inside + " callables are running although the outermost scope is closed");
        }
        if (Thread.interrupted()) {
            violate("the owner was interrupted");
        }
        if (ThreadScope.current().isPresent()) {
            violate("a closed scope is still entered: " + ThreadScope.current());
        }
    }

    private void scope(Scheduler scheduler, Random random, int depth) throws InterruptedException {
        List<Task<Integer>> submitted = new ArrayList<>();
        ThreadScope shown;
        try (ThreadScope scope = configured(scheduler, random)) {
            shown = scope;
            for (int i = 0; i < WIDTH; i++) {
                submitted.add(submit(scope, random, depth));
                if (random.nextInt(8) == 0) {
                    submitted.get(random.nextInt(submitted.size())).cancel();
                }
            }
            if (random.nextInt(12) == 0) {
                scope.cancel("at random");
            }
            use(scope, submitted, random);
        }
        check(shown, submitted);
    }

    private static ThreadScope configured(Scheduler scheduler, Random random) {
        FailurePolicy[] policies = FailurePolicy.values();
        ThreadScope scope = ThreadScope.open()
                .withScheduler(scheduler)
                .withFailurePolicy(policies[random.nextInt(policies.length)])
                .withDeadline(Duration.ofMillis(1 + random.nextInt(20))); // some tasks end only at the deadline
        if (random.nextBoolean()) {
            scope.withConcurrencyLimit(1 + random.nextInt(4));
        }
        if (random.nextInt(4) == 0) {
            scope.withRetryPolicy(RetryPolicy.fixedDelay(3, Duration.ofMillis(random.nextInt(2))));
        }
        return scope;
    }

    private Task<Integer> submit(ThreadScope scope, Random random, int depth) {
        tasks.incrementAndGet();
        TaskSpec<Integer> spec = TaskSpec.named("soak", counted(body(scope, random, depth)))
                .priority(TaskPriority.values()[random.nextInt(3)]);
        return scope.submit(random.nextInt(4) == 0 ? spec.timeout(Duration.ofMillis(1 + random.nextInt(5))) : spec);
    }

    private Callable<Integer> counted(Callable<Integer> body) {
        return () -> {
            inside.incrementAndGet();
            try {
                return body.call();
            } finally {
                inside.decrementAndGet();
            }
        };
    }

    private Callable<Integer> body(ThreadScope scope, Random random, int depth) {
        long own = random.nextLong();
        return switch (random.nextInt(depth < DEPTH ? 9 : 7)) {
            case 0 -> ScopeSoak::fail;
            case 1 -> ScopeSoak::overflow;
            case 2 ->
                () -> {
                    new CountDownLatch(1).await(); // until a timeout, a deadline, a cancel or the close interrupts it
                    return 0;
                };
            case 3 ->
                () -> {
                    scope.submit(counted(() -> 1));
                    return 3;
                };
            case 7 ->
                () -> {
                    scope(Scheduler.virtualThreads(), new Random(own), DEPTH);
                    return 7;
                };
            case 8 ->
                () -> {
                    scope(Scheduler.virtualThreads(), new Random(own), depth + 2);
                    return 8;
                };
            default -> () -> 5;
        };
    }

    private static Integer fail() {
        throw new Planned();
    }

    private static Integer overflow() {
        throw new StackOverflowError("planned");
    }

    /** Waits in one of several ways; every exception of these is planned. */
    private void use(ThreadScope scope, List<Task<Integer>> submitted, Random random) throws InterruptedException {
        try {
            switch (random.nextInt(4)) {
                case 0 -> scope.await(submitted.stream().filter(Task::isDone).toList());
                case 1 ->
                    scope.join(JoinStrategy.quorum(2), List.of(counted(() -> 1), counted(() -> 2), counted(() -> 3)));
                case 2 -> submitted.getFirst().cancel();
                default -> {
                    // close cancels the rest
                }
            }
        } catch (Planned
                | StackOverflowError
                | AggregateException
                | ScopeTimeoutException
                | TaskTimeoutException
                | CancellationException planned) {
            thrown.incrementAndGet(); // waits throw only these
        }
    }

    private void check(ThreadScope scope, List<Task<Integer>> submitted) {
        ScopeMetrics now = scope.metrics();
        if (now.started() != now.succeeded() + now.failed() + now.cancelled() || now.running() != 0) {
            violate("starts and ends differ: " + now);
        }
        if (now.submitted() != now.started() + now.failedBeforeStart() + now.cancelledBeforeStart()) {
            violate("submissions and ends differ: " + now);
        }
        if (now.submitted() < submitted.size()) {
            violate("submitted " + submitted.size() + " at least, counted " + now);
        }
        for (Task<Integer> task : submitted) {
            if (!task.isDone() || task.runner().isPresent()) {
                violate(task + " has not ended although its scope is closed");
            }
        }
    }

    private void violate(String what) {
        violations.add("seed " + seed + ": " + what);
    }
}
