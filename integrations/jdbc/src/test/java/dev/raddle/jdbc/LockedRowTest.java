package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A transaction of another program keeps the row of one run locked. */
@Timeout(120)
class LockedRowTest {

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final CountDownLatch isLocked = new CountDownLatch(1);

    private FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("steps", String.class);
        Node<String> first = f.node("first", c -> {
            isLocked.await();
            return c.param();
        });
        return f.returning(f.node("second", first, (c, value) -> value + "!"));
    }

    private static int lock(Statement statement, String id) throws Exception {
        statement.getConnection().setAutoCommit(false);
        try (ResultSet row =
                statement.executeQuery("SELECT pg_backend_pid() FROM raddle_run WHERE id = '" + id + "' FOR UPDATE")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    void only_the_run_waits_whose_row_is_locked_and_its_problem_names_the_session() throws Exception {
        try (FlowService service = database.service()
                        .register(plan(), "1", FlowCodec.text())
                        .start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            service.submit("steps", "locked", "a");
            service.submit("steps", "free", "b");
            Await.until(
                    "the run is executed",
                    () -> service.status("locked").orElseThrow().state() == RunState.RUNNING);
            int pid = lock(statement, "locked");
            isLocked.countDown();

            FlowServiceTest.hasSucceeded(service.await("free", Await.BOUND));
            assertThat(TestDatabase.runWithProblem(service, "locked").problem())
                    .contains("pid " + pid)
                    .contains("idle in transaction")
                    .contains("pg_terminate_backend");

            other.rollback();
            FlowServiceTest.hasSucceeded(service.await("locked", Await.BOUND));
            assertThat(service.value("locked")).isEqualTo("a!");
        }
    }

    /** The view has what is true between the look at the locks and that at the sessions. */
    @Test
    void a_session_that_has_ended_its_transaction_meanwhile_is_not_named() throws Exception {
        try (FlowService service = database.service()
                        .register(plan(), "1", FlowCodec.text())
                        .submitOnly()
                        .start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            service.submit("steps", "locked", "a");
            int pid = lock(statement, "locked");
            Await.until("the session is named", () -> problem(service).contains("pid " + pid));

            database.execute("CREATE VIEW public.pg_stat_activity AS SELECT pid, usename, application_name,"
                    + " 'idle' AS state, CAST(NULL AS timestamptz) AS xact_start FROM pg_catalog.pg_stat_activity");
            database.execute("ALTER DATABASE " + database.query("SELECT current_database()")
                    + " SET search_path = public, pg_catalog");
            database.pool().close(); // new connections see the view first
            assertThat(problem(service)).isEqualTo("none");
        }
    }

    private static String problem(FlowService service) {
        String problem = service.status("locked").orElseThrow().problem();
        return problem == null ? "none" : problem;
    }

    @Test
    void a_process_that_stops_in_a_request_does_not_keep_the_row_locked() throws Exception {
        CountDownLatch isStopped = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        try (FlowService service = database.service()
                        .register(plan(), "1", FlowCodec.text())
                        .submitOnly()
                        .start();
                TestPool stopping = new TestPool(database.url(), 4, sql -> {
                    if (sql.startsWith("UPDATE raddle_run SET cancel_reason")) {
                        isStopped.countDown();
                        awaitQuietly(goesOn);
                    }
                    return sql;
                });
                FlowService stopped = FlowService.on(stopping).start()) {
            service.submit("steps", "locked", "a");
            FutureTask<Boolean> request = new FutureTask<>(() -> stopped.cancel("locked", "of the process that stops"));
            Thread.ofPlatform().start(request);
            isStopped.await();

            Await.until("the server has ended its transaction", () -> isFree("locked"));
            assertThat(service.cancel("locked", "of another")).isTrue();
            goesOn.countDown();
            assertThatThrownBy(request::get).hasCauseInstanceOf(DatabaseException.class);
            assertThat(service.status("locked").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        }
    }

    private boolean isFree(String id) {
        try {
            database.execute("SELECT 1 FROM raddle_run WHERE id = '" + id + "' FOR UPDATE NOWAIT");
            return true;
        } catch (SQLException locked) {
            return false;
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    @Test
    void a_submission_fails_after_some_seconds_beside_a_transaction_that_has_stored_the_run() throws Exception {
        isLocked.countDown();
        try (FlowService service = database.service()
                        .register(plan(), "1", FlowCodec.text())
                        .start();
                Connection other = database.pool().getConnection()) {
            other.setAutoCommit(false);
            assertThat(service.submit(other, "steps", "run-1", "a")).isTrue();

            assertThatThrownBy(() -> service.submit("steps", "run-1", "a"))
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("lock timeout"); // and not that of the socket

            other.commit();
            assertThat(service.submit("steps", "run-1", "a")).isFalse();
            FlowServiceTest.hasSucceeded(service.await("run-1", Await.BOUND));
        }
    }

    @Test
    void a_request_for_a_locked_run_fails_after_some_seconds_and_a_claim_is_tried_again() throws Exception {
        isLocked.countDown();
        try (FlowService pre = database.service()
                        .register(plan(), "1", FlowCodec.text())
                        .submitOnly()
                        .start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            pre.submit("steps", "locked", "a");
            int unused = lock(statement, "locked");

            assertThatThrownBy(() -> pre.cancel("locked", "no")).isInstanceOf(DatabaseException.class);

            try (FlowService worker =
                    database.service().register(plan(), "1", FlowCodec.text()).start()) {
                worker.submit("steps", "free", "b");
                FlowServiceTest.hasSucceeded(worker.await("free", Await.BOUND));
                other.rollback();
                FlowServiceTest.hasSucceeded(worker.await("locked", Await.BOUND));
            }
        }
    }
}
