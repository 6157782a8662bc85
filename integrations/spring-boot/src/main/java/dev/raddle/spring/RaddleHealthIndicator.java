package dev.raddle.spring;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupStats;
import dev.raddle.pool.ThreadPool;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The health of groups and pools. It is UP however many tasks run and wait: a saturated application works, and a
 * restart would only make it slower. It is DOWN while a breaker is open only if the application wants that. What else
 * is a reason for DOWN is said by the {@link HealthContribution}s.
 */
final class RaddleHealthIndicator implements HealthIndicator {

    private static final int MOST_KEYS = 20;

    private final Map<String, GroupExecutor> executors;
    private final Map<String, ThreadPool> pools;
    private final List<HealthContribution> contributions;
    private final boolean downOnOpenBreaker;

    RaddleHealthIndicator(
            Map<String, GroupExecutor> executors,
            Map<String, ThreadPool> pools,
            List<HealthContribution> contributions,
            boolean downOnOpenBreaker) {
        this.executors = executors;
        this.pools = pools;
        this.contributions = contributions;
        this.downOnOpenBreaker = downOnOpenBreaker;
    }

    @Override
    public Health health() {
        Health.Builder health = Health.up();
        executors.forEach((name, executor) -> health.withDetail(name, counts(executor, health)));
        pools.forEach((name, pool) -> health.withDetail(name, counts(pool)));
        contributions.forEach(contribution -> contribution.contribute(health));
        return health.build();
    }

    private Map<String, Object> counts(GroupExecutor executor, Health.Builder health) {
        GroupExecutorStats stats = executor.stats();
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("running", stats.totalActiveCount());
        counts.put("waiting", stats.totalQueuedCount());
        counts.put("shutDown", executor.isShutdown());
        Map<String, GroupStats.Breaker> open = openBreakers(executor);
        if (!open.isEmpty()) {
            Map<String, String> shown = new LinkedHashMap<>();
            open.entrySet().stream()
                    .limit(MOST_KEYS)
                    .forEach(each -> shown.put(
                            ShortText.key(each.getKey()), each.getValue().toString()));
            counts.put("openBreakers", open.size());
            counts.put("openKeys", shown);
        }
        if (downOnOpenBreaker && open.values().stream().anyMatch(RaddleHealthIndicator::refusesAll)) {
            health.down();
        }
        return counts;
    }

    private static Map<String, GroupStats.Breaker> openBreakers(GroupExecutor executor) {
        Map<String, GroupStats.Breaker> open = new TreeMap<>();
        executor.groups().forEach(group -> {
            GroupStats.Breaker breaker = group.stats().breaker();
            if (breaker != null && breaker.state() == CircuitBreaker.State.OPEN) {
                open.put(group.stats().groupKey(), breaker);
            }
        });
        return open;
    }

    /** Returns whether no probe is due. If one is, only a task changes the state, and DOWN may keep all tasks away. */
    private static boolean refusesAll(GroupStats.Breaker open) {
        return open.nextProbe() != null && open.nextProbe().isPositive();
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
