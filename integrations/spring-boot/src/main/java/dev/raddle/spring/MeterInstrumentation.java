package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.micrometer.PoolMeters;
import dev.raddle.micrometer.TaskMeters;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.TaskListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The meters of the configured executors and pools, each executor's with its name as the tag {@code executor}. */
final class MeterInstrumentation implements Instrumentation, AutoCloseable {

    private final MeterRegistry registry;
    private final int topKeys;
    private final Map<String, TaskMeters> ofExecutors = new ConcurrentHashMap<>();
    private final Queue<PoolMeters> ofPools = new ConcurrentLinkedQueue<>();

    MeterInstrumentation(MeterRegistry registry, int topKeys) {
        this.registry = registry;
        this.topKeys = topKeys;
    }

    @Override
    public TaskListener listenerFor(String name) {
        return ofExecutors.computeIfAbsent(
                name, key -> TaskMeters.forGroups(registry, topKeys, Tags.of("executor", key)));
    }

    @Override
    public void created(String name, GroupExecutor executor) {
        TaskMeters meters = ofExecutors.get(name);
        if (meters != null) {
            meters.watch(executor);
        }
    }

    @Override
    public void created(ThreadPool pool) {
        PoolMeters meters = new PoolMeters(pool);
        meters.bindTo(registry);
        ofPools.add(meters);
    }

    @Override
    public void close() {
        ofExecutors.values().forEach(TaskMeters::close);
        ofPools.forEach(PoolMeters::close);
    }
}
