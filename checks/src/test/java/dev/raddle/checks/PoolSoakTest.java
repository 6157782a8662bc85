package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.checks.PoolSoak.Setting;
import dev.raddle.pool.ThreadPool;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Pools under random use by several threads: submits, removals, live resizes, tasks that throw, thread factories that
 * fail, and a shutdown, a stop or a drain in the middle or at the end.
 *
 * <p>Every accepted task ran once, was returned once or was removed; no rejected task ran; the pool's statistics
 * agree; no task begins with the interrupt of another task; every pool terminates. Three hundred thousand operations
 * are spread over the settings, or the number of a system property:
 *
 * <pre>{@code
 * mvn test -pl checks -am -Dtest=PoolSoakTest -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Draddle.soak.pool.operations=10000000
 * }</pre>
 */
class PoolSoakTest {

    private static final int OPERATIONS = Integer.getInteger("raddle.soak.pool.operations", 300_000);
    private static final int OPERATIONS_PER_POOL = 2_000;

    static List<Setting> settings() {
        return List.of(
                new Setting("own queue", pool -> pool, 0),
                new Setting("own queue, no core", pool -> pool.coreThreads(0).maxThreads(2), 0),
                new Setting(
                        "own bounded queue, waiting submitters",
                        pool -> pool.queueCapacity(8).rejection(new ThreadPool.BlockPolicy()),
                        0),
                new Setting("own bounded queue", pool -> pool.queueCapacity(50).coreThreads(1), 0),
                new Setting("own queue by priority", pool -> pool.priority(Object::hashCode), 0),
                new Setting("threads before queue", pool -> pool.coreThreads(0).scaleBeforeQueueing(true), 0),
                new Setting("a failing thread factory", pool -> pool.coreThreads(0), 50),
                new Setting("a failing thread factory, bounded queue", pool -> pool.queueCapacity(20), 50),
                new Setting("linked queue", pool -> pool.queue(new LinkedBlockingQueue<>()), 10),
                new Setting("array queue", pool -> pool.queue(new ArrayBlockingQueue<>(20)), 10),
                new Setting(
                        "priority queue",
                        pool -> pool.queue(new PriorityBlockingQueue<>(11, Comparator.comparingInt(Object::hashCode))),
                        10),
                new Setting("no queue", pool -> pool.queue(new SynchronousQueue<>()), 10));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    @Timeout(value = 24, unit = TimeUnit.HOURS)
    void every_task_is_run_or_returned_once(Setting setting) throws InterruptedException {
        int operations = OPERATIONS / settings().size();
        List<String> violations = new ArrayList<>();
        int pools = 0;
        for (; pools * OPERATIONS_PER_POOL < operations && violations.isEmpty(); pools++) {
            PoolSoak soak = new PoolSoak(setting, pools);
            soak.run(OPERATIONS_PER_POOL, pools);
            violations.addAll(soak.violations());
        }

        assertThat(violations).as("%s, seed %d", setting, pools - 1).isEmpty();
    }
}
