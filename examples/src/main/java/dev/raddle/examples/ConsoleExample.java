package dev.raddle.examples;

import static dev.raddle.flow.Dependency.optional;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.FailurePolicy;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Rate;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** A shop to look at in the console: four groups of calls, a flow that repeats, a pool, and what goes wrong in them. */
public final class ConsoleExample {

    private static final Map<String, Integer> LIMITS = Map.of("search", 8, "payments", 3, "mail", 4, "reports", 2);

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
     */
    public static void main(String[] args) throws InterruptedException {
        int port = args.length > 0 ? Integer.parseInt(args[0]) : 9090;
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(port))) {
            System.out.println("The console is at " + console.uri() + " (end with Ctrl-C)");
            run(console, new CountDownLatch(1));
        }
    }

    /**
     * Runs the shop.
     *
     * @param console the console that watches it
     * @param end the latch that ends it
     * @throws InterruptedException if the thread is interrupted, which also ends it
     */
    public static void run(Console console, CountDownLatch end) throws InterruptedException {
        new ConsoleExample(console).run(end);
    }

    private void run(CountDownLatch end) throws InterruptedException {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(LIMITS)
                .perGroupRate(Map.of("mail", Rate.perSecond(5)))
                .defaultQueueThresholdPerGroup(100)
                .globalMaxInFlight(16)
                .addListener(console.listener("shop"))
                .build();
        ScopeOptions goOn = ScopeOptions.defaults().withFailurePolicy(FailurePolicy.SUPERVISOR);
        ThreadPool pool = ThreadPool.builder("thumbnails")
                .threads(3)
                .queueCapacity(50)
                .listener(console.poolListener("thumbnails"))
                .stuckAfter(Duration.ofSeconds(3))
                .build();
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        try (ThreadScope load = ThreadScope.open("load", goOn)) {
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
