package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.processes.Await;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many runs do not slow down the few that are looked for. */
@Timeout(180)
class MaintenanceTest {
    private static final int MANY = 100_000;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private static FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        return f.returning(f.node("node", c -> "done"));
    }

    private void apply() throws SQLException {
        new Schema(new Database(database.pool())).apply();
    }

    private void storeWaiting() throws SQLException {
        database.execute("INSERT INTO raddle_run (id, flow, version) SELECT 'run-' || i, 'flow', '1'"
                + " FROM generate_series(1, " + MANY + ") i");
        database.execute("INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)"
                + " SELECT 'flow/1', 'run-' || i, now() - interval '1 hour' + i * interval '1 millisecond', false, 1"
                + " FROM generate_series(1, " + MANY + ") i");
        database.execute("ANALYZE");
    }

    private String plan(String sql) throws SQLException {
        StringBuilder text = new StringBuilder();
        try (Connection connection = database.pool().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("EXPLAIN " + sql)) {
            while (rows.next()) {
                text.append(rows.getString(1)).append('\n');
            }
        }
        return text.toString();
    }

    @Test
    void claiming_and_listing_among_a_hundred_thousand_waiting_runs_use_indexes() throws Exception {
        ConcurrentLinkedQueue<String> statements = new ConcurrentLinkedQueue<>();
        apply();
        storeWaiting();
        try (TestPool pool = new TestPool(database.url(), 16, sql -> {
                    statements.add(sql);
                    return sql;
                });
                FlowService service = FlowService.on(pool)
                        .register(plan(), "1", FlowCodec.text())
                        .pollInterval(Duration.ofMillis(20))
                        .closeTimeout(Duration.ofSeconds(5))
                        .start()) {
            Await.until(
                    "runs are claimed",
                    () -> statements.stream().anyMatch(sql -> sql.contains("UPDATE raddle_run SET epoch")));
        }
        String picking = statements.stream()
                .filter(sql -> sql.contains("SKIP LOCKED") && sql.contains("raddle_task"))
                .findFirst()
                .orElseThrow()
                .replaceFirst("picked = \\?", "picked = true")
                .replaceFirst("picked_by = \\?", "picked_by = 'me'")
                .replaceFirst("last_heartbeat = \\?", "last_heartbeat = now()")
                .replaceFirst("picked = \\?", "picked = false")
                .replaceFirst("execution_time <= \\?", "execution_time <= now()");

        assertThat(plan(picking))
                .contains("Index Scan using raddle_task_due")
                .contains("Index Scan using raddle_task_pkey")
                .doesNotContain("Seq Scan");
        assertThat(plan("SELECT * FROM raddle_task WHERE picked = true AND last_heartbeat <= now()"
                        + " ORDER BY last_heartbeat"))
                .contains("raddle_task_heartbeat");
        String rows = "SELECT id FROM raddle_run ";

        assertThat(plan(rows + "ORDER BY created_at DESC, id DESC LIMIT 100")).contains("raddle_run_created");
        assertThat(plan(rows + "WHERE ended_at < now() - interval '7 days' ORDER BY ended_at LIMIT 500"))
                .contains("raddle_run_ended");
        String newest = " ORDER BY created_at DESC, id DESC LIMIT 100";
        assertThat(plan(rows + "WHERE flow = 'other'" + newest)).contains("raddle_run_flow");
        assertThat(plan(rows + "WHERE status = 'STUCK'" + newest)).contains("raddle_run_stuck");
        try (FlowService service = database.service().start()) {
            assertThat(service.list(RunFilter.all().in(RunState.WITHOUT_VERSION).limit(3)))
                    .hasSize(3);
            StoredRun last = service.list(RunFilter.all().limit(10)).getLast();
            assertThat(service.list(RunFilter.all().after(last.id()).limit(10)))
                    .hasSize(10)
                    .doesNotContain(last);
            database.execute("DELETE FROM raddle_run WHERE id = '" + last.id() + "'");
            RunFilter behind = RunFilter.all().after(last.id());
            assertThatThrownBy(() -> service.list(behind)).isInstanceOf(NoSuchElementException.class);
            assertThatThrownBy(() -> service.count(behind)).hasMessageContaining("begin with the first page");
        }
    }

    @Test
    void ended_runs_are_removed_after_the_retention_in_portions() throws Exception {
        apply();
        int ended = 2 * Retention.PORTION + 7;
        database.execute("INSERT INTO raddle_run (id, flow, version, status, ended_at) SELECT 'old-' || i, 'flow', '1',"
                + " 'SUCCESS', now() - interval '8 days' FROM generate_series(1, " + ended + ") i");
        database.execute("INSERT INTO raddle_run (id, flow, version, status, ended_at) VALUES"
                + " ('new', 'flow', '1', 'SUCCESS', now() - interval '6 days')");
        database.execute("INSERT INTO raddle_run (id, flow, version) VALUES ('open', 'flow', '1')");
        database.execute(
                "INSERT INTO raddle_entry (run_id, epoch, number, kind) SELECT id, 1, 0, 'BEGUN' FROM raddle_run");
        database.execute("INSERT INTO raddle_signal (run_id, node) SELECT id, 'n' FROM raddle_run");
        database.execute("INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)"
                + " SELECT 'flow/1', id, now(), false, 1 FROM raddle_run");
        Retention retention = new Retention(new Database(database.pool()), Duration.ofDays(7));

        assertThat(retention.removePortion()).isEqualTo(Retention.PORTION);
        assertThat(retention.remove()).isEqualTo(Retention.PORTION + 7);
        assertThat(retention.remove()).isZero();
        for (String table : new String[] {"raddle_run", "raddle_entry", "raddle_signal", "raddle_task"}) {
            assertThat(database.query("SELECT count(*) FROM " + table))
                    .as(table)
                    .isEqualTo("2");
        }
    }

    @Test
    void an_ended_run_is_kept_while_this_process_waits_for_its_end() throws Exception {
        apply();
        database.execute("INSERT INTO raddle_run (id, flow, version, status, ended_at) VALUES"
                + " ('run-1', 'flow', '1', 'SUCCESS', now() - interval '1 hour'),"
                + " ('run-2', 'flow', '1', 'SUCCESS', now() - interval '1 hour')");
        Database tables = new Database(database.pool());

        assertThat(new Retention(tables, Duration.ZERO, () -> Set.of("run-1"), () -> false).remove())
                .isEqualTo(1);
        assertThat(database.query("SELECT string_agg(id, ',') FROM raddle_run")).isEqualTo("run-1");
        assertThat(new Retention(tables, Duration.ZERO).remove()).isEqualTo(1);
    }

    @Test
    void the_removal_of_old_runs_ends_at_the_next_portion_when_the_service_closes() throws Exception {
        apply();
        database.execute("INSERT INTO raddle_run (id, flow, version, status, ended_at) SELECT 'old-' || i, 'flow', '1',"
                + " 'SUCCESS', now() - interval '8 days' FROM generate_series(1, " + 4 * Retention.PORTION + ") i");
        CountDownLatch isRemoving = new CountDownLatch(1);
        CountDownLatch isClosing = new CountDownLatch(1);
        AtomicInteger portions = new AtomicInteger();
        try (TestPool pool = new TestPool(database.url(), 12, sql -> {
            if (sql.contains("raddle_run USING old") && portions.incrementAndGet() == 1) {
                isRemoving.countDown();
                try {
                    isClosing.await();
                } catch (InterruptedException unexpected) {
                    throw new IllegalStateException(unexpected);
                }
            }
            return sql;
        })) {
            FlowService service = FlowService.on(pool)
                    .register(plan(), "1", FlowCodec.text())
                    .pollInterval(Duration.ofMillis(20))
                    .start();
            isRemoving.await();
            Thread closing = Thread.ofPlatform().start(service::close);
            Await.until("the service waits for the portion", () -> closing.getState() == Thread.State.TIMED_WAITING);
            isClosing.countDown();
            closing.join();
        }
        assertThat(portions).hasValue(1);
    }

    @Test
    void a_service_removes_old_runs_by_itself() throws Exception {
        apply();
        database.execute("INSERT INTO raddle_run (id, flow, version, status, ended_at) VALUES"
                + " ('old', 'flow', '1', 'SUCCESS', now() - interval '8 days')");
        try (FlowService service =
                database.service().register(plan(), "1", FlowCodec.text()).start()) {
            Await.until("it is removed", () -> service.status("old").isEmpty());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
    void the_schema_is_applied_once_by_many(String isolation) throws Exception {
        String name = database.query("SELECT current_database()");
        database.execute("ALTER DATABASE " + name + " SET default_transaction_isolation = '" + isolation + "'");
        database.pool().close(); // new connections have it
        Database connections = new Database(database.pool());
        Thread[] threads = new Thread[8];
        ConcurrentLinkedQueue<SQLException> failures = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.startVirtualThread(() -> {
                try {
                    new Schema(connections).apply();
                } catch (SQLException failure) {
                    failures.add(failure);
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(database.query("SELECT count(*) FROM raddle_schema")).isEqualTo("7");
    }

    @Test
    void tables_of_an_older_version_are_refused_and_updated_on_request() throws Exception {
        apply();
        database.execute("ALTER TABLE raddle_run DROP COLUMN waits_until");
        database.execute("ALTER TABLE raddle_entry DROP COLUMN place");
        database.execute("ALTER TABLE raddle_run DROP COLUMN losses");
        database.execute("ALTER TABLE raddle_run DROP COLUMN context");
        database.execute("DROP INDEX raddle_run_stuck, raddle_run_flow");
        database.execute("DROP TABLE raddle_schedule");
        database.execute("DELETE FROM raddle_schema WHERE version > 1");
        Schema schema = new Schema(new Database(database.pool()));

        assertThatThrownBy(schema::verify).hasMessageContaining("have version 1, and this library needs 7");
        schema.apply();

        assertThat(database.query("SELECT waits_until FROM raddle_run")).isNull();
    }
}
