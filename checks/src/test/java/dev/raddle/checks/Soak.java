package dev.raddle.checks;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskLifecycleListener;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Uses one executor from several threads at random, and checks its invariants at all times and at its end. */
final class Soak {

    static final int DRIVERS = 4;

    /**
     * The parameters of a soak.
     *
     * @param name the name
     * @param keys the number of groups
     * @param cap the global cap, or 0 if there is none
     * @param queue the maximum number of waiting tasks in a group
     * @param limitsChange whether limits and the cap change; if not, some tasks take several permits
     * @param rules the other settings of the policy
     */
    record Setting(
            String name, int keys, int cap, int queue, boolean limitsChange, UnaryOperator<GroupPolicy.Builder> rules) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** The ways in which an executor ends. */
    private enum Ending {
        CLOSED_WHEN_IDLE,
        SHUT_DOWN_IN_USE,
        SHUT_DOWN_GRACEFULLY_IN_USE
    }

    private static final int MOST_PRINTED = 20;

    private final Setting setting;
    private final Duration patience;
    private final List<SoakKey> keys = new ArrayList<>();
    private final SoakBound cap;
    private final AtomicInteger executing = new AtomicInteger(); // permits
    private final AtomicLong performed = new AtomicLong();
    private final Tally handles = new Tally();
    private final Tally listener = new Tally();
    private final Collection<String> violations = new ConcurrentLinkedQueue<>();
    private final LongAdder violationCount = new LongAdder();
    private final GroupExecutor executor;
    private volatile boolean shuttingDown;
    private volatile boolean shutdown;
    private volatile boolean broken; // a task was lost: others may not end either

    Soak(Setting setting, Duration patience) {
        this.setting = setting;
        this.patience = patience;
        this.cap = new SoakBound(fixedCap());
        for (int i = 0; i < setting.keys(); i++) {
            keys.add(new SoakKey("group-" + i, 1 + i % 3, DRIVERS));
        }
        Map<String, Integer> limits = keys.stream().collect(Collectors.toMap(key -> key.name, key -> key.limit));
        GroupPolicy.Builder policy = GroupPolicy.builder()
                .concurrencyResolver(limits::get)
                .defaultQueueThresholdPerGroup(setting.queue())
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .taskLifecycleListener(listener)
                .scheduler(key -> Scheduler.virtualThreads());
        if (hasCap()) {
            policy.globalMaxInFlight(setting.cap());
        }
        this.executor = GroupExecutor.newVirtualThreadExecutor(
                setting.rules().apply(policy).build());
    }

    /**
     * Uses the executor, and ends it.
     *
     * @return the number of performed operations
     */
    long run(long operations, long seed) throws InterruptedException {
        Ending ending = Ending.values()[(int) Math.floorMod(seed, (long) Ending.values().length)];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < DRIVERS; i++) {
            SoakDriver driver =
                    new SoakDriver(this, executor, i, Math.ceilDiv(operations, DRIVERS), seed * DRIVERS + i);
            threads.add(Thread.ofPlatform()
                    .daemon()
                    .name("soak-driver-" + i)
                    .uncaughtExceptionHandler(this::report)
                    .start(driver));
        }
        if (ending != Ending.CLOSED_WHEN_IDLE) {
            await(threads.getFirst()); // the other drivers are about to end, too
            shuttingDown = true;
            shutDown(ending);
        }
        for (Thread thread : threads) {
            await(thread);
        }
        if (!broken) {
            checkFinalState();
        }
        return performed.get();
    }

    /** Waits for a driver as long as any of them makes progress. Each driver reports the loss of its own tasks. */
    private void await(Thread driver) throws InterruptedException {
        Duration longest = patience.multipliedBy(2);
        long before;
        do {
            before = performed.get() + handles.ended();
            if (driver.join(longest)) {
                return;
            }
        } while (performed.get() + handles.ended() > before);
        reportLost(driver.getName() + " makes no progress");
        driver.interrupt();
        driver.join(longest);
    }

    private void shutDown(Ending ending) {
        if (ending == Ending.SHUT_DOWN_IN_USE) {
            executor.shutdown();
            shutdown = true;
        } else if (!executor.shutdown(patience)) {
            reportLost("the executor has not terminated in time: " + executor + ", " + executor.stats());
        }
    }

    private void checkFinalState() throws InterruptedException {
        for (SoakKey key : keys) { // the thread of a cancelled task may not have returned yet
            check(executor.awaitIdle(key.name, patience), key.name + " does not become idle");
            check(key.executing() == 0, key.executing() + " permits in use in " + key.name);
        }
        GroupExecutorStats stats = executor.stats();
        check(
                stats.totalActiveCount() + stats.totalQueuedCount() + stats.globalInFlightUsed() == 0,
                "all drivers have ended, and the executor has " + stats);
        shuttingDown = true;
        executor.close();
        check(executor.shutdown(Duration.ZERO), "the executor does not terminate: " + executor);
        check(executor.activeGroupKeys().isEmpty(), "groups left: " + executor.activeGroupKeys());
        check(handles.isBalanced(), "submitted is not succeeded + failed + cancelled + rejected: " + handles);
        check(listener.isBalanced(), "the listener did not receive every end: " + listener);
        check(handles.equals(listener), "handles counted " + handles + ", the listener " + listener);
    }

    // Called by drivers and tasks.

    List<SoakKey> keys() {
        return keys;
    }

    Duration patience() {
        return patience;
    }

    boolean limitsChange() {
        return setting.limitsChange();
    }

    boolean hasCap() {
        return setting.cap() > 0;
    }

    SoakBound cap() {
        return cap;
    }

    int fixedCap() {
        return hasCap() ? setting.cap() : Integer.MAX_VALUE;
    }

    boolean isShuttingDown() {
        return shuttingDown;
    }

    boolean isShutdown() {
        return shutdown;
    }

    boolean isBroken() {
        return broken;
    }

    String enter(SoakTask task, int slots) {
        int now = executing.addAndGet(slots);
        int most = cap.mostSince(task.submittedNanos);
        return now > most ? now + " permits taken by running tasks, the global cap was " + most : null;
    }

    void leave(int slots) {
        executing.addAndGet(-slots);
    }

    void countPerformed() {
        performed.incrementAndGet();
    }

    void countSubmitted() {
        handles.submitted.increment();
    }

    void countEnd(TaskStatus status) {
        handles.count(status);
    }

    // Violations.

    void report(String violation) {
        violationCount.increment();
        if (violationCount.sum() <= MOST_PRINTED) {
            violations.add(setting.name() + ": " + violation);
        }
    }

    private void report(Thread thread, Throwable failure) {
        report(thread.getName() + " died of " + failure + " at "
                + Stream.of(failure.getStackTrace()).limit(8).toList());
    }

    /** Reports that a task was lost, and shuts the executor down, so that no driver waits for other lost tasks. */
    void reportLost(String violation) {
        report(violation + ", " + executor.stats());
        broken = true;
        shuttingDown = true;
        executor.shutdown();
    }

    private void check(boolean condition, String violation) {
        if (!condition) {
            report(violation);
        }
    }

    List<String> violations() {
        return List.copyOf(violations);
    }

    /** Returns the number of tasks by status. */
    Map<TaskStatus, Long> ends() {
        return handles.ends();
    }

    /** Counts tasks by status. */
    private static final class Tally implements TaskLifecycleListener {

        final LongAdder submitted = new LongAdder();
        private final LongAdder[] ends = Stream.generate(LongAdder::new)
                .limit(TaskStatus.values().length)
                .toArray(LongAdder[]::new);

        void count(TaskStatus status) {
            ends[status.ordinal()].increment();
        }

        @Override
        public void onSubmitted(String groupKey, String taskId) {
            submitted.increment();
        }

        @Override
        public void onCompleted(String groupKey, String taskId, GroupResult<?> result) {
            count(result.status());
        }

        @Override
        public void onRejected(String groupKey, String taskId, String reason) {
            count(TaskStatus.REJECTED);
        }

        Map<TaskStatus, Long> ends() {
            return Stream.of(TaskStatus.values())
                    .collect(Collectors.toMap(status -> status, status -> ends[status.ordinal()].sum()));
        }

        long ended() {
            return Stream.of(ends).mapToLong(LongAdder::sum).sum();
        }

        boolean isBalanced() {
            return submitted.sum() == ended();
        }

        boolean equals(Tally other) {
            return toString().equals(other.toString());
        }

        @Override
        public String toString() {
            return submitted + " submitted, " + ends();
        }
    }
}
