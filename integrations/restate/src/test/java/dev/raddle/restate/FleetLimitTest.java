package dev.raddle.restate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.processes.Await;
import dev.raddle.processes.LoopbackPorts;
import dev.raddle.processes.RestateServer.Answer;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.FleetStatus;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/** Flows on a real engine whose nodes take the permits of a fleet from a real Redis server. */
@RestateTest
class FleetLimitTest {
    private static final String KEY = "partner";
    private static final int RUNS = 8;

    /** Longer than a busy machine lets a process wait. A new server grants nothing for this time. */
    private static final Duration LEASE = Duration.ofSeconds(5);

    /** One run for each connection, so that the proxy spreads the runs over the workers. */
    private static final Map<String, String> ONE_STREAM =
            Map.of("RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT", "1");

    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger running = new AtomicInteger();
    private final Queue<Integer> runningAtOnce = new ConcurrentLinkedQueue<>();
    private final Set<String> users = ConcurrentHashMap.newKeySet();
    private RedisServer server;
    private RedisURI uri;

    @BeforeEach
    void start_a_server() throws IOException {
        int port = LoopbackPorts.free();
        server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        uri = RedisURI.create("127.0.0.1", port);
    }

    @AfterEach
    void stop_the_server() throws IOException {
        server.stop();
    }

    /** One process of the fleet: its connection, and an executor that would itself admit all runs. */
    private record Member(RedisFleet fleet, GroupExecutor groups) implements AutoCloseable {
        static Member join(RedisURI uri, String name) {
            FleetOptions options =
                    FleetOptions.builder().instanceName(name).lease(LEASE).build();
            RedisFleet fleet = RedisFleet.connect(uri, options);
            GroupPolicy policy = GroupPolicy.builder()
                    .defaultMaxConcurrencyPerGroup(RUNS)
                    .permits(fleet)
                    .build();
            return new Member(fleet, GroupExecutor.newVirtualThreadExecutor(policy));
        }

        Worker serve(String service, FlowPlan<?, ?> plan) {
            return Worker.serve(RestateFlows.service(
                    service, plan, TestCodec.CODEC, RestateOptions.defaults().withGroups(groups)));
        }

        /** Returns how many nodes and tasks wait here. */
        long waiting() {
            return groups.stats().totalQueuedCount();
        }

        /** Returns how many permits the server has granted, to all members. */
        int granted() {
            return fleet.status().keys().stream()
                    .filter(key -> key.key().equals(KEY))
                    .mapToInt(FleetStatus.Key::permits)
                    .sum();
        }

        @Override
        public void close() {
            groups.close();
            fleet.close();
        }
    }

    @Test
    void one_permit_of_a_fleet_lets_the_nodes_of_two_workers_run_one_at_a_time(EngineBinary binary) {
        try (Member first = Member.join(uri, "first");
                Member second = Member.join(uri, "second");
                Worker firstWorker = first.serve("limited", limited("first"));
                Worker secondWorker = second.serve("limited", limited("second"));
                Engine engine = Engine.start(binary.path(), ONE_STREAM);
                Proxy proxy = new Proxy(firstWorker.port(), secondWorker.port())) {
            first.fleet().setLimit(KEY, 1);
            engine.register(proxy.port());

            IntStream.range(0, RUNS).forEach(i -> engine.submit("limited", "k" + i, TestCodec.bytes("v" + i)));
            Await.until(
                    "each node runs or waits",
                    () -> running.get() > 0 && running.get() + first.waiting() + second.waiting() == RUNS);
            gate.countDown();

            for (int i = 0; i < RUNS; i++) {
                Answer end = engine.attach("limited", "k" + i);
                assertThat(TestCodec.value(end.value())).isEqualTo("v" + i);
            }
            assertThat(runningAtOnce).hasSize(RUNS).containsOnly(1);
            assertThat(users).containsExactlyInAnyOrder("first", "second");
        }
    }

    /** A flow of one node that runs under the limit of the key. */
    private FlowPlan<String, String> limited(String worker) {
        FlowBuilder<String> f = FlowPlan.define("limited", String.class);
        Node<String> a = f.node("a", c -> {
                    users.add(worker);
                    runningAtOnce.add(running.incrementAndGet());
                    gate.await();
                    running.decrementAndGet();
                    return c.param();
                })
                .group(KEY);
        return f.returning(a);
    }

    @Test
    void cancelling_an_invocation_takes_its_node_out_of_the_queue_of_the_fleet_or_returns_its_permit(Engine engine)
            throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        try (Member other = Member.join(uri, "other");
                Member member = Member.join(uri, "member");
                Worker worker = member.serve("unwanted", unwanted(member, begun))) {
            other.fleet().setLimit(KEY, 1);
            engine.register(worker.port());
            CountDownLatch held = new CountDownLatch(1);
            var holder = other.groups().submit(KEY, () -> {
                held.countDown();
                gate.await();
                return "held";
            });
            held.await();

            engine.submit("unwanted", "waits", TestCodec.bytes("waits"));
            Await.until("the node waits", () -> member.waiting() == 1);
            engine.cancel("unwanted", "waits");
            ensureCancelledAndUndone(engine.attach("unwanted", "waits"));

            engine.submit("unwanted", "runs", TestCodec.bytes("runs"));
            gate.countDown();
            holder.await();
            begun.await();
            engine.cancel("unwanted", "runs");
            ensureCancelledAndUndone(engine.attach("unwanted", "runs"));

            assertThat(other.groups().submit(KEY, () -> "free").await().orElseThrow())
                    .isEqualTo("free");
            Await.until("all permits are returned", () -> member.granted() == 0);
            assertThat(users).containsExactly("runs");
        }
    }

    /** A flow whose second node needs a permit, and runs until it is interrupted. The first one is undone then. */
    private FlowPlan<String, String> unwanted(Member member, CountDownLatch begun) {
        FlowBuilder<String> f = FlowPlan.define("unwanted", String.class);
        Node<String> first = f.node("first", c -> c.param())
                .compensate(v -> Await.until(
                        "the second node has been cancelled", () -> member.waiting() == 0 && running.get() == 0));
        Node<String> second = f.node("second", first, (c, v) -> {
                    users.add(c.param());
                    running.incrementAndGet();
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                        return v;
                    } finally {
                        running.decrementAndGet();
                    }
                })
                .group(KEY);
        return f.returning(second);
    }

    private static void ensureCancelledAndUndone(Answer answer) {
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.text()).contains("is CANCELLED").doesNotContain("the compensation of");
    }
}
