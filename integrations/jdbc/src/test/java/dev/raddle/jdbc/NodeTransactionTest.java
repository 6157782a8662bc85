package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.CheckedFunction.F2;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.RunOptions;
import dev.raddle.task.RetryPolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a node does with the connection of its record is committed with the record, or not at all. */
@Timeout(120)
class NodeTransactionTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final AtomicInteger attempts = new AtomicInteger();

    @BeforeEach
    void create_a_table() throws SQLException {
        database.execute("CREATE TABLE effect (attempt int)");
    }

    private String work(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO effect VALUES (" + attempts.incrementAndGet() + ")");
        }
        return "done";
    }

    private StoredRun run(F2<NodeContext<String>, Connection, String> action) throws Exception {
        return run(action, node -> {});
    }

    private StoredRun run(
            F2<NodeContext<String>, Connection, String> action, java.util.function.Consumer<Node<String>> options)
            throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> action.apply(c, JdbcNodes.connection(c)));
        options.accept(node);
        try (FlowService service = database.service()
                .register(f.returning(node), "1", FlowCodec.text())
                .start()) {
            service.submit("flow", "run-1", null);
            return service.await("run-1");
        }
    }

    private String effects() throws SQLException {
        return database.query("SELECT coalesce(string_agg(attempt::text, ' ' ORDER BY attempt), 'none') FROM effect");
    }

    private String records() throws SQLException {
        return database.query("SELECT coalesce(string_agg(state, ' '), 'none') FROM raddle_entry WHERE kind = 'NODE'");
    }

    @Test
    void the_work_of_a_node_is_committed_with_its_record() throws Exception {
        StoredRun run = run((context, connection) -> {
            assertThat(JdbcNodes.connection(context)).isSameAs(connection);
            return work(connection);
        });

        FlowServiceTest.hasSucceeded(run);
        assertThat(effects()).isEqualTo("1");
        assertThat(records()).isEqualTo("SUCCESS");
    }

    @Test
    void an_action_that_throws_leaves_nothing() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            throw new IllegalStateException("no");
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("FAILED");
    }

    @Test
    void an_Error_of_the_codec_leaves_nothing_and_returns_the_connection() throws Exception {
        FlowCodec codec = new FlowCodec() {
            @Override
            public byte[] encode(Object value) {
                throw new LinkageError("a class of " + value + " is missing");
            }

            @Override
            public Object decode(byte[] bytes) {
                throw new AssertionError("nothing was encoded");
            }
        };
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> work(JdbcNodes.connection(c)));
        try (FlowService service =
                database.service().register(f.returning(node), "1", codec).start()) {
            service.submit("flow", "run-1", null);
            assertThat(service.await("run-1").state()).isEqualTo(RunState.FAILED);
        }
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("none");
        assertThat(database.query("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"))
                .isEqualTo("0");
    }

    @Test
    void each_attempt_has_a_transaction_of_its_own() throws Exception {
        StoredRun run = run(
                (context, connection) -> {
                    work(connection);
                    if (attempts.get() < 3) {
                        throw new IllegalStateException("no");
                    }
                    return "done";
                },
                node -> node.retry(RetryPolicy.attempts(3)));

        FlowServiceTest.hasSucceeded(run);
        assertThat(effects()).isEqualTo("3");
        assertThat(records()).isEqualTo("SUCCESS");
    }

    @Test
    void a_fallback_does_not_commit_what_the_action_did() throws Exception {
        StoredRun run = run(
                (context, connection) -> {
                    work(connection);
                    throw new IllegalStateException("no");
                },
                node -> node.fallback(failure -> "instead"));

        FlowServiceTest.hasSucceeded(run);
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("SUCCESS");
    }

    @Test
    void an_action_that_rolls_back_itself_records_nothing() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            connection.rollback();
            return "done";
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(run.failure().message()).contains("has ended its transaction");
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("none");
    }

    @Test
    void an_action_that_rolls_back_by_a_statement_records_nothing() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            try (Statement statement = connection.createStatement()) {
                statement.execute("ROLLBACK");
            }
            work(connection);
            return "done";
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("none");
    }

    @Test
    void an_action_that_commits_or_closes_itself_records_nothing() throws Exception {
        StoredRun committed = run((context, connection) -> {
            work(connection);
            connection.commit();
            return "done";
        });
        assertThat(committed.failure().message()).contains("leave commit and rollback to Raddle");
        assertThat(records()).isEqualTo("none");
    }

    @Test
    void an_action_may_roll_back_to_a_savepoint() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            Savepoint savepoint = connection.setSavepoint();
            work(connection);
            connection.rollback(savepoint);
            return "done";
        });

        FlowServiceTest.hasSucceeded(run);
        assertThat(effects()).isEqualTo("1");
    }

    @Test
    void an_action_that_swallows_the_failure_of_a_statement_records_nothing() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO missing VALUES (1)");
            } catch (SQLException swallowed) {
                // the transaction has failed
            }
            return "done";
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("none");
    }

    @Test
    void an_action_that_is_late_leaves_nothing() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        StoredRun run = run(
                (context, connection) -> {
                    work(connection);
                    never.await();
                    return "done";
                },
                node -> node.timeout(Duration.ofMillis(100)));

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(effects()).isEqualTo("none");
    }

    @Test
    void a_node_whose_session_was_ended_runs_again() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            if (attempts.get() == 1) {
                database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        + " AND state = 'idle in transaction'");
            }
            return "done";
        });

        FlowServiceTest.hasSucceeded(run);
        assertThat(run.claims()).isEqualTo(2);
        assertThat(effects()).isEqualTo("2");
    }

    @Test
    void a_value_that_cannot_be_stored_undoes_the_work() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            return "x".repeat(Values.MAX_BYTES + 1);
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("none");
    }

    @Test
    void there_is_no_connection_outside_of_a_service_or_in_a_nested_plan() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> String.valueOf(JdbcNodes.connection(c)));
        FlowResult<String> result = f.returning(node).run("x", RunOptions.defaults());

        assertThat(result.node(node).cause()).hasMessageContaining("is not run by a FlowService");
    }
}
