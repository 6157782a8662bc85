package dev.raddle.jdbc;

import dev.raddle.processes.Await;
import dev.raddle.processes.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Gives each test a database of its own on a server that all tests of this JVM share, or skips it. */
final class TestDatabase implements ExecutionCondition, BeforeEachCallback, AfterEachCallback {
    private static PostgresServer server; // guarded by the class
    private static int databases; // likewise

    private String name;
    private TestPool pool;

    private static synchronized PostgresServer server() {
        if (server == null) {
            server = ServerKind.newest().start();
        }
        return server;
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return ServerKind.isAvailable()
                ? ConditionEvaluationResult.enabled("there is a server")
                : ConditionEvaluationResult.disabled("there are no binaries of PostgreSQL for this machine");
    }

    @Override
    public void beforeEach(ExtensionContext context) throws SQLException {
        synchronized (TestDatabase.class) {
            name = "test_" + ++databases;
        }
        try (Connection connection = server().connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        }
        pool = new TestPool(url(), 24);
    }

    @Override
    public void afterEach(ExtensionContext context) throws SQLException {
        pool.close();
        try (Connection connection = server().connect();
                Statement statement = connection.createStatement()) {
            statement.execute("DROP DATABASE " + name + " WITH (FORCE)");
        }
    }

    String url() {
        return server().url(name);
    }

    TestPool pool() {
        return pool;
    }

    /** Returns a builder of a service with short intervals. */
    FlowService.Builder service() {
        return service(pool);
    }

    FlowService.Builder service(TestPool ofService) {
        return FlowService.on(ofService)
                .applySchema()
                .pollInterval(Duration.ofMillis(20))
                .heartbeat(Duration.ofMillis(200), 5)
                .closeTimeout(Duration.ofSeconds(5));
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Returns the first column of the first row as a text. */
    String query(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** Makes a round of a schedule due, and wakes a worker. */
    void makeDue(String schedule, Instant moment) throws SQLException {
        setNext(schedule, moment);
        wakeForRounds();
    }

    /** Makes a round of a schedule due. No worker looks at it before {@link #wakeForRounds}. */
    void setNext(String schedule, Instant moment) throws SQLException {
        execute("UPDATE raddle_schedule SET next_at = '" + moment + "' WHERE name = '" + schedule + "'");
    }

    void wakeForRounds() throws SQLException {
        execute("UPDATE raddle_task SET execution_time = now() - interval '1 second'"
                + " WHERE task_name LIKE '%* schedules' AND NOT picked");
    }

    /** Waits until a run exists, and then for its end. */
    static StoredRun awaitRun(FlowService service, String id) throws Exception {
        Await.until("run " + id + " exists", () -> service.status(id).isPresent());
        return service.await(id, Await.BOUND);
    }

    /** Waits until a run has a problem, and returns the run as it was then: a worker may be trying it again already. */
    static StoredRun runWithProblem(FlowService service, String id) {
        AtomicReference<StoredRun> found = new AtomicReference<>();
        Await.until("the problem of the run is known", () -> {
            found.set(service.status(id).orElseThrow());
            return found.get().problem() != null;
        });
        return found.get();
    }
}
