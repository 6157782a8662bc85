package dev.raddle.examples;

import static dev.raddle.flow.Dependency.optional;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.console.FleetConsole;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import dev.raddle.scope.FailurePolicy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Rate;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A shop to look at in the console: four groups of calls, a flow that repeats, a pool, and what goes wrong in them.
 * With a Redis or Valkey server, also a fleet: the shop and a branch of it share the limit of the payments.
 */
public final class ConsoleExample {

    private static final Map<String, Integer> LIMITS = Map.of("search", 8, "payments", 3, "mail", 4, "reports", 2);
    private static final ScopeOptions GO_ON = ScopeOptions.defaults().withFailurePolicy(FailurePolicy.SUPERVISOR);

    /** A thumbnail that the pool makes; some take very long. */
    private record Thumbnail(int number) implements Runnable, NamedTask {
        @Override
        public String name() {
            return "thumbnail-" + number;
        }

        @Override
        public void run() {
            try {
                Thread.sleep(number % 40 == 0 ? 15_000 : 100);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final Console console;
    private final AtomicInteger number = new AtomicInteger();

    private ConsoleExample(Console console) {
        this.console = console;
    }

    /**
     * Runs until the process ends, and prints the address of the console.
     *
     * @param args the port, 9090 if missing
     * @throws InterruptedException if the thread is interrupted
     * @throws IOException if a Redis server that was found does not start
     */
    public static void main(String[] args) throws InterruptedException, IOException {
        int port = args.length > 0 ? Integer.parseInt(args[0]) : 9090;
        Optional<ExampleRedis> redis = ExampleRedis.find(System.getenv());
        try (ExampleRedis server = redis.orElse(null);
                Console console = Console.start(ConsoleOptions.defaults().withPort(port))) {
            System.out.println("The console is at " + console.uri() + " (end with Ctrl-C)");
            if (server == null) {
                System.out.println("It shows no fleet: install redis-server or valkey-server,"
                        + " or set RADDLE_REDIS to the address of one, such as redis://localhost");
            }
            run(console, redis, new CountDownLatch(1));
        }
    }

    /**
     * Runs the shop.
     *
     * @param console the console that watches it
     * @param redis the server of the fleet; empty for a shop without one
     * @param end the latch that ends it
     * @throws InterruptedException if the thread is interrupted, which also ends it
     */
    public static void run(Console console, Optional<ExampleRedis> redis, CountDownLatch end)
            throws InterruptedException {
        ConsoleExample example = new ConsoleExample(console);
        if (redis.isEmpty()) {
            example.run(GroupPolicy.builder(), end);
            return;
        }
        try (RedisFleet shop = connect(redis.get(), "shop");
                RedisFleet branch = connect(redis.get(), "branch")) {
            shop.setLimit("payments", 4);
            Console.Watch watch = FleetConsole.watch(console, "shop", shop);
            GroupExecutor elsewhere = branchExecutor(branch);
            try (ThreadScope load = ThreadScope.open("branch", GO_ON)) {
                every(load, 160, () -> example.submit(elsewhere, "payments", 200, 700, 30));
                example.run(GroupPolicy.builder().permits(shop), end);
            } finally {
                elsewhere.shutdown();
                watch.close();
            }
        }
    }

    private static RedisFleet connect(ExampleRedis redis, String name) {
        return RedisFleet.connect(
                redis.uri(),
                FleetOptions.builder()
                        .namespace("raddle-console-example")
                        .instanceName(name)
                        .build());
    }

    /** Returns an executor that stands for another process. */
    private static GroupExecutor branchExecutor(RedisFleet fleet) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .perGroupMaxConcurrency(LIMITS)
                .defaultQueueThresholdPerGroup(100)
                .permits(fleet)
                .build());
    }

    private void run(GroupPolicy.Builder builder, CountDownLatch end) throws InterruptedException {
        GroupPolicy policy = builder.perGroupMaxConcurrency(LIMITS)
                .perGroupRate(Map.of("mail", Rate.perSecond(5)))
                .defaultQueueThresholdPerGroup(100)
                .globalMaxInFlight(16)
                .addListener(console.listener("shop"))
                .build();
        ThreadPool pool = ThreadPool.builder("thumbnails")
                .threads(3)
                .queueCapacity(50)
                .listener(console.poolListener("thumbnails"))
                .stuckAfter(Duration.ofSeconds(3))
                .build();
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        try (ThreadScope load = ThreadScope.open("load", GO_ON)) {
            console.watch("shop", executor);
            console.watch(pool);
            console.watch("load", load);
            every(load, 15, () -> submit(executor, "search", 20, 80, 50));
            every(load, 120, () -> submit(executor, "payments", 200, 700, 30));
            every(load, 190, () -> submit(executor, "mail", 30, 60, 1_000));
            every(load, 3_000, () -> submit(executor, "reports", 4_000, 9_000, 1_000));
            every(load, 60, () -> submit(pool));
            FlowPlan<Integer, String> order = orders();
            RunOptions options = RunOptions.timeout(Duration.ofSeconds(20)).withGroups(executor::scheduler);
            load.scheduleWithFixedDelay(Duration.ZERO, Duration.ofSeconds(1), () -> order(order, options));
            end.await();
        } finally {
            executor.shutdown();
            pool.shutdownNow();
        }
    }

    private static void every(ThreadScope load, int millis, Runnable job) {
        load.scheduleAtFixedRate(Duration.ZERO, Duration.ofMillis(millis), job);
    }

    /** Submits a call that takes some time, and of which one in so many fails. */
    private void submit(GroupExecutor executor, String group, int least, int most, int failing) {
        int id = number.incrementAndGet();
        executor.submit(group, group + "-" + id, () -> {
            Thread.sleep(ThreadLocalRandom.current().nextInt(least, most)); // stands for a call
            if (id % failing == 0) {
                throw new IOException("no answer from 10.0.0." + id % 7 + " for " + group + " " + id);
            }
            return id;
        });
    }

    private void submit(ThreadPool pool) {
        try {
            pool.execute(new Thumbnail(number.incrementAndGet()));
        } catch (RejectedExecutionException full) {
            // the console counts it
        }
    }

    private static FlowPlan<Integer, String> orders() {
        FlowBuilder<Integer> f = FlowPlan.define("order", Integer.class);
        Node<Integer> stock = f.node("reserve stock", c -> slow(c.param(), 300));
        Node<Integer> fraud = f.node("check fraud", c -> slow(c.param(), 700));
        Node<Integer> payment =
                f.node("take payment", stock, fraud, (s, r) -> slow(s, 500)).group("payments");
        Node<Integer> invoice = f.node("write invoice", payment, p -> slow(p, 400));
        Node<Integer> label = f.node("print label", stock, s -> {
            slow(s, 900);
            if (s % 4 == 0) {
                throw new IOException("the printer has no paper");
            }
            return s;
        });
        return f.returning(f.node("ship", invoice, optional(label), (i, l) -> "order " + slow(i, 200)));
    }

    private static int slow(int value, int millis) throws InterruptedException {
        Thread.sleep(millis); // stands for a call
        return value;
    }

    private void order(FlowPlan<Integer, String> plan, RunOptions options) {
        try (FlowRun<String> run = console.startFlow(plan, number.incrementAndGet(), options)) {
            run.join();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
