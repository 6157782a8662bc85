package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupResult;
import dev.raddle.group.PermitSource;
import dev.raddle.micrometer.FleetMeters;
import dev.raddle.redis.OutageMode;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

class FleetTest {

    private static final int BUS = 10_000; // how much higher the port is at which the nodes of a cluster meet

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RaddleAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    FleetAutoConfiguration.class,
                    FleetHealthAutoConfiguration.class,
                    FleetMetersAutoConfiguration.class,
                    HealthAutoConfiguration.class))
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withPropertyValues(
                    "raddle.groups.tenants.max-concurrency=8",
                    "raddle.groups.local.max-concurrency=8",
                    "raddle.groups.local.fleet=false",
                    "spring.data.redis.host=127.0.0.1");
    private RedisServer server;

    @AfterEach
    void stop() throws IOException {
        if (server != null) {
            server.stop();
        }
    }

    @Test
    void the_limits_of_the_fleet_hold_over_two_applications() throws Exception {
        ApplicationContextRunner connected = runner.withPropertyValues(
                "spring.data.redis.port=" + startServer(), "raddle.redis.namespace=shop", "raddle.redis.lease=30s");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch hold = new CountDownLatch(1);
        connected.run(one -> {
            assertThat(one).hasSingleBean(FleetMeters.class);
            one.getBean(RedisFleet.class).setLimit("acme", 1);
            one.getBean("tenants", GroupExecutor.class).submit("acme", "first", () -> {
                begun.countDown();
                hold.await();
                return "";
            });
            begun.await();
            connected.run(two -> {
                GroupExecutor executor = two.getBean("tenants", GroupExecutor.class);
                FutureTask<String> call = new FutureTask<>(() -> executor.call("acme", () -> "second"));
                Thread.ofVirtual().start(call);
                while (executor.groupStats("acme").isEmpty()) {
                    Thread.onSpinWait();
                }
                assertThat(call.isDone()).isFalse();
                assertThat(two.getBean("local", GroupExecutor.class).call("acme", () -> "not limited"))
                        .isEqualTo("not limited");
                hold.countDown();
                assertThat(call.get()).isEqualTo("second");
                assertThat(two.getBean(RaddleHealthIndicator.class).health().getDetails())
                        .containsEntry("fleet", "shop")
                        .containsEntry("fleetServerAnswers", true);
            });
        });
    }

    @Test
    void an_outage_makes_the_health_down_only_if_that_is_set_and_nothing_can_start() throws Exception {
        ApplicationContextRunner unreachable = runner.withPropertyValues("spring.data.redis.port=" + freePort());
        unreachable.run(context ->
                assertThat(status(context.getBean(RaddleHealthIndicator.class))).isEqualTo(Status.UP));
        ApplicationContextRunner strict = unreachable.withPropertyValues("raddle.health.down-on-fleet-outage=true");
        strict.run(context ->
                assertThat(status(context.getBean(RaddleHealthIndicator.class))).isEqualTo(Status.DOWN));
        strict.withPropertyValues("raddle.redis.outage-mode=3").run(context -> {
            assertThat(context.getBean(RedisFleet.class).options().outageMode()).isEqualTo(OutageMode.local(3));
            assertThat(status(context.getBean(RaddleHealthIndicator.class))).isEqualTo(Status.UP);
        });
    }

    private static Status status(RaddleHealthIndicator indicator) {
        return indicator.health().getStatus();
    }

    @Test
    void the_namespace_is_the_name_of_the_application_by_default() throws Exception {
        runner.withPropertyValues("spring.application.name=checkout", "spring.data.redis.port=" + freePort())
                .run(context -> assertThat(
                                context.getBean(RedisFleet.class).options().namespace())
                        .isEqualTo("checkout"));
    }

    @Test
    void wrong_options_prevent_the_start_with_the_names_of_their_properties() {
        runner.withPropertyValues("raddle.redis.lease=1ms", "raddle.redis.outage-mode=half")
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(new RaddleFailureAnalyzer()
                                    .analyze(context.getStartupFailure())
                                    .getDescription())
                            .contains("raddle.redis.lease is invalid: ")
                            .contains("raddle.redis.outage-mode is invalid: it must be closed, open or a number");
                });
    }

    @Test
    void there_is_no_fleet_if_that_is_set_or_the_application_has_a_source_of_its_own() {
        runner.withPropertyValues("raddle.redis.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(RedisFleet.class));
        runner.withBean(PermitSource.class, () -> holder -> new NoPermits()).run(context -> {
            assertThat(context).doesNotHaveBean(RedisFleet.class);
            assertThat(context.getBean("tenants", GroupExecutor.class).policy().permits())
                    .isSameAs(context.getBean(PermitSource.class));
            assertThat(context.getBean("local", GroupExecutor.class).policy().permits())
                    .isNull();
        });
    }

    @Test
    void sentinels_password_and_database_are_those_of_the_connection_details() {
        DataRedisConnectionDetails details = new DataRedisConnectionDetails() {
            @Override
            public String getUsername() {
                return "shop";
            }

            @Override
            public String getPassword() {
                return "secret";
            }

            @Override
            public Sentinel getSentinel() {
                return new TwoSentinels();
            }
        };
        RedisURI uri = FleetConnection.uri(details, null);
        assertThat(uri.getSentinelMasterId()).isEqualTo("main");
        assertThat(uri.getDatabase()).isEqualTo(3);
        assertThat(uri.getSentinels()).extracting(RedisURI::getHost).containsExactly("one", "two");
        assertThat(uri.getCredentialsProvider().resolveCredentials().block())
                .satisfies(credentials -> assertThat(credentials.getUsername()).isEqualTo("shop"))
                .satisfies(
                        credentials -> assertThat(credentials.getPassword()).containsExactly("secret".toCharArray()));
    }

    // Real connections.

    @Test
    void the_connection_is_encrypted_with_the_bundle_of_the_application(@TempDir Path directory) throws Exception {
        Path store = TlsProxy.createKeyStore(directory);
        try (TlsProxy proxy = new TlsProxy(store, startServer())) {
            ApplicationContextRunner secured = runner.withConfiguration(
                            AutoConfigurations.of(SslAutoConfiguration.class))
                    .withPropertyValues(
                            "spring.data.redis.port=" + proxy.port(),
                            "spring.data.redis.ssl.bundle=redis",
                            "raddle.redis.lease=30s");
            String trust = "spring.ssl.bundle.jks.redis.truststore.";
            secured.withPropertyValues(trust + "location=" + store.toUri(), trust + "password=" + TlsProxy.PASSWORD)
                    .run(FleetTest::assertThatTasksRun);
            assertThat(proxy.connections()).isPositive();
        }
    }

    @Test
    void the_master_is_the_one_that_a_sentinel_names() throws Exception {
        int master = startServer();
        int port = freePort();
        RedisSentinel sentinel = RedisSentinel.newRedisSentinel()
                .bind("127.0.0.1")
                .port(port)
                .masterName("main")
                .masterPort(master)
                .quorumSize(1)
                .build();
        sentinel.start();
        try {
            runner.withPropertyValues(
                            "spring.data.redis.sentinel.master=main",
                            "spring.data.redis.sentinel.nodes=127.0.0.1:" + port,
                            "raddle.redis.lease=30s")
                    .run(FleetTest::assertThatTasksRun);
        } finally {
            sentinel.stop();
        }
    }

    @Test
    void the_nodes_are_those_of_a_cluster(@TempDir Path directory) throws Exception {
        int port = freePort();
        while (port + BUS > 0xffff) {
            port = freePort();
        }
        server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("cluster-enabled yes")
                .setting("dir \"" + directory + "\"")
                .build();
        server.start();
        haveAllSlots(port);
        runner.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:" + port, "raddle.redis.lease=30s")
                .run(FleetTest::assertThatTasksRun);
    }

    private static void haveAllSlots(int port) {
        try (RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", port));
                StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> node = connection.sync();
            node.clusterAddSlots(IntStream.range(0, SlotHash.SLOT_COUNT).toArray());
            while (!node.clusterInfo().contains("cluster_state:ok")) {
                Thread.onSpinWait();
            }
        }
    }

    private static void assertThatTasksRun(AssertableApplicationContext context) throws Exception {
        GroupExecutor executor = context.getBean("tenants", GroupExecutor.class);
        assertThat(executor.submit("acme", "task", () -> "done").join(60, TimeUnit.SECONDS))
                .as(() -> executor.explainNext("acme").toString())
                .extracting(GroupResult::isSuccess)
                .isEqualTo(true);
    }

    @Test
    void sentinels_are_asked_over_TLS_if_the_server_is() {
        DataRedisConnectionDetails details = new DataRedisConnectionDetails() {
            @Override
            public Sentinel getSentinel() {
                return new TwoSentinels();
            }

            @Override
            public SslBundle getSslBundle() {
                return SslBundle.of(null);
            }
        };
        RedisURI uri = FleetConnection.uri(details, null);
        assertThat(uri.isSsl()).isTrue();
        assertThat(uri.getSentinels()).allMatch(RedisURI::isSsl);
    }

    private int startServer() throws IOException {
        int port = freePort();
        server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        return port;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static final class TwoSentinels implements DataRedisConnectionDetails.Sentinel {
        @Override
        public int getDatabase() {
            return 3;
        }

        @Override
        public String getMaster() {
            return "main";
        }

        @Override
        public List<DataRedisConnectionDetails.Node> getNodes() {
            return List.of(
                    new DataRedisConnectionDetails.Node("one", 26379),
                    new DataRedisConnectionDetails.Node("two", 26379));
        }

        @Override
        public String getUsername() {
            return null;
        }

        @Override
        public String getPassword() {
            return "of the sentinels";
        }
    }

    private static final class NoPermits implements PermitSource.Session {
        @Override
        public void demand(String groupKey, int wanted, int unused) {}

        @Override
        public void close() {}
    }
}
