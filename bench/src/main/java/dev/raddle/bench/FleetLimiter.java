package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.redis.FleetException;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Runs tasks of numbered groups under limits that a server keeps. */
interface FleetLimiter extends AutoCloseable {

    /** Runs a task in the calling thread, when the limits allow it. */
    void run(int group, Callable<Void> task) throws Exception;

    @Override
    void close();

    /**
     * Connects Raddle.
     *
     * @param cap the limit of all groups together, or 0
     */
    static FleetLimiter raddle(String uri, int groups, int limit, int cap, Duration slice) {
        RedisClient client = RedisClient.create(uri);
        client.connect().close(); // the first connection loads the client's classes
        RedisFleet fleet = RedisFleet.connect(
                client, FleetOptions.builder().namespace("bench").slice(slice).build());
        try {
            fleet.setDefaultLimit(limit);
            fleet.setCap(cap);
        } catch (FleetException e) {
            fleet.close();
            client.shutdown(); // its threads would keep the JVM alive
            throw e;
        }
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(limit)
                .permits(fleet)
                .build());
        String[] keys = keys(groups);
        return new FleetLimiter() {
            @Override
            public void run(int group, Callable<Void> task) throws Exception {
                executor.call(keys[group], task);
            }

            @Override
            public void close() {
                executor.close();
                fleet.close();
                client.shutdown();
            }
        };
    }

    /**
     * Connects Redisson: a semaphore for each group, and inside its permit one for the cap.
     *
     * @param cap the limit of all groups together, or 0
     */
    static FleetLimiter redisson(String uri, int groups, int limit, int cap) {
        Config config = new Config();
        config.useSingleServer().setAddress(uri);
        RedissonClient client = Redisson.create(config);
        List<RPermitExpirableSemaphore> semaphores = new ArrayList<>();
        for (String key : keys(groups)) {
            semaphores.add(semaphore(client, key, limit));
        }
        RPermitExpirableSemaphore all = semaphore(client, "all", Math.max(1, cap));
        return new FleetLimiter() {
            @Override
            public void run(int group, Callable<Void> task) throws Exception {
                RPermitExpirableSemaphore own = semaphores.get(group);
                if (cap == 0) {
                    within(own, task);
                } else {
                    within(own, () -> within(all, task));
                }
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }

    private static RPermitExpirableSemaphore semaphore(RedissonClient client, String name, int permits) {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
        semaphore.setPermits(permits);
        return semaphore;
    }

    private static Void within(RPermitExpirableSemaphore semaphore, Callable<Void> task) throws Exception {
        String permit = semaphore.tryAcquire(60, 30, TimeUnit.SECONDS); // waits for at most 60 s, leases for 30 s
        if (permit == null) {
            throw new IllegalStateException("no permit within 60 s");
        }
        try {
            return task.call();
        } finally {
            semaphore.release(permit);
        }
    }

    private static String[] keys(int groups) {
        String[] keys = new String[groups];
        for (int i = 0; i < groups; i++) {
            keys[i] = "group-" + i;
        }
        return keys;
    }
}
