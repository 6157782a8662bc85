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
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
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
