package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.pool.ThreadPool;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The health of groups and pools. It is UP however many tasks run and wait: a saturated application works, and a
 * restart would only make it slower. What else is a reason for DOWN is said by the {@link HealthContribution}s.
 */
final class RaddleHealthIndicator implements HealthIndicator {

    private final Map<String, GroupExecutor> executors;
    private final Map<String, ThreadPool> pools;
    private final List<HealthContribution> contributions;

    RaddleHealthIndicator(
            Map<String, GroupExecutor> executors,
            Map<String, ThreadPool> pools,
            List<HealthContribution> contributions) {
        this.executors = executors;
        this.pools = pools;
        this.contributions = contributions;
    }

    @Override
    public Health health() {
        Health.Builder health = Health.up();
        executors.forEach((name, executor) -> health.withDetail(name, counts(executor)));
        pools.forEach((name, pool) -> health.withDetail(name, counts(pool)));
        contributions.forEach(contribution -> contribution.contribute(health));
        return health.build();
    }

    private static Map<String, Object> counts(GroupExecutor executor) {
        GroupExecutorStats stats = executor.stats();
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("running", stats.totalActiveCount());
        counts.put("waiting", stats.totalQueuedCount());
        counts.put("shutDown", executor.isShutdown());
        return counts;
    }

    private static Map<String, Object> counts(ThreadPool pool) {
        ThreadPool.Stats stats = pool.stats();
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("running", stats.active());
        counts.put("waiting", stats.queued());
        counts.put("shutDown", stats.runState() != ThreadPool.RunState.RUNNING);
        return counts;
    }
}
