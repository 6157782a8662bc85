package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import dev.raddle.processes.PostgresServer;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database is killed while runs are under way, and comes back. */
@Timeout(120)
class OutageTest {
    private static final int RUNS = 12;

    private final Semaphore steps = new Semaphore(0);
    private final Map<String, AtomicInteger> actions = new ConcurrentHashMap<>();

    @BeforeAll
    static void needs_a_server() {
        Assumptions.assumeTrue(ServerKind.isAvailable(), "there are no binaries of PostgreSQL for this machine");
    }

    private FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> first = f.node("first", c -> step(c.param(), "first"));
        Node<String> second = f.node("second", first, (c, value) -> {
            step(c.param(), "second");
            try (Statement statement = JdbcNodes.connection(c).createStatement()) {
                statement.execute("INSERT INTO effect VALUES ('" + c.param() + "')");
            }
            step(c.param(), "effect");
            return value;
        });
        Node<String> third = f.node("third", second, (c, value) -> step(c.param(), "third"));
        return f.returning(third);
    }

    private String step(String run, String node) throws InterruptedException {
        actions.computeIfAbsent(node, unknown -> new AtomicInteger()).incrementAndGet();
        steps.acquire();
        return run;
    }

    private void outage(Duration length, Duration heartbeat) throws Exception {
        try (PostgresServer server = ServerKind.newest().start();
                TestPool pool = new TestPool(server.url(), 40)) {
            try (var connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE effect (run text)");
            }
            try (FlowService service = FlowService.on(pool)
                    .applySchema()
                    .register(plan(), "1", FlowCodec.text())
                    .pollInterval(Duration.ofMillis(50))
                    .heartbeat(heartbeat, 4)
                    .start()) {
                for (int i = 0; i < RUNS; i++) {
                    service.submit("flow", "run-" + i, "run-" + i);
                }
                Await.until("all runs have begun", () -> count("first") >= RUNS); // a lost heartbeat repeats one
                steps.release(2 * RUNS); // some are before, in and after their transactions now
                server.crash();
                steps.release(2 * RUNS);
                Await.pass(length);
                server.restart();
                steps.release(100 * RUNS);

                for (int i = 0; i < RUNS; i++) {
                    FlowServiceTest.hasSucceeded(service.await("run-" + i));
                }
            }
            assertThat(effects(pool)).isEqualTo(RUNS + " of " + RUNS);
        }
    }

    private int count(String node) {
        AtomicInteger count = actions.get(node);
        return count == null ? 0 : count.get();
    }

    private static String effects(TestPool pool) throws SQLException {
        try (var connection = pool.getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT count(*) || ' of ' || count(DISTINCT run) FROM effect")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void runs_wait_while_the_database_is_away_and_continue() throws Exception {
        outage(Duration.ofSeconds(3), Duration.ofSeconds(1));
    }

    @Test
    void runs_continue_after_an_outage_that_is_longer_than_heartbeats_may_be_missing() throws Exception {
        outage(Duration.ofSeconds(3), Duration.ofMillis(200));
    }
}
