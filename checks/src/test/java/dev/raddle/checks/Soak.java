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

/** The life of one executor under random use by several threads, and what must hold in every moment of it and at its end. */
final class Soak {

    static final int DRIVERS = 4;

    /**
     * What is particular about a soak.
     *
     * @param name what it is called
     * @param keys how many groups there are
     * @param cap the global cap, or 0 if there is none
     * @param queue how many tasks may wait in a group
     * @param limitsChange whether limits and the cap change; if not, some tasks take several slots
     * @param rules what else the executor is told
     */
    record Setting(
            String name, int keys, int cap, int queue, boolean limitsChange, UnaryOperator<GroupPolicy.Builder> rules) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** How an executor ends. */
    private enum Ending {
        CLOSED_WHEN_IDLE,
        SHUT_DOWN_IN_USE,
        SHUT_DOWN_GRACEFULLY_IN_USE
    }

    private static final int WORTH_PRINTING = 20;

    private final Setting setting;
    private final Duration patience;
    private final List<SoakKey> keys = new ArrayList<>();
    private final SoakBound cap;
    private final AtomicInteger executing = new AtomicInteger(); // slots
    private final AtomicLong performed = new AtomicLong();
    private final Tally handles = new Tally();
    private final Tally listener = new Tally();
    private final Collection<String> violations = new ConcurrentLinkedQueue<>();
    private final LongAdder violationCount = new LongAdder();
    private final GroupExecutor executor;
    private volatile boolean shuttingDown;
    private volatile boolean shutdown;
    private volatile boolean broken; // a task was lost: others will not end either

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
     * @return how many operations were performed
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
            await(threads.getFirst()); // the others are about to come to their ends, too
            shuttingDown = true;
            shutDown(ending);
        }
        for (Thread thread : threads) {
            await(thread);
        }
        if (!broken) {
            checkThatAllIsOver();
        }
        return performed.get();
    }

    /** Waits for a driver as long as any of them gets on. Each reports by itself that a task of its own was lost. */
    private void await(Thread driver) throws InterruptedException {
        Duration longest = patience.multipliedBy(2);
        long before;
        do {
            before = performed.get() + handles.ended();
            if (driver.join(longest)) {
                return;
            }
        } while (performed.get() + handles.ended() > before);
        reportLost(driver.getName() + " stands still");
        driver.interrupt();
        driver.join(longest);
    }

    private void shutDown(Ending ending) {
        if (ending == Ending.SHUT_DOWN_IN_USE) {
            executor.shutdown();
            shutdown = true;
        } else if (!executor.shutdown(patience)) {
            reportLost("the executor has not ended in time: " + executor + ", " + executor.stats());
        }
    }

    private void checkThatAllIsOver() throws InterruptedException {
        for (SoakKey key : keys) { // a cancelled task may still be on its way out
            check(executor.awaitIdle(key.name, patience), key.name + " does not become idle");
            check(key.executing() == 0, key.executing() + " slots in use in " + key.name);
        }
        GroupExecutorStats stats = executor.stats();
        check(
                stats.totalActiveCount() + stats.totalQueuedCount() + stats.globalInFlightUsed() == 0,
                "all is over, and there is " + stats);
        shuttingDown = true;
        executor.close();
        check(executor.shutdown(Duration.ZERO), "the executor does not end: " + executor);
        check(executor.activeGroupKeys().isEmpty(), "groups left: " + executor.activeGroupKeys());
        check(handles.adds(), "submitted is not succeeded + failed + cancelled + rejected: " + handles);
        check(listener.adds(), "the listener did not hear of every end: " + listener);
        check(handles.equals(listener), "handles say " + handles + ", the listener heard " + listener);
    }

    // What drivers and tasks ask and tell.

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
        return now > most ? now + " slots taken by what executes, the global cap was " + most : null;
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
        if (violationCount.sum() <= WORTH_PRINTING) {
            violations.add(setting.name() + ": " + violation);
        }
    }

    private void report(Thread thread, Throwable failure) {
        report(thread.getName() + " died of " + failure + " at "
                + Stream.of(failure.getStackTrace()).limit(8).toList());
    }

    /** Reports that a task was lost, and ends the executor, so that nobody waits for others that were lost, too. */
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

    /** Returns how many tasks ended in each way. */
    Map<TaskStatus, Long> ends() {
        return handles.ends();
    }

    /** Counts tasks by how they ended. */
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

        boolean adds() {
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
