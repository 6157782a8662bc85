package dev.raddle.examples;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.JdbcNodes;
import dev.raddle.jdbc.StoredRun;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/**
 * A shop takes orders: it reserves an item, charges the customer, and hands the parcel over. Two worker processes do
 * this from one database, and one of them is killed while it charges customers. The other one continues its orders:
 * every order ends, each customer is charged once, and who gets no parcel is refunded.
 */
public final class DurableOrdersExample {

    private static final int ORDERS = 20;
    private static final int PIECES = 100;
    private static final int UNDELIVERABLE = 7; // each seventh order
    private static final Duration BANK = Duration.ofMillis(300);

    private static final String TABLES = "CREATE TABLE stock (item text PRIMARY KEY, pieces int NOT NULL);"
            + " INSERT INTO stock VALUES ('book', " + PIECES + ");"
            + " CREATE TABLE charge (run text PRIMARY KEY, refunded boolean NOT NULL DEFAULT false)";

    private final DataSource source;
    private final String name;

    private DurableOrdersExample(DataSource source, String name) {
        this.source = source;
        this.name = name;
    }

    /**
     * Runs the example, or one worker.
     *
     * @param args the URL of a PostgreSQL database, for JDBC; for a worker also its name
     * @throws Exception if the database or a worker fails
     */
    public static void main(String[] args) throws Exception {
        try (HikariDataSource source = connect(args[0])) {
            if (args.length == 2) {
                new DurableOrdersExample(source, args[1]).work();
            } else {
                shop(args[0], source);
            }
        }
    }

    private static HikariDataSource connect(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(20);
        return new HikariDataSource(config);
    }

    // The flow. The parameter is the number of the order.

    private FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> reserve = f.node("reserve", c -> {
            update(JdbcNodes.connection(c), "UPDATE stock SET pieces = pieces - 1 WHERE item = 'book'");
            return c.param(); // the piece is taken, and this node recorded, in one transaction
        });
        reserve.compensate(order -> free());
        Node<String> charge = f.node("charge", reserve, this::charge);
        charge.compensate(this::refund);
        Node<String> ship = f.node("ship", charge, DurableOrdersExample::ship);
        return f.returning(ship);
    }

    /** Calls the bank, which is another system. The call may be repeated after a crash, so it has a key. */
    private String charge(String order) throws SQLException, InterruptedException {
        System.out.println(name + " charges order " + order);
        Thread.sleep(BANK);
        try (Connection bank = source.getConnection()) {
            update(bank, "INSERT INTO charge (run) VALUES (?) ON CONFLICT DO NOTHING", order);
        }
        return order;
    }

    /** May be repeated, too. */
    private void refund(String order) throws SQLException {
        try (Connection bank = source.getConnection()) {
            update(bank, "UPDATE charge SET refunded = true WHERE run = ?", order);
        }
    }

    /** A compensation has no transaction with its record; a real shop would note which orders are freed. */
    private void free() throws SQLException {
        try (Connection connection = source.getConnection()) {
            update(connection, "UPDATE stock SET pieces = pieces + 1 WHERE item = 'book'");
        }
    }

    private static String ship(String order) {
        if (Integer.parseInt(order) % UNDELIVERABLE == 0) {
            throw new IllegalStateException("nobody lives there");
        }
        return "parcel " + (1_000 + ThreadLocalRandom.current().nextInt(9_000));
    }

    private static void update(Connection connection, String sql, String... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            statement.executeUpdate();
        }
    }

    private FlowService service() {
        return FlowService.on(source)
                .register(plan(), "1", FlowCodec.text())
                .applySchema()
                .name(name)
                .maxRuns(4)
                .heartbeat(Duration.ofMillis(250), 4)
                .pollInterval(Duration.ofMillis(100))
                .start();
    }

    /** Executes orders until standard input ends. */
    private void work() throws IOException {
        FlowService service = service();
        try {
            System.out.println(name + " is ready");
            while (System.in.read() >= 0) {
                // until the end
            }
        } finally {
            service.close();
        }
    }

    // The shop.

    private static void shop(String url, DataSource source) throws Exception {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        }
        try (FlowService shop = new DurableOrdersExample(source, "shop").client()) {
            CountDownLatch charging = new CountDownLatch(1);
            Process victim = start(url, "worker-1");
            Thread reader = Thread.ofVirtual().start(() -> show(victim, charging));
            List<String> orders = new ArrayList<>();
            for (int order = 1; order <= ORDERS; order++) {
                shop.submit("order", "order-" + order, Integer.toString(order));
                orders.add("order-" + order);
            }
            charging.await();
            Process other = start(url, "worker-2");
            Thread otherReader = Thread.ofVirtual().start(() -> show(other, new CountDownLatch(1)));
            victim.destroyForcibly().waitFor();
            reader.join();
            System.out.println("--- worker-1 is killed while it charges customers");
            for (String order : orders) {
                StoredRun run = shop.await(order);
                System.out.println(order + ": " + run.state() + ", claimed " + run.claims() + " times");
            }
            other.getOutputStream().close(); // ends it
            otherReader.join();
        }
        System.out.println("charged: " + count(source, "SELECT count(*) FROM charge") + ", refunded: "
                + count(source, "SELECT count(*) FROM charge WHERE refunded") + ", in stock: "
                + count(source, "SELECT pieces FROM stock"));
    }

    /** A service that submits and waits, and leaves the work to others. */
    private FlowService client() {
        return FlowService.on(source)
                .register(plan(), "1", FlowCodec.text())
                .applySchema()
                .name(name)
                .pollInterval(Duration.ofMillis(100))
                .submitOnly()
                .start();
    }

    private static Process start(String url, String name) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                DurableOrdersExample.class.getName(),
                url,
                name);
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static void show(Process worker, CountDownLatch charging) {
        try (BufferedReader lines = worker.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(line -> {
                System.out.println(line);
                if (line.contains(" charges ")) {
                    charging.countDown();
                }
            });
        } catch (IOException | UncheckedIOException closed) {
            // the worker was killed
        } finally {
            charging.countDown();
        }
    }

    private static int count(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }
}
