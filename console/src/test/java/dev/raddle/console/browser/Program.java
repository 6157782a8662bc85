package dev.raddle.console.browser;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.console.FleetConsole;
import dev.raddle.flow.Dependency;
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
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.NamedTask;
import dev.raddle.testing.VirtualTime;
import io.lettuce.core.RedisURI;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import redis.embedded.RedisServer;

/**
 * A program with a console. Its tasks wait until it is closed, and its clock advances only when a test says so: a task
 * is 40 seconds old without having waited for 40 seconds.
 */
final class Program implements AutoCloseable {

    static final String TOKEN = "a-token-for-tests-0123";

    final Console console;
    final VirtualTime time = new VirtualTime();
    private final CountDownLatch end = new CountDownLatch(1);
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    Program() {
        this(ConsoleOptions.defaults().withPort(0));
    }

    Program(ConsoleOptions options) {
        this(Console.start(options));
    }

    Program(Console console) {
        this.console = console;
    }

    /** Returns a program whose console has controls. */
    static Program withControls() {
        return new Program(
                ConsoleOptions.defaults().withPort(0).withToken(TOKEN).withControls(true));
    }

    GroupExecutor executor(String name, GroupPolicy.Builder policy) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy.addListener(console.listener(name)).timeSource(time).build());
        console.watch(name, executor);
        return closedAtEnd(executor);
    }

    private GroupExecutor closedAtEnd(GroupExecutor executor) {
        parts.push(() -> {
            executor.activeGroupKeys().forEach(executor::shutdownGroup); // one may be paused, or have no permits
            executor.close();
        });
        return executor;
    }

    /** Waits until the tasks that can run do, so that time passes for them. */
    private static void awaitRunning(GroupExecutor executor, String key, int count) {
        while (executor.tasks(key, count).stream().anyMatch(task -> task.thread() == null)) {
            Thread.onSpinWait();
        }
    }

    /** Waits until the program is closed; stands for the work of a task. */
    String work() throws InterruptedException {
        end.await();
        return "done";
    }

    /** One of five tenants floods: its 2,000 tasks wait, those of the others do not. */
    GroupExecutor flood() {
        GroupExecutor executor = executor(
                "imports",
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).globalMaxInFlight(8));
        submit(executor, "tenant-a", "import", 2_002);
        time.advance(Duration.ofSeconds(38));
        submit(executor, "tenant-b", "import", 2);
        submit(executor, "tenant-c", "import", 1);
        submit(executor, "tenant-d", "import", 3);
        time.advance(Duration.ofMillis(1_200));
        submit(executor, "tenant-e", "import", 1);
        return executor;
    }

    void submit(GroupExecutor executor, String key, String name, int count) {
        for (int i = 1; i <= count; i++) {
            executor.submit(key, name + "-" + i, this::work);
        }
    }

    /** A callee hangs: the four holders of group "payments" are 40 seconds old and wait in the same place. */
    GroupExecutor hang() {
        GroupExecutor executor = executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(4));
        for (int i = 1; i <= 37; i++) {
            executor.submit("payments", "charge-" + i, () -> new PaymentClient().charge());
        }
        submit(executor, "mails", "mail", 3);
        awaitRunning(executor, "payments", 4);
        time.advance(Duration.ofSeconds(40));
        return executor;
    }

    /** Stands for the client of a service that does not answer. */
    private final class PaymentClient {
        String charge() throws InterruptedException {
            return readResponse();
        }

        private String readResponse() throws InterruptedException {
            return work();
        }
    }

    /** A task of a pool that ignores its interrupt. */
    private record Export(String name, BlockingQueue<Thread> started, CountDownLatch end)
            implements NamedTask, Runnable {
        @Override
        public void run() {
            writeRows();
        }

        private void writeRows() {
            started.add(Thread.currentThread());
            boolean ended = false;
            while (!ended) {
                try {
                    end.await();
                    ended = true;
                } catch (InterruptedException ignored) {
                    // this is what keeps the pool from draining
                }
            }
        }
    }

    /** A pool does not drain: both threads are in tasks that ignore their interrupt. */
    ThreadPool drain() throws InterruptedException {
        ThreadPool pool = ThreadPool.builder("reports")
                .threads(2)
                .queueCapacity(100)
                .timeSource(time)
                .stuckAfter(Duration.ofSeconds(30))
                .listener(console.poolListener("reports"))
                .build();
        console.watch(pool);
        BlockingQueue<Thread> started = new LinkedBlockingQueue<>();
        for (int i = 1; i <= 9; i++) {
            pool.execute(new Export("export-" + i, started, end));
        }
        for (Thread thread : List.of(started.take(), started.take())) {
            while (thread.getState() != Thread.State.WAITING) { // both have one stack
                Thread.onSpinWait();
            }
        }
        time.advance(Duration.ofSeconds(35));
        Thread drainer = Thread.ofVirtual().start(() -> pool.drain(Duration.ofSeconds(10)));
        parts.push(drainer::join);
        return pool;
    }

    private record Order(String user) {}

    /** A run in which a node has failed, two run, one waits for a signal, and the others wait for these. */
    FlowRun<String> flow() {
        FlowBuilder<Order> f = FlowPlan.define("checkout", Order.class);
        Node<String> user = f.node("user", c -> c.param().user());
        Node<Integer> promo = f.<Integer>node("promo", () -> {
                    throw new IllegalStateException("promo 17 has expired");
                })
                .defaultValue(0);
        Node<String> near = f.node("price-near", this::work);
        Node<String> far = f.node("price-far", this::work);
        Node<String> approved = f.signal("approved", String.class);
        Node<String> reserved = f.node("reserve", user, name -> name + " reserves");
        Node<String> audit = f.node("audit", reserved, Dependency.after(promo), (text, ended) -> text + ", audited");
        Node<String> total = f.node("total", Dependency.anyOf(near, far), price -> "total " + price);
        Node<String> receipt =
                f.node("receipt", total, approved, audit, (sum, by, text) -> sum + " approved by " + by + ", " + text);
        FlowPlan<Order, String> plan = f.returning(receipt);
        FlowRun<String> run = console.startFlow(plan, new Order("Ada"), RunOptions.defaults());
        parts.push(run);
        parts.push(() -> run.cancel("the program ends"));
        return run;
    }

    /** A fleet of one instance, whose group "payments" has all permits of its limit. Returns its server. */
    RedisServer fleet() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        RedisServer server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        parts.push(server::stop);
        RedisFleet fleet = RedisFleet.connect(
                RedisURI.create("redis://127.0.0.1:" + port),
                FleetOptions.builder().namespace("tests").instanceName("shop-1").build());
        parts.push(fleet);
        GroupExecutor executor = closedAtEnd(GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(5)
                .permits(fleet)
                .build()));
        fleet.setLimit("payments", 2);
        submit(executor, "payments", "charge", 3);
        FleetConsole.watch(console, "orders", fleet);
        return server;
    }

    /** Scopes, each inside the one before, and a task in the innermost. */
    void nestedScopes(int count) throws InterruptedException {
        CountDownLatch open = new CountDownLatch(1);
        Thread owner = Thread.ofPlatform().name("request-18").start(() -> nest(1, count, open));
        parts.push(owner::join);
        open.await();
    }

    private void nest(int depth, int count, CountDownLatch open) {
        try (ThreadScope scope = ThreadScope.open("level-" + depth)) {
            if (depth < count) {
                nest(depth + 1, count, open);
            } else {
                scope.submit("innermost", this::work);
                console.watch("nested", scope);
                open.countDown();
                end.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Two scopes, one inside the other. */
    void scopes() throws InterruptedException {
        CountDownLatch open = new CountDownLatch(1);
        Thread owner = Thread.ofVirtual().name("request-17").start(() -> {
            try (ThreadScope page = ThreadScope.open("page")) {
                page.submit("user", this::work);
                try (ThreadScope prices = ThreadScope.open("prices")) {
                    prices.submit("near", this::work);
                    prices.submit("far", this::work);
                    console.watch("page", page);
                    open.countDown();
                    end.await();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        parts.push(owner::join);
        open.await();
    }

    /** Ten failures of two kinds. */
    void failures(GroupExecutor executor) throws InterruptedException {
        for (int i = 1; i <= 9; i++) {
            int number = i;
            executor.submit("mails-out", "mail-" + i, fails("mailbox " + number + " is full"))
                    .join();
        }
        executor.submit("search", "index", fails("the index is read-only")).join();
    }

    private static Callable<String> fails(String message) {
        return () -> {
            throw new IllegalStateException(message);
        };
    }

    /** Has a part closed at the end. */
    void atEnd(AutoCloseable part) {
        parts.push(part);
    }

    /** Ends all tasks. */
    void end() {
        end.countDown();
    }

    @Override
    public void close() throws Exception {
        end();
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
        console.close();
    }
}
