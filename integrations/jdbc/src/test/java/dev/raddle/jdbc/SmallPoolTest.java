package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool with fewer connections than a service needs. */
@Timeout(120)
class SmallPoolTest {
    private static final int RUNS = 30;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    @Test
    void the_connections_of_a_pool_are_counted_and_returned() throws Exception {
        try (TestPool pool = new TestPool(database.url(), 4)) {
            Database four = new Database(pool);
            assertThat(four.available(4, Await.BOUND)).isEqualTo(4);
            assertThat(four.available(5, Duration.ofMillis(300))).isEqualTo(4);
            assertThat(four.available(4, Await.BOUND)).isEqualTo(4);
        }
    }

    @Test
    void runs_end_although_their_nodes_hold_all_connections() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> a = f.node("a", c -> {
            try (Statement statement = JdbcNodes.connection(c).createStatement()) {
                statement.execute("SELECT pg_sleep(0.05)");
            }
            return "a";
        });
        try (TestPool pool = new TestPool(database.url(), 4);
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(f.returning(a), "1", FlowCodec.text())
                        .pollInterval(Duration.ofMillis(20))
                        .start()) {
            for (int i = 0; i < RUNS; i++) {
                service.submit("flow", "run-" + i, "p");
            }
            for (int i = 0; i < RUNS; i++) {
                FlowServiceTest.hasSucceeded(service.await("run-" + i, Await.BOUND));
            }
        }
    }
}
