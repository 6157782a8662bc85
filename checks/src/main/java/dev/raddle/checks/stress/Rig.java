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

/**
 * An executor whose tasks are run by the actors: a granted task stays in the scheduler of its key until one runs it.
 */
final class Rig {

    /** The result of {@link #rest} for an executor that holds no permit and no task. */
    static final String FREE = "free";

    final GroupExecutor executor;
    private final Map<String, StepScheduler> schedulers = new ConcurrentHashMap<>();

    /** Creates an executor that discards rejected tasks and removes a group as soon as it is empty. */
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

    /** Runs the first granted task of a key. */
    void runNext(String key) {
        scheduler(key).runNext();
    }

    /** Returns the number of tasks of a key that were granted and have not been run. */
    int granted(String key) {
        return scheduler(key).size();
    }

    /** Runs granted tasks, including those that are granted meanwhile, until none is left. */
    void runAll() {
        while (schedulers.values().stream().anyMatch(scheduler -> scheduler.size() > 0)) {
            schedulers.values().forEach(StepScheduler::runAll);
        }
    }

    /** Runs all granted tasks; returns {@link #FREE}, or the numbers of permits and tasks that are never released. */
    String rest() {
        runAll();
        GroupExecutorStats stats = executor.stats();
        return stats.totalActiveCount() + stats.totalQueuedCount() + stats.globalInFlightUsed() == 0
                ? FREE
                : stats.totalActiveCount() + " held; " + stats.totalQueuedCount() + " waiting; "
                        + stats.globalInFlightUsed() + " of the cap";
    }

    /** Does the same as {@link #rest}, and then checks that a further task runs. */
    String aftermath(String key) {
        String rest = rest();
        return rest.equals(FREE) ? furtherTask(key) : rest;
    }

    private String furtherTask(String key) {
        TaskHandle<String> further = submit(key);
        runAll();
        return further.isDone() && further.join().status() == TaskStatus.SUCCESS
                ? rest()
                : "a further task does not run";
    }

    /** Returns the status of a task, or "never" if it has not ended. Does not wait. */
    static Object end(TaskHandle<?> handle) {
        if (!handle.isDone()) {
            return "never";
        }
        GroupResult<?> result = handle.join();
        return result.status();
    }
}
