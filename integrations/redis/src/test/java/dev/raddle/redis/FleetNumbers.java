package dev.raddle.redis;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskOptions;
import dev.raddle.processes.Await;
import dev.raddle.redis.FaultProxy.Direction;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a lost instance and tasks of several permits cost a fleet, for {@code ./dev soak fleet numbers}. All instances
 * are in this process; tasks sleep, so the processors matter little.
 */
final class FleetNumbers {

    private static final int LIMIT = 12;
    private static final Duration TASK = Duration.ofMillis(20);
    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final Duration WARM_UP = Duration.ofSeconds(3);

    private final RedisServer server;
    private int namespaces;

    private FleetNumbers(RedisServer server) {
        this.server = server;
    }

    static void print(ServerKind kind) {
        System.out.println(kind + ", limit " + LIMIT + ", tasks of " + TASK.toMillis() + " ms, lease "
                + LEASE.toMillis() + " ms, no slices");
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.PLAIN)) {
            FleetNumbers numbers = new FleetNumbers(server);
            numbers.printCosts();
            numbers.printSilence();
            numbers.printRecovery();
        }
    }

    /** An instance that keeps a number of tasks waiting or running. */
    private static final class Load implements AutoCloseable {
        private final RedisFleet fleet;
        private final GroupExecutor executor;
        private final LongAdder ended = new LongAdder();

        Load(int port, String namespace, String name) {
            fleet = RedisFleet.connect(
                    RedisURI.create("redis://127.0.0.1:" + port),
                    FleetOptions.builder()
                            .namespace(namespace)
                            .instanceName(name)
                            .lease(LEASE)
                            .slice(Duration.ZERO)
                            .build());
            fleet.setLimit("g", LIMIT);
            executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                    .defaultMaxConcurrencyPerGroup(LIMIT)
                    .permits(fleet)
                    .build());
        }

        void start(int tasks, int maxCost) {
            for (int i = 0; i < tasks; i++) {
                Random random = new Random(i);
                Thread.ofVirtual().start(() -> repeat(random, maxCost));
            }
        }

        private void repeat(Random random, int maxCost) {
            try {
                while (!executor.isShutdown()) {
                    TaskOptions cost = TaskOptions.defaults().cost(1 + random.nextInt(maxCost));
                    GroupResult<Boolean> result =
                            executor.submit("g", "task", Load::sleep, cost).await();
                    if (result.isSuccess()) {
                        ended.increment();
                    }
                }
            } catch (InterruptedException | RejectedExecutionException closed) {
                Thread.currentThread().interrupt();
            }
        }

        private static boolean sleep() throws InterruptedException {
            Thread.sleep(TASK);
            return true;
        }

        @Override
        public void close() {
            executor.shutdown();
            fleet.close();
        }
    }

    private List<Load> start(int instances, int tasks, int maxCost) {
        String namespace = "numbers-" + namespaces++;
        List<Load> loads = new ArrayList<>();
        for (int i = 0; i < instances; i++) {
            loads.add(new Load(server.port(), namespace, "instance-" + i));
            loads.getLast().start(tasks / instances, maxCost);
        }
        Await.pass(LEASE.plus(WARM_UP)); // a new namespace grants nothing for a lease
        return loads;
    }

    /** Returns how many tasks end in a second, for each instance. */
    private static List<Double> rates(List<Load> loads, Duration length) {
        List<Long> before = loads.stream().map(load -> load.ended.sum()).toList();
        Await.pass(length);
        List<Double> rates = new ArrayList<>();
        for (int i = 0; i < loads.size(); i++) {
            rates.add((loads.get(i).ended.sum() - before.get(i)) * 1e3 / length.toMillis());
        }
        return rates;
    }

    private void printCosts() {
        for (int instances = 1; instances <= 2; instances++) {
            List<Load> loads = start(instances, 60, 3);
            System.out.println("tasks of 1 to 3 permits, instances " + instances + ": tasks a second "
                    + text(rates(loads, Duration.ofSeconds(8))));
            loads.forEach(Load::close);
        }
    }

    private void printSilence() {
        try (FaultProxy proxy = new FaultProxy(server.port())) {
            List<Load> loads = start(3, 90, 1);
            Load silent = new Load(proxy.port(), "numbers-" + (namespaces - 1), "silent");
            silent.start(30, 1);
            Await.pass(WARM_UP);
            System.out.println(
                    "three instances beside a fourth: tasks a second " + text(rates(loads, Duration.ofSeconds(3))));
            proxy.silence(Direction.TO_SERVER);
            proxy.silence(Direction.TO_CLIENT);
            for (long passed = 0; passed < LEASE.toMillis(); passed += 500) {
                double all = rates(loads, Duration.ofMillis(500)).stream()
                        .mapToDouble(Double::doubleValue)
                        .sum();
                System.out.println("  fourth silent for " + passed + " ms: the three " + text(List.of(all)));
            }
            loads.forEach(Load::close);
            proxy.heal();
            silent.close();
        }
    }

    private void printRecovery() {
        for (int outage = 2_000; outage <= 3_600; outage += 400) {
            try (FaultProxy proxy = new FaultProxy(server.port());
                    Load load = new Load(proxy.port(), "numbers-" + namespaces++, "alone")) {
                load.start(8, 1);
                Await.pass(LEASE.plus(WARM_UP));
                proxy.refuse();
                Await.pass(Duration.ofMillis(outage));
                long before = load.ended.sum();
                long back = System.nanoTime();
                proxy.accept();
                Await.until("a task ends", () -> load.ended.sum() > before);
                System.out.println("network away for " + outage + " ms: a task ended "
                        + (System.nanoTime() - back) / 1_000_000 + " ms after its return");
            }
        }
    }

    private static String text(List<Double> rates) {
        return String.join(
                ", ",
                rates.stream()
                        .map(rate -> String.format(Locale.ROOT, "%.0f", rate))
                        .toList());
    }
}
