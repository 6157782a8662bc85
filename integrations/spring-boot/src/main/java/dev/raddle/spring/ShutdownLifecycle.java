package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupShutdownReport;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.NamedTask;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/*
 * Overview.
 *
 * Spring stops its lifecycles by phase, the highest one first:
 *
 *   highest     ReadinessLifecycle    readiness off
 *   - 1024      Boot                  the web server accepts no more requests and finishes those that it has
 *   - 2048      Boot                  the web server ends
 *   - 3072      this class            flow services, then pools and group executors
 *   0           Spring                connections to databases and to Redis
 *
 * So requests can still submit tasks while they are finished, and tasks can use connections until they end.
 *
 * Nodes of flows may run in groups and on pools. So runs end first, or are left to other workers, in half of the time,
 * and the rest belongs to the tasks.
 *
 * Accepted tasks may submit further tasks to other executors. So no executor is shut down while another one works, for
 * half of the time that is left: a pass waits for each executor in turn until it is idle. If all were idle in as many
 * passes in a row as there are executors, no task is left that could submit to another executor, provided that
 * executors submit to each other in one direction only. A job of a pool may still do so, between two of its calls. So
 * the pools are drained next, and the executors are shut down after them. If an executor was not idle in time, it is
 * the other way round, because its tasks may run on a pool. All share one deadline.
 */

/** Drains all flow services, group executors and pools, with one deadline, and logs what has not ended. */
final class ShutdownLifecycle extends ShutdownStep {

    /** After the web server has ended, which Boot does in the phase 2048 below the highest. */
    static final int PHASE = DEFAULT_PHASE - 3072;

    private static final Logger LOGGER = LoggerFactory.getLogger("dev.raddle.shutdown");

    private final ConfigurableListableBeanFactory beans;
    private final Duration timeout;
    private final TimeSource time;
    private final ConfiguredExecutors configured;
    private final List<DurableRuns> runs;

    ShutdownLifecycle(
            ConfigurableListableBeanFactory beans,
            ShutdownTimeout bound,
            ConfiguredExecutors configured,
            List<DurableRuns> runs) {
        super(PHASE);
        this.beans = beans;
        this.timeout = bound.timeout();
        this.time = bound.time();
        this.configured = configured;
        this.runs = runs;
    }

    @Override
    void end() {
        Deadline deadline = Deadline.after(time, timeout);
        runs.forEach(DurableRuns::shutDown);
        Map<String, GroupExecutor> executors = created(GroupExecutor.class);
        boolean areIdle = awaitAllIdle(
                executors.values(), Deadline.after(time, deadline.remaining().dividedBy(2)));
        if (areIdle) {
            drainPools(deadline);
        }
        executors.forEach((name, executor) -> runOrLog(name, () -> shutDown(name, executor, deadline.remaining())));
        if (!areIdle) {
            drainPools(deadline);
        }
    }

    private void drainPools(Deadline deadline) {
        created(ThreadPool.class).forEach((name, pool) -> runOrLog(name, () -> drain(pool, deadline.remaining())));
    }

    /** Runs a shutdown, whose failure, such as that of a mock, does not keep the others from being shut down. */
    private static void runOrLog(String name, Runnable shutdown) {
        try {
            shutdown.run();
        } catch (RuntimeException failure) {
            LOGGER.warn("\"{}\" was not shut down", name, failure);
        }
    }

    /** Returns the beans of a type that exist, in the order of their definitions. None is created. */
    private <T> Map<String, T> created(Class<T> type) {
        return Stream.of(beans.getBeanNamesForType(type, false, false))
                .filter(beans::containsSingleton)
                .collect(Collectors.toMap(
                        name -> name, name -> beans.getBean(name, type), (one, other) -> one, LinkedHashMap::new));
    }

    private static boolean awaitAllIdle(Collection<GroupExecutor> executors, Deadline deadline) {
        try {
            for (int quiet = 0; quiet < executors.size(); quiet++) {
                for (GroupExecutor executor : executors) {
                    if (isIdle(executor)) {
                        continue;
                    }
                    if (!executor.awaitIdle(deadline.remaining())) {
                        return false;
                    }
                    quiet = -1; // this pass was not quiet
                }
            }
            return true;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static boolean isIdle(GroupExecutor executor) throws InterruptedException {
        return executor.awaitIdle(Duration.ZERO);
    }

    private void shutDown(String name, GroupExecutor executor, Duration left) {
        UnfinishedTasks unfinished = configured.unfinishedOf(executor);
        Deadline deadline = Deadline.after(executor.policy().timeSource(), left);
        List<String> names =
                unfinished == null ? none(executor, left) : unfinished.collect(deadline, () -> executor.shutdown(left));
        GroupShutdownReport report = executor.shutdownReport().orElse(null);
        if (report == null || report.isDrained()) {
            LOGGER.debug("executor \"{}\" was shut down: {}", name, report);
        } else {
            LOGGER.warn("executor \"{}\" was shut down: {}; not finished: {}", name, report, names);
        }
    }

    /** Shuts an executor of the application down, whose tasks have no observer. */
    private static List<String> none(GroupExecutor executor, Duration left) {
        executor.shutdown(left);
        return List.of("names are known only of executors in raddle.groups");
    }

    private void drain(ThreadPool pool, Duration left) {
        ShutdownReport report = pool.drain(left);
        List<String> names = Stream.of(
                        report.handedBack().stream().map(task -> nameOf(task.task()) + " (not started)"),
                        report.interrupted().stream().map(task -> nameOf(task.task()) + " (interrupted)"),
                        report.stillRunning().stream().map(task -> nameOf(task.task()) + " (still running)"))
                .flatMap(texts -> texts)
                .toList();
        if (names.isEmpty()) {
            LOGGER.debug("{}", report);
        } else {
            LOGGER.warn("{}; not finished: {}", report, UnfinishedTasks.withoutRest(names));
        }
    }

    private static String nameOf(Object task) {
        return task instanceof NamedTask named ? named.name() : UserCode.textOf(task);
    }
}
