package dev.raddle.console;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.group.TaskStats;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Programs in which something is wrong, by the cause. {@code ./dev console hang} starts one, and {@code ./dev console
 * any} one whose name it does not tell: find the cause on the page.
 */
public enum Incident {
    /** I1: a callee does not answer, and its callers hold all slots of their group. */
    HANG {
        @Override
        void stage(Stage stage) throws InterruptedException {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(4));
            CountDownLatch begun = new CountDownLatch(4);
            stage.submit(orders, "payments", "charge", 37, () -> new PaymentClient(stage, begun).charge());
            begun.await();
        }
    },

    /** I2: a limit was set to 1. */
    LIMIT {
        @Override
        void stage(Stage stage) throws InterruptedException {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(8));
            stage.submit(orders, "mails", "mail", 1, () -> stage.call(200));
            orders.setMaxConcurrency("mails", 1);
            stage.submit(orders, "mails", "mail", 50, () -> stage.call(1_000));
            stage.every(Duration.ofSeconds(1), () -> orders.submit("mails", "mail", () -> stage.call(1_000)));
        }
    },

    /** I3: a rate lets a group start too little. */
    RATE {
        @Override
        void stage(Stage stage) {
            GroupExecutor orders = stage.executor(
                    "orders",
                    GroupPolicy.builder()
                            .scheduler(key -> Runnable::run) // no task is between two moments when the time is advanced
                            .rateResolver(key -> key.equals("search") ? Rate.of(1, Duration.ofSeconds(20)) : null));
            stage.submit(orders, "search", "query", 120, () -> "found");
        }
    },

    /** A callee fails, and its breaker is open. */
    BREAKER {
        @Override
        void stage(Stage stage) throws InterruptedException {
            GroupExecutor orders = stage.executor(
                    "orders",
                    GroupPolicy.builder()
                            .breaker(key -> CircuitBreaker.failureRate(0.5)
                                    .over(10)
                                    .atLeast(4)
                                    .openFor(Duration.ofMinutes(10))));
            for (int i = 0; i < 4; i++) {
                TaskHandle<String> charge = orders.submit("payments", "charge-" + i, () -> {
                    throw new IllegalStateException("unavailable");
                });
                charge.await();
            }
        }
    },

    /** I4: each request makes a key of its own, and these fill the cap. */
    CAP {
        @Override
        void stage(Stage stage) throws InterruptedException {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().globalMaxInFlight(16));
            CountDownLatch begun = new CountDownLatch(16);
            for (int i = 1; i <= 40; i++) {
                stage.submit(orders, "req-" + (4_000 + i), "import", 1, () -> {
                    begun.countDown();
                    return stage.work();
                });
            }
            stage.submit(orders, "acme", "report", 2, stage::work);
            begun.await();
        }
    },

    /** I5: one group has a weight by which it takes nearly all of the cap. */
    WEIGHTS {
        @Override
        void stage(Stage stage) {
            GroupExecutor orders = stage.executor(
                    "orders",
                    GroupPolicy.builder()
                            .defaultMaxConcurrencyPerGroup(50)
                            .globalMaxInFlight(10)
                            .weightResolver(key -> key.equals("bulk") ? 100 : 1));
            stage.submit(orders, "acme", "report", 1, stage::work);
            stage.submit(orders, "bulk", "row", 40, stage::work);
            stage.submit(orders, "acme", "report", 3, stage::work);
            stage.submit(orders, "zeta", "report", 3, stage::work);
        }
    },

    /** I6: a task of low priority waits behind a stream of others. */
    PRIORITY {
        @Override
        void stage(Stage stage) {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1));
            stage.submit(orders, "exports", "running", 1, stage::work);
            stage.awaitTask(orders, "exports", task -> task.thread() != null);
            orders.submit("exports", TaskSpec.named("nightly", stage::work).priority(-5));
            stage.later(Duration.ofSeconds(30));
            for (int i = 1; i <= 12; i++) {
                orders.submit(
                        "exports", TaskSpec.named("click-" + i, stage::work).priority(5));
            }
        }
    },

    /** I7: a task that needs four slots waits beside three free ones. */
    COST {
        @Override
        void stage(Stage stage) {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(4));
            stage.submit(orders, "reports", "slow-audit", 1, stage::work);
            orders.submit("reports", TaskSpec.named("yearly", stage::work).cost(4));
            stage.submit(orders, "reports", "small", 5, stage::work);
        }
    },

    /** I8: tasks of several groups wait for one lock. */
    LOCK {
        @Override
        void stage(Stage stage) throws InterruptedException {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(8));
            Ledger ledger = new Ledger(stage);
            stage.submit(orders, "audit", "close-books", 1, () -> ledger.post(true));
            ledger.isHeld.await();
            for (String key : List.of("payments", "refunds", "mails")) {
                stage.submit(orders, key, "post", 2, () -> ledger.post(false));
            }
            while (ledger.lock.getQueueLength() < 6) {
                Thread.onSpinWait();
            }
        }
    },

    /** I9: the tasks of a pool wait for tasks in its own queue. */
    POOL {
        @Override
        void stage(Stage stage) throws InterruptedException {
            ThreadPool pool = ThreadPool.builder("reports")
                    .threads(2)
                    .timeSource(stage.time)
                    .stuckAfter(Duration.ofSeconds(5))
                    .listener(stage.console.poolListener("reports"))
                    .build();
            stage.atEnd(() -> {
                pool.shutdownNow();
                pool.awaitTermination(10, TimeUnit.SECONDS);
            });
            stage.console.watch(pool);
            CountDownLatch begun = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                pool.submit(() -> render(pool, begun));
            }
            begun.await();
            while (pool.stats().queued() < 2) {
                Thread.onSpinWait();
            }
        }

        private static String render(ThreadPool pool, CountDownLatch begun) throws Exception {
            begun.countDown();
            begun.await();
            return pool.submit(() -> "chart").get();
        }
    },

    /** I10: scopes are opened and never closed. */
    SCOPES {
        @Override
        void stage(Stage stage) throws InterruptedException {
            CountDownLatch opened = new CountDownLatch(8);
            for (int i = 0; i < 8; i++) {
                Thread owner = Thread.ofVirtual().start(() -> {
                    try (ThreadScope scope = ThreadScope.open("request")) {
                        stage.console.watch("request", scope);
                        opened.countDown();
                        stage.work();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
                stage.atEnd(owner::join);
            }
            opened.await();
        }
    },

    /** I11: a run waits for a signal that is never sent. */
    SIGNAL {
        @Override
        void stage(Stage stage) {
            FlowBuilder<String> f = FlowPlan.define("checkout", String.class);
            var approved = f.signal("approve", String.class);
            FlowPlan<String, String> plan = f.returning(f.node("pay", approved, by -> "paid by " + by));
            FlowRun<String> run = stage.console.startFlow(plan, "order-17", RunOptions.defaults());
            stage.atEnd(run);
            stage.atEnd(() -> run.cancel("the program ends"));
        }
    },

    /**
     * I12: an instance of a fleet has died and has permits. Its server is played, because a visitor may have none;
     * FleetConsoleTest has a real one.
     */
    FLEET {
        @Override
        void stage(Stage stage) {
            long heard = System.currentTimeMillis() - 42_000;
            Fleets.InstanceRow dead = new Fleets.InstanceRow("2", heard - 3_600_000, heard + LEASE, heard);
            Fleets.GroupRow payments =
                    new Fleets.GroupRow(4, null, 4, 3, List.of(new Fleets.HolderRow("shop-2", 3, heard)));
            Console.Watch watch = stage.console.fleets.add("orders", new Fleets.Source() {
                @Override
                public boolean isUp() {
                    return true;
                }

                @Override
                public Fleets.Row read(long now) {
                    Fleets.InstanceRow alive = new Fleets.InstanceRow("1", heard, now / 60_000 * 60_000 + LEASE, null);
                    Map<String, Fleets.InstanceRow> instances = Map.of("shop-1", alive, "shop-2", dead);
                    return new Fleets.Row(true, null, 0, 0, null, instances, Map.of("payments", payments));
                }
            });
            stage.atEnd(watch);
        }
    },

    /** I13: tasks wait for tasks of their own group. */
    SELF_WAIT {
        @Override
        void stage(Stage stage) {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2));
            stage.submit(orders, "invoices", "other", 1, stage::work);
            orders.submit("invoices", "print-all", () -> {
                TaskHandle<String> page = orders.submit("invoices", "print-page", stage::work);
                return page.await().value();
            });
            stage.awaitTask(orders, "invoices", task -> task.awaits() != null);
        }
    },

    /** I14: a callee has become slow. */
    SLOWER {
        @Override
        void stage(Stage stage) {
            GroupExecutor orders =
                    stage.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(4));
            RunTimes times = ((Activity) stage.console.listener("orders")).runTimes;
            for (int i = 0; i < 50; i++) {
                times.add("quotes", 240_000_000);
                for (int minutes = 1; minutes <= 11; minutes++) { // as if it had run then
                    times.add("quotes", 20_000_000, System.currentTimeMillis() - 60_000 * minutes);
                }
            }
            stage.every(Duration.ofSeconds(1), () -> orders.submit("quotes", "quote", () -> stage.call(240)));
            stage.submit(orders, "quotes", "quote", 1, () -> stage.call(240));
        }
    };

    private static final long LEASE = 600_000; // milliseconds

    /** What an incident needs: a console, a clock, and an end. */
    static final class Stage implements AutoCloseable {
        final Console console;
        final TimeSource time;
        private final Consumer<Duration> passes;
        private final CountDownLatch end = new CountDownLatch(1);
        private final Deque<AutoCloseable> parts = new ArrayDeque<>();

        /** Creates a stage; {@code passes} lets time pass, if the clock needs that. */
        Stage(Console console, TimeSource time, Consumer<Duration> passes) {
            this.console = console;
            this.time = time;
            this.passes = passes;
        }

        GroupExecutor executor(String name, GroupPolicy.Builder policy) {
            GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                    policy.addListener(console.listener(name)).timeSource(time).build());
            console.watch(name, executor);
            atEnd(executor::shutdown);
            return executor;
        }

        void submit(GroupExecutor executor, String key, String name, int count, Callable<String> task) {
            for (int i = 1; i <= count; i++) {
                executor.submit(key, count == 1 ? name : name + "-" + i, task);
            }
        }

        void awaitTask(GroupExecutor executor, String key, Predicate<TaskStats> property) {
            while (executor.tasks(key, 100).stream().noneMatch(property)) {
                Thread.onSpinWait();
            }
        }

        /** Lets time pass for the tasks that wait and run. */
        void later(Duration time) {
            passes.accept(time);
        }

        /** Waits until the end; stands for the work of a task. */
        String work() throws InterruptedException {
            end.await();
            return "done";
        }

        /** Stands for a call of so many milliseconds of the clock. */
        String call(long millis) throws InterruptedException {
            CountDownLatch answered = new CountDownLatch(1);
            time.after(Duration.ofMillis(millis), answered::countDown);
            answered.await();
            return "answer";
        }

        /** Repeats an action until the end: what is wrong stays so. */
        void every(Duration period, Runnable action) {
            time.after(period, () -> {
                if (end.getCount() > 0) {
                    action.run();
                    every(period, action);
                }
            });
        }

        void atEnd(AutoCloseable part) {
            parts.push(part);
        }

        @Override
        public void close() throws Exception {
            end.countDown();
            while (!parts.isEmpty()) {
                parts.pop().close();
            }
        }
    }

    /** Stands for the client of a service that does not answer. */
    private record PaymentClient(Stage stage, CountDownLatch begun) {
        String charge() throws InterruptedException {
            return readResponse();
        }

        private String readResponse() throws InterruptedException {
            begun.countDown();
            return stage.work();
        }
    }

    /** Books that one task at a time may change. */
    private static final class Ledger {
        final ReentrantLock lock = new ReentrantLock();
        final CountDownLatch isHeld = new CountDownLatch(1);
        private final Stage stage;

        Ledger(Stage stage) {
            this.stage = stage;
        }

        String post(boolean isLong) throws InterruptedException {
            lock.lock();
            try {
                isHeld.countDown();
                return isLong ? stage.work() : "posted";
            } finally {
                lock.unlock();
            }
        }
    }

    abstract void stage(Stage stage) throws Exception;

    /** Starts the incident with a name, or one of all, and prints the address of its page. */
    public static void main(String[] args) throws Exception {
        String name = args.length == 0 ? "any" : args[0];
        List<Incident> all = new ArrayList<>(List.of(values()));
        if (!name.equals("any")) {
            all.removeIf(each -> !each.argument().equals(name));
        }
        if (all.isEmpty()) {
            System.err.println("There is no incident \"" + name + "\"; there are any, "
                    + String.join(
                            ", ",
                            List.of(values()).stream().map(Incident::argument).toList()));
            System.exit(2);
        }
        Incident incident = all.get((int) (System.nanoTime() >>> 8) % all.size());
        int port = args.length < 2 ? 0 : Integer.parseInt(args[1]);
        Console console = Console.start(ConsoleOptions.defaults().withPort(port).withTitle("shop"));
        Stage stage = new Stage(console, TimeSource.system(), _ -> {});
        incident.stage(stage);
        System.out.println(console.uri() + "  What is wrong? Enter ends it, and tells.");
        awaitEnter();
        Reference.reachabilityFence(stage); // the console holds what it watches weakly
        System.out.println(incident.argument());
        System.exit(0);
    }

    private static void awaitEnter() throws IOException {
        int read;
        do {
            read = System.in.read();
        } while (read != '\n' && read >= 0);
    }

    /** Returns the name on the command line. */
    String argument() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
