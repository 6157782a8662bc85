package dev.raddle.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.pool.ThreadPool;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PoolMetersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double gauge(String name) {
        return registry.get(name).tag("pool", "renderers").gauge().value();
    }

    private double counter(String name) {
        return registry.get(name).tag("pool", "renderers").functionCounter().count();
    }

    @Test
    void meters_of_a_pool_equal_its_statistics() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        try (ThreadPool pool =
                ThreadPool.builder("renderers").threads(1).queueCapacity(1).build()) {
            new PoolMeters(pool).bindTo(registry);
            pool.submit(() -> "value").get();
            pool.submit(() -> {
                begun.countDown();
                exit.await();
                return "value";
            });
            begun.await();
            pool.execute(() -> {});
            boolean rejected = false;
            try {
                pool.execute(() -> {});
            } catch (RejectedExecutionException expected) {
                rejected = true;
            }

            assertThat(rejected).isTrue();
            assertThat(gauge("raddle.pool.threads")).isEqualTo(1);
            assertThat(gauge("raddle.pool.threads.core")).isEqualTo(1);
            assertThat(gauge("raddle.pool.threads.max")).isEqualTo(1);
            assertThat(gauge("raddle.pool.threads.largest")).isEqualTo(1);
            assertThat(gauge("raddle.pool.active")).isEqualTo(1);
            assertThat(gauge("raddle.pool.queued")).isEqualTo(1);
            assertThat(gauge("raddle.pool.queue.capacity")).isEqualTo(1);
            assertThat(counter("raddle.pool.completed")).isEqualTo(1);
            assertThat(counter("raddle.pool.rejected")).isEqualTo(1);
            assertThat(counter("raddle.pool.removed")).isZero();

            assertThat(pool.shutdownNow()).hasSize(1);
            assertThat(counter("raddle.pool.handed.back")).isEqualTo(1);
        }
    }

    /** The words of a name like handedBack or handed.back, in no order. */
    private static Set<String> words(String name) {
        return Set.of(name.replaceAll("([A-Z])", ".$1").toLowerCase(Locale.ROOT).split("\\."));
    }

    @Test
    void every_number_in_the_statistics_of_a_pool_has_a_meter() {
        try (ThreadPool pool = ThreadPool.builder("renderers").threads(1).build()) {
            new PoolMeters(pool).bindTo(registry);
        }
        Set<Set<String>> meters = registry.getMeters().stream()
                .map(meter -> words(meter.getId().getName().substring("raddle.pool.".length())))
                .collect(Collectors.toSet());

        assertThat(ThreadPool.Stats.class.getRecordComponents())
                .filteredOn(component -> component.getType().isPrimitive())
                .allSatisfy(component -> assertThat(meters)
                        .as("meters for " + component.getName())
                        .contains(words(component.getName())));
    }

    @Test
    void closed_meters_of_a_pool_are_removed_from_all_registries() {
        SimpleMeterRegistry another = new SimpleMeterRegistry();
        try (ThreadPool pool = ThreadPool.builder("renderers").threads(1).build()) {
            PoolMeters meters = new PoolMeters(pool);
            meters.bindTo(registry);
            meters.bindTo(another);
            meters.close();
            meters.close();

            assertThat(registry.getMeters()).isEmpty();
            assertThat(another.getMeters()).isEmpty();
        }
    }

    @Test
    void further_tags_are_on_every_meter_of_a_pool() {
        try (ThreadPool pool = ThreadPool.builder("renderers").threads(1).build()) {
            new PoolMeters(pool, Tags.of("host", "h1")).bindTo(registry);

            assertThat(registry.getMeters()).hasSize(11).allSatisfy(meter -> {
                assertThat(meter.getId().getTag("host")).isEqualTo("h1");
                assertThat(meter.getId().getTag("pool")).isEqualTo("renderers");
            });
        }
    }
}
