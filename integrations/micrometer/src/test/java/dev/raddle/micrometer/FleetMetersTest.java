package dev.raddle.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.raddle.group.PermitSource;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.OutageMode;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisURI;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationConvention;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.embedded.RedisServer;

@Timeout(60)
class FleetMetersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final List<RedisServer> servers = new ArrayList<>();

    /** Accepts every permit. */
    private static final class Accepting implements PermitSource.Holder {
        final CountDownLatch granted;

        Accepting(int permits) {
            granted = new CountDownLatch(permits);
        }

        @Override
        public boolean grant(String groupKey, long fence) {
            granted.countDown();
            return true;
        }

        @Override
        public boolean grantOnce(String groupKey, long fence) {
            return grant(groupKey, fence);
        }

        @Override
        public PermitSource.Reclaimed reclaim(String groupKey, int most) {
            return PermitSource.Reclaimed.NONE;
        }

        @Override
        public int revoke(String groupKey, int permits, String reason) {
            return permits;
        }

        @Override
        public void limit(String groupKey, int permits) {}
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private int startServer() throws Exception {
        int port = freePort();
        RedisServer server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        servers.add(server);
        return port;
    }

    @AfterEach
    void stop_servers() throws Exception {
        for (RedisServer server : servers) {
            server.stop();
        }
    }

    private static RedisFleet connect(int port) {
        return RedisFleet.connect(
                RedisURI.create("127.0.0.1", port),
                FleetOptions.builder()
                        .namespace("shop")
                        .outageMode(OutageMode.closed())
                        .build());
    }

    private double gauge(String name) {
        return registry.get(name).tag("fleet", "shop").gauge().value();
    }

    private double counter(String name) {
        return registry.get(name).tag("fleet", "shop").functionCounter().count();
    }

    @Test
    void meters_of_a_fleet_equal_its_statistics() throws Exception {
        try (RedisFleet fleet = connect(startServer())) {
            fleet.setLimit("vip", 2);
            Accepting holder = new Accepting(2);
            try (PermitSource.Session session = fleet.open(holder)) {
                new FleetMeters(fleet).bindTo(registry);
                session.demand("vip", 3, 0);
                holder.granted.await();
                FunctionTimer acquire = registry.get("raddle.fleet.acquire")
                        .tag("fleet", "shop")
                        .functionTimer();

                assertThat(acquire.count()).isEqualTo(2);
                assertThat(acquire.totalTime(TimeUnit.NANOSECONDS)).isPositive();
                assertThat(gauge("raddle.fleet.backend.up")).isEqualTo(1);
                assertThat(gauge("raddle.fleet.leases")).isEqualTo(2);
                assertThat(gauge("raddle.fleet.wanted")).isPositive();
                assertThat(gauge("raddle.fleet.groups")).isEqualTo(1);
                assertThat(counter("raddle.fleet.calls")).isPositive();
                assertThat(counter("raddle.fleet.lost")).isZero();
                assertThat(counter("raddle.fleet.outages")).isZero();
            }
        }
    }

    @Test
    void a_fleet_whose_server_is_away_is_shown_as_down() throws Exception {
        try (RedisFleet fleet = connect(freePort())) {
            new FleetMeters(fleet).bindTo(registry);

            assertThat(gauge("raddle.fleet.backend.up")).isZero();
            assertThat(gauge("raddle.fleet.leases")).isZero();
        }
    }

    @Test
    void further_tags_are_on_every_meter_of_a_fleet_until_it_is_closed() throws Exception {
        try (RedisFleet fleet = connect(freePort());
                FleetMeters meters = new FleetMeters(fleet, Tags.of("host", "h1"))) {
            meters.bindTo(registry);

            assertThat(registry.getMeters()).hasSize(8).allSatisfy(meter -> {
                assertThat(meter.getId().getTag("host")).isEqualTo("h1");
                assertThat(meter.getId().getTag("fleet")).isEqualTo("shop");
            });
            meters.close();
            assertThat(registry.getMeters()).isEmpty();
        }
    }

    @Test
    void the_other_meters_work_without_the_fleet_on_the_class_path() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (Class<?> needed : List.of(
                TaskMeters.class,
                PermitSource.class,
                MeterRegistry.class,
                KeyValue.class,
                ObservationConvention.class)) {
            urls.add(needed.getProtectionDomain().getCodeSource().getLocation());
        }
        try (URLClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new), null)) {
            Class<?> meters = loader.loadClass(TaskMeters.class.getName());
            Class<?> registries = loader.loadClass(MeterRegistry.class.getName());
            Class<?> simple = loader.loadClass(SimpleMeterRegistry.class.getName());

            Object made = meters.getMethod("forGroups", registries)
                    .invoke(null, simple.getConstructor().newInstance());

            assertThat(made.getClass()).isSameAs(meters).isNotSameAs(TaskMeters.class);
            assertThatExceptionOfType(ClassNotFoundException.class)
                    .isThrownBy(() -> loader.loadClass(RedisFleet.class.getName()));
        }
    }
}
