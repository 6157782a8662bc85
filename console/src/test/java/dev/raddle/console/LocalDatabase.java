package dev.raddle.console;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.jdbc.FlowService;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/** A database of its own on a server that all tests of this JVM share, and flows whose runs need a person. */
public final class LocalDatabase {

    private static EmbeddedPostgres server; // guarded by the class, as is the next one
    private static int databases;

    /** Whether the airline accepts that a flight is given back. */
    public final AtomicBoolean airlineIsOpen = new AtomicBoolean();

    /** Lets the runs of "endless" end. */
    public final CountDownLatch end = new CountDownLatch(1);

    private final String name;

    /** Creates an empty database. */
    public LocalDatabase() throws SQLException {
        name = next();
        execute("postgres", "CREATE DATABASE " + name);
    }

    private static synchronized String next() {
        try {
            if (server == null) {
                server = EmbeddedPostgres.builder()
                        .setLocaleConfig("locale", "C")
                        .start(); // ends with this JVM
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return "test_" + ++databases;
    }

    private static synchronized DataSource source(String database) {
        return server.getDatabase("postgres", database);
    }

    private static void execute(String database, String sql) throws SQLException {
        try (Connection connection = source(database).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    public void execute(String sql) throws SQLException {
        execute(name, sql);
    }

    /** Has the server refuse and end all connections to this database. */
    public void goAway() throws SQLException {
        execute("postgres", "ALTER DATABASE " + name + " ALLOW_CONNECTIONS false");
        execute("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'");
    }

    public void comeBack() throws SQLException {
        execute("postgres", "ALTER DATABASE " + name + " ALLOW_CONNECTIONS true");
    }

    /** Returns a builder of a service without flows. */
    public FlowService.Builder client() {
        return FlowService.on(source(name))
                .applySchema()
                .pollInterval(Duration.ofMillis(20))
                .parkAfter(Duration.ofMillis(20))
                .closeTimeout(Duration.ZERO);
    }

    /** Returns a builder of a service that executes runs of all flows. */
    public FlowService.Builder worker() {
        return client().register(booking(), "1", FlowCodec.text())
                .register(order(), "2", FlowCodec.text())
                .register(endless(), "1", FlowCodec.text());
    }

    /** A flow that fails, and cannot be undone while the airline is closed. */
    private FlowPlan<String, String> booking() {
        FlowBuilder<String> f = FlowPlan.define("booking", String.class);
        Node<String> flight = f.node("flight", c -> "flight").compensate(value -> {
            if (!airlineIsOpen.get()) {
                throw new IOException("the airline is closed");
            }
        });
        return f.returning(f.node("car", flight, value -> {
            throw new IOException("no car");
        }));
    }

    /** A flow that waits for a signal. */
    private static FlowPlan<String, String> order() {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> pay = f.node("pay", c -> "paid");
        Node<String> approved = f.signal("approved", String.class).needs(Dependency.order(pay));
        return f.returning(f.node("ship", approved, by -> "shipped for " + by));
    }

    /** A flow that runs until the end of the test. */
    private FlowPlan<String, String> endless() {
        FlowBuilder<String> f = FlowPlan.define("endless", String.class);
        return f.returning(f.node("wait", c -> {
            end.await();
            return "at last";
        }));
    }
}
