package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.CheckedFunction.F1;
import dev.raddle.flow.CheckedFunction.F2;
import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import dev.raddle.task.RetryPolicy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

    private static String execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
        return "done";
    }

    private String openTransactions() throws SQLException {
        return database.query("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
                + " AND datname = current_database()");
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
        assertThat(records()).isEqualTo("FAILED");
        assertThat(openTransactions()).isEqualTo("0");
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
    void an_action_that_rolls_back_itself_has_failed() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            connection.rollback();
            return "done";
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(run.failure().message()).contains("rollback() is refused");
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("FAILED");
    }

    @Test
    void an_action_that_rolls_back_by_a_statement_has_failed() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            try (Statement statement = connection.createStatement()) {
                statement.execute("ROLLBACK");
            }
            work(connection);
            return "done";
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(run.failure().message()).contains("has ended its transaction");
        assertThat(effects()).isEqualTo("none");
        assertThat(records()).isEqualTo("FAILED");
    }

    @Test
    void an_action_that_tries_to_commit_has_failed_even_if_it_ignores_the_exception() throws Exception {
        for (F1<Connection, String> end : List.<F1<Connection, String>>of(
                connection -> {
                    connection.commit();
                    return "committed";
                },
                connection -> {
                    connection.setAutoCommit(true);
                    return "committed";
                },
                connection -> {
                    connection.abort(Runnable::run);
                    return "aborted";
                })) {
            StoredRun run = run((context, connection) -> {
                work(connection);
                assertThatThrownBy(() -> end.apply(connection)).isInstanceOf(SQLException.class);
                return "done";
            });

            assertThat(run.failure().message()).contains("leave commit and rollback to Raddle");
            assertThat(effects()).isEqualTo("none");
            assertThat(records()).isEqualTo("FAILED");
            database.execute("TRUNCATE raddle_run, raddle_entry CASCADE");
        }
    }

    @Test
    void an_action_may_close_its_connection() throws Exception {
        AtomicReference<Connection> kept = new AtomicReference<>();
        StoredRun run = run((context, connection) -> {
            try (Connection closing = connection) {
                work(closing);
            }
            kept.set(connection);
            return work(connection);
        });

        FlowServiceTest.hasSucceeded(run);
        assertThat(run.claims()).isEqualTo(1);
        assertThat(effects()).isEqualTo("1 2");
        assertThat(kept.get().isClosed()).isTrue();
        assertThatThrownBy(() -> work(kept.get())).hasMessageContaining("has ended");
        assertThat(openTransactions()).isEqualTo("0");
    }

    @Test
    void an_action_that_makes_its_transaction_read_only_has_failed() throws Exception {
        StoredRun run = run((context, connection) -> {
            work(connection);
            return execute(connection, "SET TRANSACTION READ ONLY");
        });

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(run.failure().message()).contains("read-only");
        assertThat(run.claims()).isEqualTo(1);
        assertThat(effects()).isEqualTo("none");
    }

    @Test
    void a_deferred_constraint_fails_the_attempt_so_that_another_one_follows() throws Exception {
        database.execute("CREATE TABLE one (v int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO one VALUES (1)");
        StoredRun run = run(
                (context, connection) -> {
                    work(connection);
                    return attempts.get() == 1 ? execute(connection, "INSERT INTO one VALUES (1)") : "done";
                },
                node -> node.retry(RetryPolicy.attempts(2)));

        FlowServiceTest.hasSucceeded(run);
        assertThat(effects()).isEqualTo("2");
        assertThat(run.claims()).isEqualTo(1);
    }

    @Test
    void a_deferred_constraint_lets_the_fallback_apply() throws Exception {
        database.execute("CREATE TABLE one (v int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO one VALUES (1)");
        StoredRun run = run(
                (context, connection) -> execute(connection, "INSERT INTO one VALUES (1)"),
                node -> node.fallback(failure -> "instead"));

        FlowServiceTest.hasSucceeded(run);
        assertThat(records()).isEqualTo("SUCCESS");
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
    void an_action_that_swallows_the_failure_of_a_statement_has_failed() throws Exception {
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
        assertThat(records()).isEqualTo("FAILED");
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
        assertThat(records()).isEqualTo("FAILED");
    }

    @Test
    void there_is_no_connection_outside_of_a_service() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> String.valueOf(JdbcNodes.connection(c)));
        FlowResult<String> result = f.returning(node).run("x", RunOptions.defaults());

        assertThat(result.node(node).cause()).hasMessageContaining("is not run by a FlowService");
    }

    /** Runs a plan, and returns how it ended and what it left. */
    private String endOf(FlowPlan<String, String> plan) throws Exception {
        return endOf(plan, FlowCodec.text());
    }

    private String endOf(FlowPlan<String, String> plan, FlowCodec codec) throws Exception {
        try (FlowService service = database.service().register(plan, "1", codec).start()) {
            service.submit("flow", "run-1", null);
            StoredRun run = service.await("run-1");
            return run.state() + " "
                    + (run.failure() == null ? "" : run.failure().message()) + ", effects " + effects() + ", open "
                    + openTransactions();
        }
    }

    @Test
    void a_nested_node_has_no_connection_even_if_an_outer_node_has_the_same_id() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> nested = inner.node("pay", c -> work(JdbcNodes.connection(c)));
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> outer = f.node("pay", c -> "x");
        Node<String> sub = f.subflow("sub", inner.returning(nested), outer);

        assertThat(endOf(f.returning(sub)))
                .startsWith("FAILED node \"pay\" has no connection here: its action is not under way")
                .endsWith("effects none, open 0");
    }

    @Test
    void a_flow_that_an_action_starts_does_not_use_the_transaction_of_the_action() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> nested = inner.node("pay", c -> work(JdbcNodes.connection(c)));
        FlowPlan<String, String> innerPlan = inner.returning(nested);
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> outer = f.node("pay", c -> {
            work(JdbcNodes.connection(c));
            return innerPlan.run("x", RunOptions.defaults().inCallersThread()).value();
        });

        assertThat(endOf(f.returning(outer)))
                .contains("its action is not under way")
                .startsWith("FAILED")
                .endsWith("effects none, open 0");
    }

    @Test
    void an_element_of_a_map_does_not_end_the_transaction_of_a_node_with_its_id() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch elementEnded = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> outer = f.node("each[0]", c -> {
            work(JdbcNodes.connection(c));
            begun.countDown();
            assertThat(elementEnded.await(30, TimeUnit.SECONDS)).isTrue();
            return work(JdbcNodes.connection(c));
        });
        Node<List<String>> list = f.node("list", c -> List.of("x"));
        Node<List<String>> each = f.map("each", list, element -> {
            begun.await();
            return element;
        });
        Node<String> after = f.node("after", each, elements -> {
            elementEnded.countDown();
            return "after";
        });
        Node<String> both = f.node("both", outer, after, (x, y) -> x + y);

        FlowCodec codec = new FlowCodec() {
            @Override
            public byte[] encode(Object value) {
                return value.toString().getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public Object decode(byte[] bytes) {
                throw new AssertionError("nothing is read");
            }
        };
        assertThat(endOf(f.returning(both), codec)).isEqualTo("SUCCESS , effects 1 2, open 0");
    }

    @Test
    void there_is_no_connection_in_conditions_callbacks_fallbacks_and_sleeps() throws Exception {
        AtomicReference<NodeContext<String>> kept = new AtomicReference<>();
        List<String> refusals = Collections.synchronizedList(new ArrayList<>());
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> a = f.<String>node("a", c -> {
                    kept.set(c);
                    work(JdbcNodes.connection(c));
                    return "a";
                })
                .when(c -> refuses("when", c, refusals))
                .onBegin(c -> refuses("begin", c, refusals))
                .onResult(r -> refuses("result", kept.get(), refusals));
        Node<Void> sleep = f.sleepUntil("sleep", c -> {
            refuses("sleep", c, refusals);
            return Instant.EPOCH;
        });
        Node<String> b = f.<String>node("b", c -> {
                    kept.set(c);
                    throw new IllegalStateException("no");
                })
                .needs(Dependency.order(a), Dependency.order(sleep))
                .fallback(failure -> {
                    refuses("fallback", kept.get(), refusals);
                    return "b";
                });
        Node<String> c = f.node("c", b, value -> {
            refuses("ended", kept.get(), refusals);
            return value;
        });
        assertThat(endOf(f.returning(c))).startsWith("SUCCESS").endsWith("effects 1, open 0");
        assertThat(refusals).containsExactlyInAnyOrder("when", "begin", "result", "sleep", "fallback", "ended");
    }

    private static boolean refuses(String what, NodeContext<?> context, List<String> refusals) {
        assertThatThrownBy(() -> JdbcNodes.connection(context)).isInstanceOf(IllegalStateException.class);
        return refusals.add(what);
    }

    @Test
    void a_thread_that_an_action_has_started_receives_no_connection() throws Exception {
        List<String> refusals = Collections.synchronizedList(new ArrayList<>());
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> {
            JdbcJournal journal = JdbcJournal.CURRENT.get();
            Thread other = Thread.startVirtualThread(
                    () -> ScopedValue.where(JdbcJournal.CURRENT, journal).run(() -> refuses("thread", c, refusals)));
            other.join();
            return work(JdbcNodes.connection(c));
        });

        assertThat(endOf(f.returning(node))).isEqualTo("SUCCESS , effects 1, open 0");
        assertThat(refusals).containsExactly("thread");
    }

    @Test
    void a_node_that_holds_its_transaction_for_too_long_waits_with_a_problem() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> {
            work(JdbcNodes.connection(c));
            while (!openTransactions().equals("0")) { // until the database has ended the transaction
                Thread.onSpinWait();
            }
            return "done";
        });
        try (FlowService service = database.service()
                .register(f.returning(node), "1", FlowCodec.text())
                .start()) {
            service.submit("flow", "run-1", null);
            Await.until(
                    "its second claim",
                    () -> service.status("run-1").orElseThrow().claims() == 2);
            assertThat(TestDatabase.runWithProblem(service, "run-1").problem())
                    .contains("node \"node\"")
                    .contains("not used for 1000 ms")
                    .contains("ask for the connection when everything else is done");
            assertThat(effects()).isEqualTo("none");
            service.cancel("run-1", "end of the test");
        }
    }
}
