package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.LostPermitPolicy;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.TaskHandle;
import dev.raddle.processes.Await;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskSpec;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Fleets with real executors: what the limits of both sides do together. Each test has a server of its own. */
@Timeout(50)
class FleetSeamsTest {

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private RedisServer server;

    @BeforeEach
    void start() {
        server = RedisServer.start(ServerKind.newest(), RedisServer.Options.PLAIN);
    }

    @AfterEach
    void stop() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        server.close();
    }

    private RedisFleet fleet() {
        return fleet(Duration.ofSeconds(2), Duration.ZERO);
    }

    private RedisFleet fleet(Duration lease, Duration slice) {
        FleetOptions options = FleetOptions.builder().lease(lease).slice(slice).build();
        RedisFleet fleet = RedisFleet.connect(RedisURI.create("127.0.0.1", server.port()), options);
        open.push(fleet);
        return fleet;
    }

    private GroupExecutor executor(RedisFleet fleet, UnaryOperator<GroupPolicy.Builder> more) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(more.apply(
                        GroupPolicy.builder().defaultMaxConcurrencyPerGroup(100).permits(fleet))
                .build());
        open.push(() -> executor.shutdown(Duration.ZERO));
        return executor;
    }

    @Test
    void tasks_of_several_permits_in_several_groups_under_a_cap_all_run() throws Exception {
        RedisFleet fleet = fleet();
        fleet.setCap(3);
        GroupExecutor executor = executor(fleet, policy -> policy);
        CountDownLatch gate = new CountDownLatch(1);
        List<TaskHandle<?>> handles = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            handles.add(executor.submit(
                    "g" + i % 2,
                    TaskSpec.named("t" + i, () -> {
                                gate.await();
                                return 1;
                            })
                            .cost(3)));
        }
        gate.countDown();

        for (TaskHandle<?> handle : handles) {
            handle.await();
        }
    }

    @Test
    void a_task_that_costs_more_than_the_cap_of_the_fleet_takes_all_of_it() throws Exception {
        RedisFleet fleet = fleet();
        fleet.setCap(3);
        GroupExecutor executor = executor(fleet, policy -> policy);

        TaskHandle<Integer> handle =
                executor.submit("g", TaskSpec.named("wide", () -> 1).cost(7));

        assertThat(handle.await().orElseThrow()).isEqualTo(1);
    }

    @Test
    void two_instances_with_tasks_that_take_the_whole_limit_do_not_wait_for_each_other() throws Exception {
        RedisFleet a = fleet();
        RedisFleet b = fleet();
        a.setLimit("g", 3);
        GroupExecutor first = executor(a, policy -> policy);
        GroupExecutor second = executor(b, policy -> policy);
        CountDownLatch firstGate = new CountDownLatch(1);
        CountDownLatch secondGate = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(2);
        first.submit("g", "narrow", () -> pass(running, firstGate));
        second.submit("g", "narrow", () -> pass(running, secondGate));
        running.await();
        TaskHandle<Integer> ofFirst =
                first.submit("g", TaskSpec.named("wide", () -> 1).cost(3));
        until(() -> a.stats().wanted() == 2);
        TaskHandle<Integer> ofSecond =
                second.submit("g", TaskSpec.named("wide", () -> 2).cost(3));
        until(() -> b.stats().wanted() == 2);

        firstGate.countDown();
        until(() -> a.stats().leases() == 0);
        secondGate.countDown();

        assertThat(ofFirst.await().orElseThrow()).isEqualTo(1);
        assertThat(ofSecond.await().orElseThrow()).isEqualTo(2);
    }

    @Test
    void whatever_executors_do_at_once_limits_hold_and_every_permit_returns() throws Exception {
        server.command("HSET", "{raddle}:meta", "inc", "1"); // no quarantine
        RedisFleet a = fleet(Duration.ofSeconds(20), Duration.ofMillis(20)); // a lost lease would let tasks run on
        RedisFleet b = fleet(Duration.ofSeconds(20), Duration.ZERO);
        a.setDefaultLimit(3);
        a.setCap(5);
        a.setLimit("k0", 2);
        a.setRate("k3", Rate.perSecond(500).burst(5));
        List<GroupExecutor> executors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            executors.add(executor(i % 2 == 0 ? a : b, policy -> policy.lostPermits(LostPermitPolicy.CONTINUE)));
        }
        ConcurrentHashMap<String, AtomicInteger> running = new ConcurrentHashMap<>();
        AtomicInteger violations = new AtomicInteger();
        Random random = new Random(7);
        for (int i = 0; i < 3000; i++) {
            GroupExecutor executor = executors.get(random.nextInt(4));
            String key = "k" + random.nextInt(5);
            int limit = key.equals("k0") ? 2 : 3;
            TaskSpec<Integer> spec = TaskSpec.named("t" + i, () -> occupy(running, key, limit, violations))
                    .priority(random.nextInt(3));
            if (random.nextInt(4) == 0) {
                spec = spec.queueTimeout(Duration.ofMillis(1 + random.nextInt(30)));
            }
            TaskHandle<Integer> handle;
            try {
                handle = executor.submit(key, spec);
            } catch (RejectedTaskException evicted) {
                continue;
            }
            switch (random.nextInt(30)) {
                case 0, 1, 2 -> handle.cancel(true);
                case 3 -> executor.evictGroup(key);
                case 4 -> executor.setMaxConcurrency(key, 1 + random.nextInt(4));
                case 5 -> executor.holdGroup(key, Duration.ofMillis(random.nextInt(20)));
                case 6 -> a.setLimit("k1", 3);
                default -> {}
            }
        }
        for (GroupExecutor executor : executors) {
            executor.close();
        }

        assertThat(violations.get()).isZero();
        assertThat(running.values()).allMatch(count -> count.get() == 0);
        until(() -> a.stats().leases() == 0 && b.stats().leases() == 0);
        until(() -> a.status().permits() == 0 && a.status().keys().stream().allMatch(each -> each.waiting() == 0));
        until(() -> a.stats().groups() + b.stats().groups() == 0); // after the answers to their last calls
    }

    private static int occupy(
            ConcurrentHashMap<String, AtomicInteger> running, String key, int limit, AtomicInteger bad)
            throws InterruptedException {
        for (String each : List.of(key, "*")) {
            int now = running.computeIfAbsent(each, any -> new AtomicInteger()).incrementAndGet();
            if (now > (each.equals("*") ? 5 : limit)) {
                bad.incrementAndGet();
            }
        }
        try {
            Thread.yield();
            return 1;
        } finally {
            running.get(key).decrementAndGet();
            running.get("*").decrementAndGet();
        }
    }

    private static int pass(CountDownLatch running, CountDownLatch gate) throws InterruptedException {
        running.countDown();
        gate.await();
        return 0;
    }

    private static void until(BooleanSupplier condition) {
        Await.until("the state is reached", condition);
    }
}
