package dev.raddle.checks.stress;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** An executor whose tasks are run by the actors: a granted task waits in the scheduler of its key until one runs it. */
final class Rig {

    /** What is said of an executor in which nothing was lost. */
    static final String FREE = "free";

    final GroupExecutor executor;
    private final Map<String, StepScheduler> schedulers = new ConcurrentHashMap<>();

    /** Makes an executor that discards what it rejects and forgets a group as soon as it is empty. */
    Rig(UnaryOperator<GroupPolicy.Builder> rules) {
        GroupPolicy.Builder builder = GroupPolicy.builder()
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .idleGroupTtl(Duration.ZERO)
                .scheduler(this::scheduler);
        executor = GroupExecutor.newVirtualThreadExecutor(rules.apply(builder).build());
    }

    private StepScheduler scheduler(String key) {
        return schedulers.computeIfAbsent(key, unknown -> new StepScheduler());
    }

    TaskHandle<String> submit(String key) {
        return executor.submit(key, "task", () -> "done");
    }

    /** Runs the task of a key that was granted first. */
    void runNext(String key) {
        scheduler(key).runNext();
    }

    /** Returns how many tasks of a key were granted and have not been run. */
    int granted(String key) {
        return scheduler(key).size();
    }

    /** Runs what was granted, and what that makes possible, until nothing is left. */
    void runAll() {
        while (schedulers.values().stream().anyMatch(scheduler -> scheduler.size() > 0)) {
            schedulers.values().forEach(StepScheduler::runAll);
        }
    }

    /** Runs what is left; says what is still held, or waits for ever. */
    String rest() {
        runAll();
        GroupExecutorStats stats = executor.stats();
        return stats.totalActiveCount() + stats.totalQueuedCount() + stats.globalInFlightUsed() == 0
                ? FREE
                : stats.totalActiveCount() + " held; " + stats.totalQueuedCount() + " waiting; "
                        + stats.globalInFlightUsed() + " of the cap";
    }

    /** Does what {@link #rest} does, and then lets a further task run. */
    String aftermath(String key) {
        String rest = rest();
        return rest.equals(FREE) ? furtherTask(key) : rest;
    }

    private String furtherTask(String key) {
        TaskHandle<String> further = submit(key);
        runAll();
        return further.isDone() && further.join().status() == TaskStatus.SUCCESS ? rest() : "nothing runs any more";
    }

    /** Says how a task ended, without waiting for it. */
    static Object end(TaskHandle<?> handle) {
        if (!handle.isDone()) {
            return "never";
        }
        GroupResult<?> result = handle.join();
        return result.status();
    }
}
