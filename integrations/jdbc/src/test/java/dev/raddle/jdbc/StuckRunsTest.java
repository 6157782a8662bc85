package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.CheckedFunction;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import dev.raddle.task.RetryPolicy;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that kill their workers. */
@Timeout(200)
class StuckRunsTest {

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final AtomicInteger calls = new AtomicInteger();

    private FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> pay = f.node("pay", c -> "paid " + calls.incrementAndGet());
        return f.returning(f.node("ship", pay, paid -> paid + ", shipped"));
    }

    private FlowService.Builder service(FlowPlan<String, ?> plan) {
        return database.service().register(plan, "1", FlowCodec.text());
    }

    /** Submits a run, and lets it look as if its worker had died for a number of times. */
    private void submitLost(FlowPlan<String, ?> plan, String id, int losses) throws Exception {
        try (FlowService client = service(plan).submitOnly().start()) {
            client.submit("order", id, id);
        }
        database.execute("UPDATE raddle_run SET status = 'RUNNING', epoch = 7, losses = " + (losses - 1)
                + " WHERE id = '" + id + "'");
    }

    // Real processes.

    private int deathsUntilEnd(FlowService client, int innocents, int maxRecoveries, String... ids) throws Exception {
        for (int deaths = 0; ; deaths++) {
            String begun = Integer.toString(deaths == 0 ? innocents + 1 : 0);
            String name = "worker-" + deaths;
            String most = Integer.toString(maxRecoveries);
            try (WorkerJvm worker =
                    WorkerJvm.start(name, DeadlyWorker.class, List.of(database.url(), name, begun, most))) {
                worker.awaitReady();
                Await.until("the runs have ended or the worker has", () -> !isAlive(worker) || haveEnded(client, ids));
                if (haveEnded(client, ids)) {
                    return deaths;
                }
            }
        }
    }

    private static boolean isAlive(WorkerJvm worker) {
        return ProcessHandle.of(worker.pid()).map(ProcessHandle::isAlive).orElse(false);
    }

    private static boolean haveEnded(FlowService client, String... ids) {
        return List.of(ids).stream()
                .allMatch(id -> client.status(id).orElseThrow().state().isEnd());
    }

    private FlowService client() {
        return database.service()
                .register(DeadlyWorker.plan(new CountDownLatch(0)), "1", FlowCodec.text())
                .submitOnly()
                .start();
    }

    @Test
    void a_run_that_kills_its_workers_becomes_stuck_and_others_end() throws Exception {
        String[] ids = {"a", "b", "work", "c", "d"};
        try (FlowService client = client()) {
            for (String id : ids) {
                client.submit(DeadlyWorker.FLOW, id, id);
            }
            int deaths = deathsUntilEnd(client, 4, 3, ids);

            assertThat(deaths)
                    .as("a heartbeat that a busy machine loses counts as well")
                    .isBetween(1, 3);
            StoredRun stuck = client.status("work").orElseThrow();
            assertThat(stuck.state()).isEqualTo(RunState.STUCK);
            assertThat(stuck.problem()).contains("lost its worker 3 times", "executing node \"work\" then");
            for (String id : List.of("a", "b", "c", "d")) {
                assertThat(client.status(id).orElseThrow().state()).as(id).isEqualTo(RunState.SUCCESS);
            }
            assertThat(client.list(RunFilter.all().in(RunState.STUCK)))
                    .extracting(StoredRun::id)
                    .containsExactly("work");
            assertThat(client.count(RunFilter.all())).isEqualTo(Map.of(RunState.STUCK, 1, RunState.SUCCESS, 4));
        }
    }

    @Test
    void retry_and_fallback_apply_to_a_node_that_kills_its_workers() throws Exception {
        try (FlowService client = client()) {
            client.submit(DeadlyWorker.FLOW, "retried", "retried");
            database.execute("UPDATE raddle_run SET epoch = 1, status = 'WAITING'"); // "work" returns at once
            int deaths = deathsUntilEnd(client, 0, 5, "retried");

            assertThat(deaths)
                    .as("at most one without a record of what ran, and two attempts")
                    .isBetween(1, 3);
            assertThat(client.value("retried"))
                    .isEqualTo("instead, since the process has died during attempt 2 of node \"retried\"");
        }
    }

    // Runs whose rows say that they were lost.

    @Test
    void a_stuck_run_is_left_alone_until_it_is_run_again_and_then_continues() throws Exception {
        FlowPlan<String, String> plan = plan();
        submitLost(plan, "order-1", 5);
        try (FlowService service = service(plan).retention(Duration.ZERO).start()) {
            assertThat(service.await("order-1").state()).isEqualTo(RunState.STUCK);
            assertThat(service.cancel("order-1", "too late")).isFalse();
            assertThat(new Retention(new Database(database.pool()), Duration.ZERO).remove())
                    .isZero();
            assertThatThrownBy(() -> service.value("order-1")).hasMessageContaining("STUCK");
            assertThat(calls).hasValue(0);

            assertThat(service.rerun("order-1")).isTrue();
            Await.until(
                    "it continues",
                    () -> service.status("order-1").map(StoredRun::state).orElse(RunState.SUCCESS) == RunState.SUCCESS);
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    void a_stuck_run_that_is_run_again_keeps_what_it_has_recorded() throws Exception {
        FlowPlan<String, String> plan = plan();
        try (FlowService service = service(plan).start()) {
            service.submit("order", "order-1", "1");
            service.await("order-1");
            database.execute("DELETE FROM raddle_entry WHERE node = 'ship' OR kind = 'ENDED'");
            database.execute("UPDATE raddle_run SET status = 'STUCK'");
        }
        try (FlowService client = service(plan).submitOnly().start()) {
            assertThat(client.rerun("order-1")).isTrue();
            assertThat(client.rerun("order-1")).as("a second time").isFalse();
        }
        try (FlowService service = service(plan).start()) {
            assertThat(service.await("order-1").state()).isEqualTo(RunState.SUCCESS);
            assertThat(service.value("order-1")).isEqualTo("paid 1, shipped");
        }
    }

    @Test
    void a_stuck_run_runs_named_nodes_again_in_a_new_try() throws Exception {
        FlowPlan<String, String> plan = plan();
        submitLost(plan, "order-1", 5);
        try (FlowService service = service(plan).start()) {
            service.await("order-1");
            assertThat(service.rerun("order-1", "pay")).isTrue();
            assertThat(service.await("order-1").state()).isEqualTo(RunState.SUCCESS);
        }
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "'SIGNAL', 'any', null, null, null, SUCCESS, 1",
                "'NODE', 'pay', 'SUCCESS', 'FALLBACK', 'lost process', SUCCESS, 1",
                "'NODE', 'pay', 'SUCCESS', 'FALLBACK', 'java.io.IOException', SUCCESS, 1",
                "'ATTEMPT', 'pay', null, null, 'lost process', STUCK, 5",
                "'ATTEMPT_BEGAN', 'pay', null, null, null, STUCK, 5"
            })
    void a_run_that_loses_workers_is_stuck_unless_something_has_ended_in_between(
            String kind, String node, String state, String via, String failure, RunState end, String losses)
            throws Exception {
        FlowPlan<String, String> plan = plan();
        submitLost(plan, "order-1", 5);
        database.execute("INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state, via, count, failure_type)"
                + " VALUES ('order-1', 7, 0, "
                + String.join(", ", kind, node, state, via, "1", failure) + ")");
        try (FlowService service = service(plan).start()) {
            assertThat(service.await("order-1").state()).isEqualTo(end);
            assertThat(database.query("SELECT losses FROM raddle_run")).isEqualTo(losses);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_statement_and_the_worker_agree_on_what_is_progress(EntryRow.Kind kind) throws Exception {
        for (String type : new String[] {null, RecordedFailure.LOST, "java.io.IOException"}) {
            RecordedFailure failure = type == null ? null : new RecordedFailure(type, null, "");
            EntryRow row =
                    new EntryRow("run", 1, 0, kind, null, null, null, null, null, null, failure, List.of(), null);
            String found = database.query("SELECT " + EntryRow.IS_PROGRESS + " FROM (SELECT '" + kind
                    + "' AS kind, CAST(" + (type == null ? "NULL" : "'" + type + "'") + " AS text) AS failure_type) p");

            assertThat(found).as(kind + " with " + type).isEqualTo(row.isProgress() ? "t" : "f");
        }
    }

    @Test
    void a_worker_begins_lost_runs_one_at_a_time_and_others_beside() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        f.node("wait", c -> {
            calls.incrementAndGet();
            released.await();
            return "done";
        });
        FlowPlan<String, Void> plan = f.build();
        submitLost(plan, "lost-1", 1);
        submitLost(plan, "lost-2", 1);
        try (FlowService service =
                service(plan).heartbeat(Duration.ofSeconds(20), 10).start()) {
            service.submit("order", "new", "new");
            Await.until("two runs have begun", () -> calls.get() >= 2);
            Await.until("the other lost one was looked at and put off", this::isOnePutOff);
            assertThat(service.status("new").orElseThrow().state()).isEqualTo(RunState.RUNNING);
            assertThat(calls).hasValue(2);
            released.countDown();
            for (String id : List.of("lost-1", "lost-2", "new")) {
                assertThat(service.await(id).state()).isEqualTo(RunState.SUCCESS);
            }
        }
    }

    private boolean isOnePutOff() {
        try {
            return database.query("SELECT count(*) FROM raddle_task t JOIN raddle_run r ON r.id = t.task_instance"
                            + " WHERE r.epoch = 7 AND t.version > 2")
                    .equals("1");
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void a_run_that_its_worker_returns_has_not_lost_it() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        f.node("wait", c -> {
                    if (calls.incrementAndGet() == 1) {
                        new CountDownLatch(1).await(); // interrupted by the close
                    }
                    return "done";
                })
                .fallback(failure -> "fallback");
        FlowPlan<String, Void> plan = f.build();
        submitLost(plan, "order-1", 2);
        try (FlowService service = service(plan).closeTimeout(Duration.ZERO).start()) {
            Await.until("the node has begun", () -> calls.get() >= 1);
            assertThat(service.entries("order-1")).extracting(StoredEntry::kind).contains("BEGUN");
        }
        assertThat(database.query("SELECT losses FROM raddle_run")).isEqualTo("2");
        assertThat(database.query("SELECT count(*) FROM raddle_entry WHERE kind = 'ATTEMPT_BEGAN'"))
                .isEqualTo("0");
        try (FlowService service = service(plan).start()) {
            assertThat(service.await("order-1").state()).isEqualTo(RunState.SUCCESS);
            assertThat(service.entries("order-1"))
                    .filteredOn(entry -> entry.kind().equals("NODE"))
                    .extracting(StoredEntry::via)
                    .containsExactly("ACTION");
        }
    }

    // Compensations.

    private FlowPlan<String, String> failing(CheckedFunction.V2<NodeContext<?>, String> undo, int attempts) {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> first = f.node("first", c -> "first").compensate(value -> calls.addAndGet(100));
        Node<String> pay = f.node("pay", first, value -> "payment of " + value)
                .compensateWith(undo)
                .compensationRetry(RetryPolicy.attempts(attempts));
        return f.returning(f.node("ship", pay, payment -> {
            throw new IllegalStateException("out of stock");
        }));
    }

    @Test
    void a_compensation_works_in_the_transaction_in_which_it_is_recorded() throws Exception {
        database.execute("CREATE TABLE refund (run text, value text)");
        FlowPlan<String, String> plan = failing(
                (c, payment) -> {
                    try (PreparedStatement insert =
                            JdbcNodes.connection(c).prepareStatement("INSERT INTO refund VALUES (?, ?)")) {
                        insert.setString(1, c.param() + " " + c.read("first"));
                        insert.setString(2, payment);
                        insert.executeUpdate();
                    }
                    if (calls.incrementAndGet() == 1) {
                        throw new IllegalStateException("rolled back");
                    }
                },
                2);
        try (FlowService service = service(plan).start()) {
            service.submit("order", "order-1", "1");
            assertThat(service.await("order-1").state()).isEqualTo(RunState.FAILED);
            assertThat(calls).hasValue(102);
            assertThat(database.query("SELECT string_agg(run || ': ' || value, ', ') FROM refund"))
                    .isEqualTo("1 first: payment of first");
            assertThat(service.entries("order-1"))
                    .extracting(StoredEntry::kind)
                    .containsSubsequence("COMPENSATING", "UNDO_FAILED", "COMPENSATED", "COMPENSATED", "ENDED");
        }
    }

    @Test
    void a_compensation_whose_connection_breaks_is_repeated_without_a_retry_policy() throws Exception {
        database.execute("CREATE TABLE refund (run text)");
        FlowPlan<String, String> plan = failing(
                (c, payment) -> {
                    try (Statement statement = JdbcNodes.connection(c).createStatement()) {
                        statement.execute("INSERT INTO refund VALUES ('1')");
                        if (calls.incrementAndGet() == 1) {
                            statement.execute("SELECT pg_terminate_backend(pg_backend_pid())");
                        }
                    }
                },
                1);
        try (FlowService service = service(plan).start()) {
            service.submit("order", "order-1", "1");
            assertThat(service.await("order-1").state()).isEqualTo(RunState.FAILED);
            assertThat(database.query("SELECT count(*) FROM refund")).isEqualTo("1");
            assertThat(calls).hasValue(102);
        }
    }

    @Test
    void a_run_that_cannot_be_undone_is_stuck_and_goes_on_undoing_when_it_is_run_again() throws Exception {
        FlowPlan<String, String> plan = failing(
                (c, payment) -> {
                    if (calls.incrementAndGet() % 100 <= 2) {
                        throw new IllegalStateException("bank is closed");
                    }
                },
                2);
        try (FlowService service = service(plan).start()) {
            service.submit("order", "order-1", "1");
            StoredRun stuck = service.await("order-1");
            assertThat(stuck.state()).isEqualTo(RunState.STUCK);
            assertThat(stuck.problem()).contains("it is FAILED", "node \"pay\" failed", "bank is closed");
            assertThat(calls).as("two attempts, and the other node").hasValue(102);

            assertThat(service.rerun("order-1")).isTrue();
            StoredRun undone = service.await("order-1");
            assertThat(undone.state()).isEqualTo(RunState.FAILED);
            assertThat(undone.problem()).isNull();
            assertThat(calls).as("nothing is undone twice").hasValue(103);
            assertThat(service.entries("order-1"))
                    .filteredOn(entry -> entry.kind().equals("COMPENSATED"))
                    .extracting(StoredEntry::node)
                    .containsExactly("first", "pay");
        }
    }

    @Test
    void a_subflow_that_cannot_be_undone_makes_the_run_stuck_and_goes_on_undoing_when_it_is_run_again()
            throws Exception {
        CheckedFunction.V2<NodeContext<?>, String> undo = (c, payment) -> {
            if (calls.incrementAndGet() % 100 <= 2) {
                throw new IllegalStateException("bank is closed");
            }
            calls.addAndGet(c.read("first").equals("first") && payment.equals("payment of first") ? 1_000 : 0);
        };
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> order = f.node("order", NodeContext::param).compensate(value -> calls.addAndGet(10_000));
        FlowPlan<String, String> plan = f.returning(f.subflow("paying", failing(undo, 2), order));
        try (FlowService service = service(plan).start()) {
            service.submit("order", "order-1", "1");
            StoredRun stuck = service.await("order-1");
            assertThat(stuck.state()).isEqualTo(RunState.STUCK);
            assertThat(stuck.problem()).contains("it is FAILED", "node \"paying/pay\" failed", "bank is closed");
            assertThat(calls).as("two attempts, and the other nodes").hasValue(10_102);

            assertThat(service.rerun("order-1")).isTrue();
            assertThat(service.await("order-1").state()).isEqualTo(RunState.FAILED);
            assertThat(calls).as("nothing runs or is undone twice").hasValue(11_103);
            assertThat(service.entries("order-1"))
                    .filteredOn(entry -> entry.kind().equals("COMPENSATED"))
                    .extracting(StoredEntry::node)
                    .containsExactly("order", "paying/pay");
        }
    }
}
