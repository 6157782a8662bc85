package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.group.PermitSource;
import dev.raddle.task.Rate;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Fleets on a real server, of each kind that is here. Each test has a server of its own. */
@ParameterizedClass
@MethodSource("kinds")
@Timeout(60)
class RedisFleetTest {

    /** A lease that outlives the pauses of a busy machine, for tests that count what a lost one repeats. */
    private static final Duration UNBROKEN = Duration.ofSeconds(5);

    private static final LongConsumer NOTHING = fence -> {};

    private final ServerKind kind;
    private final FakeExecutor.Peak peak = new FakeExecutor.Peak();
    private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private RedisServer server;

    RedisFleetTest(ServerKind kind) {
        this.kind = kind;
    }

    static List<ServerKind> kinds() {
        return ServerKind.all();
    }

    @BeforeEach
    void start() {
        server = RedisServer.start(kind, RedisServer.Options.PLAIN);
    }

    @AfterEach
    void stop() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        server.close();
    }

    private <T extends AutoCloseable> T closing(T resource) {
        open.push(resource);
        return resource;
    }

    private RedisFleet fleet(UnaryOperator<FleetOptions.Builder> more) {
        FleetOptions.Builder options = FleetOptions.builder()
                .lease(Duration.ofMillis(300))
                .instanceName("node-" + open.size())
                .listener(new FleetListener() {
                    @Override
                    public void outageBegan(String reason) {
                        events.add("outage: " + reason);
                    }

                    @Override
                    public void outageEnded(Duration length) {
                        events.add("outage ended");
                    }

                    @Override
                    public void leaseLost(int permits, String reason) {
                        events.add("lost " + permits);
                    }

                    @Override
                    public void quarantineBegan(Duration quarantine) {
                        events.add("quarantine");
                    }
                });
        return closing(RedisFleet.connect(uri(), more.apply(options).build()));
    }

    private RedisFleet fleet() {
        return fleet(options -> options);
    }

    /** An instance that loses no lease to the pauses of a busy machine, in a namespace without a quarantine. */
    private RedisFleet unbroken(UnaryOperator<FleetOptions.Builder> more) {
        server.command("HSETNX", "{raddle}:meta", "inc", "1");
        return fleet(options -> more.apply(options.lease(UNBROKEN)));
    }

    private RedisFleet unbroken() {
        return unbroken(options -> options);
    }

    private RedisURI uri() {
        return RedisURI.create("127.0.0.1", server.port());
    }

    private FakeExecutor executor(RedisFleet fleet) {
        return closing(new FakeExecutor(fleet, peak));
    }

    private RedisCommands<String, String> redis() {
        RedisClient client = RedisClient.create(uri());
        open.addLast(client::shutdown);
        return client.connect().sync();
    }

    private static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (Thread.interrupted()) {
                throw new AssertionError("interrupted while waiting, probably by the timeout");
            }
            LockSupport.parkNanos(100_000); // the processors are for the servers
        }
    }

    private void event(String beginning) throws InterruptedException {
        for (String event; (event = events.poll(30, TimeUnit.SECONDS)) != null; ) {
            if (event.startsWith(beginning)) {
                return;
            }
        }
        throw new AssertionError("no event " + beginning);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void two_instances_share_a_limit_and_every_task_runs() {
        RedisFleet a = unbroken();
        RedisFleet b = unbroken(options -> options.slice(Duration.ZERO));
        a.setLimit("g", 3);
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);

        first.submit("g", 500, fence -> Thread.yield());
        second.submit("g", 500, fence -> Thread.yield());

        until(() -> first.ended.get() == 500 && second.ended.get() == 500);
        assertThat(peak.of("g")).isBetween(1, 3);
    }

    @Test
    void a_cap_holds_over_all_groups_and_instances() {
        RedisFleet a = unbroken();
        RedisFleet b = unbroken();
        a.setCap(4);
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        FakeExecutor.Peak all = new FakeExecutor.Peak();
        LongConsumer task = fence -> {
            all.begin("*");
            Thread.yield();
            all.end("*");
        };
        for (int i = 0; i < 100; i++) {
            first.submit("g" + i % 7, task);
            second.submit("g" + i % 7, task);
        }

        until(() -> first.ended.get() == 100 && second.ended.get() == 100);
        assertThat(all.of("*")).isBetween(1, 4);
    }

    @Test
    void each_accepted_grant_counts_against_a_demand_that_is_reported_once() {
        // Grants are counted, and a lost lease repeats them: it is longer than a busy machine lets a heartbeat wait.
        RedisFleet fleet = fleet(options -> options.slice(Duration.ZERO).lease(UNBROKEN));
        fleet.setLimit("g", 3);
        AtomicInteger granted = new AtomicInteger();
        PermitSource.Session session = fleet.open(new PermitSource.Holder() {
            @Override
            public boolean grant(String key, long fence) {
                throw new AssertionError("not used");
            }

            @Override
            public boolean grantOnce(String key, long fence) {
                if (!key.equals("g")) {
                    return true;
                }
                if (granted.get() == 2) {
                    granted.incrementAndGet();
                    throw new IllegalStateException("a failed grant has no effect");
                }
                granted.incrementAndGet();
                return true;
            }

            @Override
            public PermitSource.Reclaimed reclaim(String key, int most) {
                return PermitSource.Reclaimed.NONE;
            }

            @Override
            public int revoke(String key, int permits, String reason) {
                return 0;
            }

            @Override
            public void limit(String key, int permits) {}
        });

        session.demand("g", 4, 0);

        until(() -> granted.get() >= 4); // one of them failed, and its permit was granted again
        until(() -> fleet.stats().wanted() == 1);
        for (int call = 1; call <= 3; call++) {
            long leases = 3 + call;
            session.demand("other-" + call, 1, 0);
            until(() -> fleet.stats().leases() >= leases);
            until(() -> fleet.stats().wanted() == 1); // a grant counts as a lease before the demand is less by one
        }
        assertThat(granted.get()).isEqualTo(4);
        assertThat(fleet.stats().leases()).isEqualTo(6);
    }

    @Test
    void fencing_numbers_never_fall_within_an_instance_and_group() {
        RedisFleet fleet = unbroken();
        fleet.setLimit("g", 1);
        FakeExecutor executor = executor(fleet);
        ConcurrentLinkedQueue<Long> fences = new ConcurrentLinkedQueue<>();

        executor.submit("g", 200, fences::add);

        until(() -> executor.ended.get() == 200);
        assertThat(new ArrayList<>(fences)).isSorted().allMatch(fence -> fence > 1_700_000_000_000_000L);
    }

    @Test
    void with_slices_most_tasks_start_without_a_call() {
        RedisFleet fleet = fleet(options -> options.slice(Duration.ofSeconds(1)).lease(UNBROKEN));
        fleet.setLimit("g", 2);
        FakeExecutor executor = executor(fleet);

        executor.submit("g", 1, NOTHING);
        until(() -> executor.ended.get() == 1);
        long acquired = fleet.stats().acquired();
        executor.submit("g", 100, NOTHING);
        until(() -> executor.ended.get() == 101);

        assertThat(acquired).isEqualTo(1);
        assertThat(fleet.stats().acquired()).isLessThan(50);
    }

    @Test
    void a_busy_instance_lets_another_one_have_its_permits() {
        RedisFleet a = fleet();
        RedisFleet b = fleet();
        a.setLimit("g", 1);
        FakeExecutor busy = executor(a);
        FakeExecutor other = executor(b);
        AtomicInteger more = new AtomicInteger(1);
        LongConsumer[] task = new LongConsumer[1];
        task[0] = fence -> {
            if (more.get() == 1) {
                busy.submit("g", task[0]);
            }
        };
        busy.submit("g", 10, task[0]);
        until(() -> busy.ended.get() > 100);

        other.submit("g", 20, NOTHING);

        until(() -> other.ended.get() == 20);
        more.set(0);
        assertThat(peak.of("g")).isEqualTo(1);
    }

    @Test
    void executors_of_one_instance_share_fairly_even_with_equal_keys() {
        RedisFleet fleet = unbroken(options -> options.slice(Duration.ofSeconds(10)));
        fleet.setLimit("g", 1);
        FakeExecutor first = executor(fleet);
        FakeExecutor second = executor(fleet);
        CountDownLatch gate = new CountDownLatch(1);
        ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
        first.submit("g", fence -> await(gate));
        until(() -> peak.of("g") == 1);
        first.submit("g", 50, fence -> order.add("first"));
        second.submit("g", 50, fence -> order.add("second"));
        until(() -> fleet.stats().wanted() == 100);

        gate.countDown();

        until(() -> order.size() == 100);
        long ofSecond = order.stream().limit(50).filter("second"::equals).count();
        assertThat(ofSecond).isBetween(15L, 35L);
    }

    @Test
    void the_permits_of_a_silent_instance_come_back_when_its_lease_has_ended() throws Exception {
        redis().hset("{raddle}:meta", "inc", "1");
        Instance silent = closing(new Instance(server, "raddle", "silent.1"));
        silent.ttl = 300;
        silent.call("f l:g 2", "a g 2");
        RedisFleet fleet = fleet();
        FakeExecutor executor = executor(fleet);

        executor.submit("g", 5, NOTHING);

        until(() -> executor.ended.get() == 5);
    }

    @Test
    void a_live_holder_keeps_its_permit_for_many_leases() {
        RedisFleet a = fleet(options -> options.lease(Duration.ofSeconds(2)));
        RedisFleet b = fleet(options -> options.lease(Duration.ofSeconds(2)));
        a.setLimit("g", 1);
        FakeExecutor holder = executor(a);
        FakeExecutor waiter = executor(b);
        CountDownLatch gate = new CountDownLatch(1);
        holder.submit("g", fence -> await(gate));
        until(() -> peak.of("g") == 1);
        waiter.submit("g", NOTHING);
        long calls = a.stats().calls();

        until(() -> a.stats().calls() > calls + 13); // heartbeats of two leases

        assertThat(waiter.ended.get()).isZero();
        gate.countDown();
        until(() -> waiter.ended.get() == 1);
        assertThat(holder.revoked.get()).isZero();
    }

    @Test
    void when_the_server_is_gone_permits_are_revoked_and_an_empty_one_is_filled_again() throws Exception {
        RedisFleet a = fleet(options -> options.lease(Duration.ofSeconds(1)));
        RedisFleet b = fleet(options -> options.lease(Duration.ofSeconds(1)));
        a.setDefaultLimit(2);
        a.setLimit("g", 1);
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        CountDownLatch never = new CountDownLatch(1);
        first.submit("g", fence -> await(never));
        until(() -> peak.of("g") == 1);
        second.submit("g", 5, NOTHING);
        until(() -> b.stats().wanted() == 5);
        events.clear(); // of a slow start

        server.kill();
        event("outage: ");
        event("outage: ");
        assertThat(first.revoked.get()).isPositive();
        assertThat(first.reason).contains("the lease ended without an answer of the server");
        assertThat(second.ended.get()).isZero();
        server.restart();

        b.setLimit("g", 1);
        until(() -> second.ended.get() == 5);
        assertThat(peak.of("g")).isEqualTo(1);
    }

    @Test
    void a_server_that_lost_its_data_gets_limits_and_permits_back_from_its_instances() throws Exception {
        RedisFleet a = unbroken();
        RedisFleet b = unbroken();
        a.setLimit("g", 1);
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        CountDownLatch gate = new CountDownLatch(1);
        first.submit("g", fence -> await(gate));
        until(() -> peak.of("g") == 1);
        second.submit("g", 3, NOTHING);
        until(() -> b.stats().wanted() == 3);
        events.clear(); // of the new namespace

        server.kill();
        server.restart();

        event("quarantine");
        until(() -> a.status().keys().stream().anyMatch(key -> key.permits() == 1 && key.limit() == 1));
        assertThat(second.ended.get()).isZero();
        gate.countDown();
        until(() -> second.ended.get() == 3);
        assertThat(peak.of("g")).isEqualTo(1);
        assertThat(first.revoked.get()).isZero();
    }

    @Test
    void a_server_that_lost_its_data_gets_its_limits_back_from_an_instance_that_had_lost_its_lease() throws Exception {
        RedisFleet fleet = fleet();
        fleet.setLimit("g", 1);
        fleet.setCap(7);
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 1, NOTHING);
        until(() -> executor.ended.get() == 1);
        events.clear(); // of a slow start

        server.kill();
        event("outage: ");
        server.restart();

        event("outage ended");
        until(() -> fleet.status().keys().stream().anyMatch(key -> key.key().equals("g") && key.limit() == 1));
        assertThat(fleet.status().cap()).isEqualTo(7);
        executor.submit("g", 50, NOTHING);
        until(() -> executor.ended.get() == 51);
        assertThat(peak.of("g")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"conf", "held", "exp"})
    void one_key_that_is_gone_is_an_outage_with_its_name_until_limits_and_permits_are_back(String name)
            throws Exception {
        RedisCommands<String, String> redis = redis();
        RedisFleet a = unbroken();
        RedisFleet b = unbroken();
        a.setCap(2);
        a.setLimit("g", 1);
        a.setRate("rated", Rate.of(1, Duration.ofDays(1)));
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        CountDownLatch gate = new CountDownLatch(1);
        first.submit("g", fence -> await(gate));
        first.submit("rated", fence -> await(gate)); // the cap has no room
        until(() -> peak.of("g") == 1 && peak.of("rated") == 1);
        second.submit("g", 3, NOTHING);
        second.submit("other", NOTHING);
        until(() -> b.stats().backendUp()); // so the fleet knows it, or it would only be a new instance
        String key = "{raddle}:" + name;

        redis.del(key);

        event("outage: the key " + key + " was deleted or evicted");
        event("outage: the key " + key + " was deleted or evicted"); // of each instance
        assertThat(first.session().status("g").obstacle())
                .startsWith("nothing is granted for ")
                .endsWith(" ms, because the key " + key + " was deleted or evicted");
        until(() -> a.status().keys().stream()
                .anyMatch(each -> each.key().equals("g") && each.permits() == 1 && each.limit() == 1));
        assertThat(second.ended.get()).isZero();
        event("outage ended");
        event("outage ended");
        assertThat(a.stats().outages()).isPositive();
        assertThat(second.ended.get()).isZero();
        gate.countDown();
        until(() -> first.ended.get() == 2 && second.ended.get() == 4);
        assertThat(peak.of("g")).isEqualTo(1);
        assertThat(first.revoked.get()).isZero();
        assertThat(a.status().cap()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "allkeys-lru, 1",
        "allkeys-random, 1",
        "volatile-lru, 0", // keys of a fleet have no expiry
        "noeviction, 0"
    })
    void a_server_that_may_evict_keys_of_a_fleet_is_a_warning_with_advice(String policy, int warnings) {
        redis().configSet("maxmemory-policy", policy);
        List<String> lines = log();

        runOne(fleet());

        List<String> ofPolicy =
                lines.stream().filter(line -> line.contains("maxmemory-policy")).toList();
        assertThat(ofPolicy)
                .hasSize(warnings)
                .allSatisfy(line -> assertThat(line)
                        .contains(
                                "maxmemory-policy of the server is " + policy + ",",
                                "set maxmemory-policy to noeviction"));
    }

    @Test
    void a_server_that_does_not_say_what_it_evicts_is_no_warning() {
        redis().aclSetuser(
                        "guide",
                        AclSetuserArgs.Builder.on()
                                .nopass()
                                .allKeys()
                                .allChannels()
                                .allCommands()
                                .removeCommand(CommandType.INFO)
                                .removeCommand(CommandType.CONFIG));
        redis().configSet("maxmemory-policy", "allkeys-lru");
        List<String> lines = log();
        RedisURI uri = RedisURI.create("redis://guide:any@127.0.0.1:" + server.port());

        runOne(closing(RedisFleet.connect(
                uri, FleetOptions.builder().lease(Duration.ofMillis(300)).build())));

        assertThat(lines).noneMatch(line -> line.contains("maxmemory-policy"));
    }

    @Test
    void after_a_failover_an_instance_finds_the_new_master_by_its_sentinel() throws Exception {
        RedisServer replica = closing(RedisServer.start(kind, RedisServer.Options.replicaOf(server)));
        replica.awaitSynchronized(); // a Sentinel looks for replicas when it begins
        RedisServer sentinel = closing(RedisServer.start(kind, RedisServer.Options.sentinelOf(server)));
        RedisURI uri = RedisURI.create("redis-sentinel://127.0.0.1:" + sentinel.port() + "?sentinelMasterId=main");
        uri.setTimeout(Duration.ofSeconds(50)); // for the limit below
        RedisFleet fleet = closing(RedisFleet.connect(
                uri, FleetOptions.builder().lease(Duration.ofMillis(500)).build()));
        fleet.setLimit("g", 1);
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 5, NOTHING);
        until(() -> executor.ended.get() == 5);
        until(() -> String.valueOf(sentinel.command("INFO")).contains("slaves=1"));

        server.kill();
        fleet.setLimit("h", 1);
        executor.submit("g", 5, NOTHING);

        until(() -> executor.ended.get() == 10);
        assertThat(String.valueOf(replica.command("ROLE"))).contains("master");
        assertThat(replica.command("HGET", "{raddle}:conf", "l:h")).isEqualTo("1");
        assertThat(peak.of("g")).isEqualTo(1);
        assertThat(fleet.toString()).contains("sentinel \"main\"");
    }

    private void runOne(RedisFleet fleet) {
        FakeExecutor executor = executor(fleet);
        executor.submit("g", NOTHING);
        until(() -> executor.ended.get() == 1);
    }

    /** Returns the lines of the fleet's log from now on. */
    private List<String> log() {
        List<String> lines = new CopyOnWriteArrayList<>();
        Logger logger = Logger.getLogger("dev.raddle.redis");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord line) {
                lines.add(line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {
                logger.removeHandler(this);
            }
        };
        logger.addHandler(handler);
        open.addLast(handler::close);
        return lines;
    }

    @Test
    void flushed_scripts_and_functions_are_loaded_again() {
        RedisCommands<String, String> redis = redis();
        RedisFleet fleet = unbroken();
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 1, NOTHING);
        until(() -> executor.ended.get() == 1);

        redis.scriptFlush();
        if (kind.hasFunctions()) {
            redis.functionFlush(io.lettuce.core.FlushMode.SYNC);
        }
        executor.submit("h", 50, NOTHING);

        until(() -> executor.ended.get() == 51);
        assertThat(executor.revoked.get()).isZero();
    }

    @Test
    void grants_in_lost_messages_are_found() {
        RedisCommands<String, String> redis = redis();
        RedisFleet a = fleet(options -> options.lease(Duration.ofSeconds(1)).slice(Duration.ZERO));
        RedisFleet b = fleet(options -> options.lease(Duration.ofSeconds(1)).slice(Duration.ZERO));
        a.setLimit("g", 1);
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        first.submit("g", 100, fence -> Thread.yield());
        second.submit("g", 100, fence -> Thread.yield());

        for (int i = 0; i < 5; i++) {
            int before = second.ended.get();
            redis.clientKill(io.lettuce.core.KillArgs.Builder.typePubsub());
            until(() -> second.ended.get() > before || second.ended.get() == 100);
        }

        until(() -> first.ended.get() == 100 && second.ended.get() == 100);
        assertThat(peak.of("g")).isEqualTo(1);
    }

    @Test
    void cut_connections_lose_nothing() {
        RedisCommands<String, String> redis = redis();
        RedisFleet a = fleet(options -> options.lease(Duration.ofSeconds(1)));
        RedisFleet b = fleet(options -> options.lease(Duration.ofSeconds(1)));
        a.setLimit("g", 2);
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        first.submit("g", 500, fence -> Thread.yield());
        second.submit("g", 500, fence -> Thread.yield());

        for (int i = 0; i < 5; i++) {
            int before = first.ended.get() + second.ended.get();
            redis.clientKill(io.lettuce.core.KillArgs.Builder.typeNormal());
            until(() -> first.ended.get() + second.ended.get() > before + 10 || first.waitingIn("g") == 0);
        }

        until(() -> first.ended.get() == 500 && second.ended.get() == 500);
        assertThat(peak.of("g")).isBetween(1, 2);
    }

    @Test
    void the_lease_that_passes_in_a_new_namespace_is_an_event_and_is_explained() throws Exception {
        RedisFleet fleet = fleet(options -> options.lease(Duration.ofMinutes(1)));
        FakeExecutor executor = executor(fleet);
        executor.submit("g", NOTHING);

        event("quarantine");

        assertThat(executor.session().status("g").obstacle())
                .startsWith("nothing is granted for ")
                .endsWith(" ms, because the namespace is new, or the server has lost its data or was replaced");
    }

    @Test
    void an_outage_is_explained() throws Exception {
        server.kill();
        FakeExecutor executor = executor(fleet());
        executor.submit("g", NOTHING);

        event("outage: ");

        assertThat(executor.session().status("g").obstacle()).startsWith("no answer of the server, ");
    }

    @Test
    void another_attempt_to_connect_begins_while_one_hangs() throws Exception {
        FaultProxy proxy = closing(new FaultProxy(server.port()));
        proxy.silence(FaultProxy.Direction.TO_CLIENT);
        long begin = System.nanoTime();
        RedisFleet fleet = closing(RedisFleet.connect(
                RedisURI.create("127.0.0.1", proxy.port()),
                FleetOptions.builder().lease(Duration.ofMillis(300)).build()));
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 3, NOTHING);

        until(() -> proxy.accepted() >= 3);
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20)); // of two attempts
        proxy.forward(FaultProxy.Direction.TO_CLIENT);

        until(() -> executor.ended.get() == 3);
    }

    @Test
    void a_start_without_a_server_waits_in_mode_closed() throws Exception {
        server.kill();
        RedisFleet fleet = fleet();
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 3, NOTHING);
        event("outage: ");
        assertThat(executor.ended.get()).isZero();

        server.restart();

        event("outage ended");
        until(() -> executor.ended.get() == 3);
        until(() -> fleet.stats().backendUp());
    }

    @Test
    void in_mode_local_an_instance_has_permits_of_its_own_during_an_outage() throws Exception {
        server.kill();
        RedisFleet fleet = fleet(options -> options.outageMode(OutageMode.local(2)));
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 50, fence -> Thread.yield());

        until(() -> executor.ended.get() == 50);
        assertThat(peak.of("g")).isBetween(1, 2);
        server.restart();
        event("outage ended");
        executor.submit("g", 5, NOTHING);
        until(() -> executor.ended.get() == 55);
        until(() -> fleet.stats().leases() == 0);
    }

    @Test
    void in_mode_open_nothing_is_limited_during_an_outage() throws Exception {
        server.kill();
        RedisFleet fleet = fleet(options -> options.outageMode(OutageMode.open()));
        FakeExecutor executor = executor(fleet);
        CountDownLatch gate = new CountDownLatch(1);

        executor.submit("g", 20, fence -> await(gate));

        until(() -> peak.of("g") == 20);
        gate.countDown();
    }

    @Test
    void a_rate_holds_over_instances() {
        // a lost lease would lose what was paid for
        RedisFleet a = fleet(options -> options.lease(Duration.ofSeconds(3)));
        RedisFleet b = fleet(options -> options.lease(Duration.ofSeconds(3)));
        a.setRate("g", Rate.of(1, Duration.ofHours(1)).burst(5));
        FakeExecutor first = executor(a);
        FakeExecutor second = executor(b);
        first.submit("g", 10, NOTHING);
        second.submit("g", 10, NOTHING);

        until(() -> first.ended.get() + second.ended.get() == 5);
        long calls = a.stats().calls();
        until(() -> a.stats().calls() > calls + 5);
        assertThat(first.ended.get() + second.ended.get()).isEqualTo(5);
        assertThatThrownBy(() -> a.setRate("g", Rate.perMinute(300).strict()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "a fleet has no strict rates, was 300 per minute, strict; set a rate of half the count, which"
                                + " never starts more in a period, or limit each instance by perGroupRate");
        a.setRate("g", null);
        until(() -> first.ended.get() + second.ended.get() == 20);
    }

    @Test
    void a_key_without_an_entry_has_what_the_resolvers_say_or_the_defaults() {
        Rate slow = Rate.of(1, Duration.ofHours(1)).burst(2);
        // a lost lease would lose what was paid for
        RedisFleet fleet = fleet(options -> options.lease(UNBROKEN)
                .limitResolver(key -> key.startsWith("small") ? 1 : 0)
                .rateResolver(key -> key.equals("slow") ? slow : null));
        fleet.setDefaultLimit(3);
        fleet.setDefaultRate(Rate.of(1, Duration.ofHours(1)).burst(5));
        fleet.setLimit("small-but-set", 2);
        FakeExecutor executor = executor(fleet);
        for (String key : List.of("small", "small-but-set", "slow", "other")) {
            executor.submit(key, 9, NOTHING);
        }

        until(() -> executor.ended.get() == 5 + 5 + 2 + 5);
        assertThat(fleet.status().keys())
                .extracting(
                        FleetStatus.Key::key,
                        FleetStatus.Key::limit,
                        key -> key.rate().burst())
                .contains(
                        tuple("small", 1, 5), tuple("small-but-set", 2, 5), tuple("slow", 3, 2), tuple("other", 3, 5));
        assertThat(executor.limitOf("small")).isEqualTo(1);
    }

    @Test
    void a_throttled_group_continues_when_its_rate_allows() {
        RedisFleet fleet = fleet();
        fleet.setRate("g", Rate.perSecond(200).burst(1));
        FakeExecutor executor = executor(fleet);

        executor.submit("g", 30, NOTHING);

        until(() -> executor.ended.get() == 30);
    }

    @Test
    void a_permit_that_no_task_used_is_refunded_to_the_rate() {
        RedisFleet fleet = unbroken();
        fleet.setLimit("g", 1);
        fleet.setRate("g", Rate.of(1, Duration.ofHours(1)).burst(2));
        FakeExecutor executor = executor(fleet);
        FakeExecutor other = executor(fleet);
        CountDownLatch gate = new CountDownLatch(1);
        executor.submit("g", fence -> await(gate));
        until(() -> peak.of("g") == 1);
        other.submit("g", NOTHING);
        until(() -> fleet.status().keys().stream().anyMatch(key -> key.waiting() == 1));
        other.withdraw("g");
        gate.countDown();
        until(() -> fleet.stats().leases() == 0);

        other.submit("g", NOTHING);

        until(() -> other.ended.get() == 1);
    }

    @Test
    void garbage_in_redis_is_an_outage_with_a_clear_message() throws Exception {
        RedisCommands<String, String> redis = redis();
        RedisFleet fleet = fleet();
        fleet.setLimit("g", 1);
        FakeExecutor executor = executor(fleet);
        executor.submit("g", NOTHING);
        until(() -> executor.ended.get() == 1);
        redis.hset("{raddle}:conf", "l:h", "many");

        executor.submit("h", NOTHING);

        String outage = "";
        while (!outage.startsWith("outage: ") || !outage.contains("limit of h")) { // a busy machine may cause others
            outage = events.take();
        }
        assertThat(outage).contains("limit of h is not a number: many");
        redis.hset("{raddle}:conf", "l:h", "1");
        event("outage ended");
        until(() -> executor.ended.get() == 2);
    }

    @Test
    void a_key_of_another_type_is_an_outage_until_it_is_removed() throws Exception {
        RedisCommands<String, String> redis = redis();
        redis.set("{raddle}:held", "mine");
        RedisFleet fleet = fleet();
        FakeExecutor executor = executor(fleet);
        executor.submit("g", NOTHING);

        assertThat(events.poll(30, TimeUnit.SECONDS)).startsWith("outage: ");
        Throwable refusal;
        do { // the reason may also be a late answer, on a busy machine
            refusal = catchThrowable(() -> fleet.setLimit("g", 1));
            assertThat(refusal).isInstanceOf(FleetException.class).hasMessageContaining("could not change a limit");
        } while (!refusal.getMessage().contains("{raddle}:held is a string, not a hash"));
        redis.del("{raddle}:held");

        until(() -> executor.ended.get() == 1);
    }

    @Test
    void a_changed_limit_reaches_every_executor() {
        RedisFleet a = unbroken();
        RedisFleet b = unbroken();
        a.setLimit("g", 1);
        FakeExecutor executor = executor(b);
        CountDownLatch gate = new CountDownLatch(1);
        executor.submit("g", 5, fence -> await(gate));
        until(() -> executor.limitOf("g") == 1 && peak.of("g") == 1);

        a.setLimit("g", 3);

        until(() -> executor.limitOf("g") == 3 && peak.of("g") == 3);
        gate.countDown();
        until(() -> executor.ended.get() == 5);
    }

    @Test
    void a_closed_executor_and_a_closed_fleet_return_everything() {
        RedisCommands<String, String> redis = redis();
        RedisFleet fleet = unbroken(options -> options.slice(Duration.ofSeconds(10)));
        FakeExecutor executor = executor(fleet);
        executor.submit("g", 5, NOTHING);
        until(() -> executor.ended.get() == 5 && fleet.stats().leases() > 0);

        executor.close();
        fleet.close();

        assertThat(redis.keys("*")).containsExactlyInAnyOrder("{raddle}:meta", "{raddle}:conf");
        assertThat(redis.hkeys("{raddle}:meta")).noneMatch(field -> field.contains(":"));
        assertThatThrownBy(() -> fleet.setCap(1)).hasMessageContaining("is closed");
    }

    @Test
    void nothing_remains_of_groups_that_are_not_used() {
        RedisCommands<String, String> redis = redis();
        RedisFleet fleet = fleet();
        FakeExecutor executor = executor(fleet);
        for (int i = 0; i < 500; i++) {
            executor.submit("group " + i, NOTHING);
        }

        until(() -> executor.ended.get() == 500 && fleet.stats().groups() == 0);

        until(() -> redis.exists("{raddle}:used", "{raddle}:held", "{raddle}:own", "{raddle}:wait") == 0);
    }

    @Test
    void the_status_names_instances_holders_and_limits() {
        RedisFleet a = unbroken(options -> options.instanceName("pod-7"));
        RedisFleet b = unbroken(options -> options.instanceName("pod-8"));
        a.setCap(50);
        a.setLimit("a|b", 1);
        a.setRate("a|b", Rate.perSecond(1000));
        FakeExecutor holder = executor(a);
        FakeExecutor waiter = executor(b);
        CountDownLatch gate = new CountDownLatch(1);
        holder.submit("a|b", fence -> await(gate));
        until(() -> peak.of("a|b") == 1);
        waiter.submit("a|b", NOTHING);
        until(() -> a.status().keys().get(0).waiting() == 1);

        FleetStatus status = b.status();

        assertThat(status.cap()).isEqualTo(50);
        assertThat(status.permits()).isEqualTo(1);
        assertThat(status.instances()).extracting(FleetStatus.Instance::name).containsExactly("pod-7", "pod-8");
        FleetStatus.Key key = status.keys().get(0);
        assertThat(key.key()).isEqualTo("a|b");
        assertThat(key.limit()).isEqualTo(1);
        assertThat(key.rate()).isEqualTo(Rate.perSecond(1000));
        assertThat(key.holders()).singleElement().satisfies(of -> {
            assertThat(of.instance()).isEqualTo("pod-7");
            assertThat(of.permits()).isEqualTo(1);
        });
        until(() -> waiter.session().status("a|b").holders().stream()
                        .anyMatch(of -> of.instance().equals("pod-7") && of.permits() == 1)
                && waiter.session().status("a|b").position() == 1
                && waiter.session().status("a|b").limit() == 1);
        gate.countDown();
        until(() -> waiter.ended.get() == 1);
    }

    @Test
    void a_client_of_the_caller_stays_open() {
        RedisClient client = RedisClient.create(uri());
        open.addLast(client::shutdown);
        RedisFleet fleet = RedisFleet.connect(client, FleetOptions.defaults());
        fleet.setLimit("g", 1);

        fleet.close();

        assertThat(client.connect().sync().ping()).isEqualTo("PONG");
    }

    @Test
    void a_password_is_never_shown() {
        RedisURI secret = RedisURI.create("redis://user:hunter2@127.0.0.1:" + server.port());
        RedisFleet fleet = closing(RedisFleet.connect(secret, FleetOptions.defaults()));

        assertThat(fleet.toString()).isEqualTo("fleet \"raddle\" on 127.0.0.1:" + server.port() + ", no answer");
        assertThatThrownBy(() -> fleet.setCap(1)).hasMessageNotContaining("hunter2");
    }

    @Test
    void a_password_is_not_shown_by_a_server_that_repeats_the_arguments_of_commands() throws Exception {
        try (ServerSocket echo = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> refuseAll(echo));
            int port = echo.getLocalPort();
            RedisURI secret = RedisURI.create("redis://user:hunter2@127.0.0.1:" + port);
            RedisFleet fleet = closing(RedisFleet.connect(
                    secret,
                    FleetOptions.builder()
                            .lease(Duration.ofHours(1)) // a slow connection is no outage before that
                            .listener(new FleetListener() {
                                @Override
                                public void outageBegan(String reason) {
                                    events.add(reason);
                                }
                            })
                            .build()));

            assertThat(events.take()).contains("unknown command").doesNotContain("hunter2");
            assertThat(fleet.toString()).doesNotContain("hunter2");
        }
    }

    /** Answers each command as a server does whose commands were renamed. */
    private static void refuseAll(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket client = server.accept()) {
                byte[] chunk = new byte[10_000];
                for (int n; (n = client.getInputStream().read(chunk)) > 0; ) {
                    String commands = new String(chunk, 0, n, StandardCharsets.UTF_8);
                    String error = "-ERR unknown command 'AUTH', with args beginning with: 'user' 'hunter2' \r\n";
                    long count = commands.chars().filter(c -> c == '*').count();
                    client.getOutputStream().write(error.repeat((int) count).getBytes(StandardCharsets.UTF_8));
                }
            } catch (IOException e) {
                // the next connection, unless the test has ended
            }
        }
    }
}
