package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users, other programs and clocks may do to a service. */
@Timeout(120)
class AttackTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private static FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> one = f.node("one", c -> "one " + c.param());
        Node<String> two = f.node("two", one, value -> "two " + value);
        return f.returning(two);
    }

    private FlowService start() {
        return database.service().register(plan(), "1", FlowCodec.text()).start();
    }

    @Test
    void rows_that_others_have_inserted_do_not_stop_a_service() throws Exception {
        try (FlowService service = start()) {
            database.execute("INSERT INTO raddle_task (task_name, task_instance, task_data, execution_time, picked,"
                    + " version) VALUES ('flow/1', 'ghost', '\\xaced0005', now() - interval '1 day', false, 1),"
                    + " ('other', 'ghost', NULL, now() - interval '1 day', false, 1),"
                    + " ('flow/1', 'dead', NULL, now() - interval '1 day', true, 1)");
            database.execute("UPDATE raddle_task SET last_heartbeat = now() - interval '1 day', picked_by = 'ghost'"
                    + " WHERE task_instance = 'dead'");
            database.execute("INSERT INTO raddle_entry (run_id, epoch, number, kind) VALUES ('nobody', 1, 1, 'WORK')");
            service.submit("flow", "run-1", "x");

            FlowServiceTest.hasSucceeded(service.await("run-1"));
            Await.until(
                    "rows without a run are removed",
                    () -> count("SELECT count(*) FROM raddle_task WHERE task_instance IN ('ghost', 'dead')")
                            == 1); // that of an unknown task stays: another program may know it
        }
    }

    private int count(String sql) {
        try {
            return Integer.parseInt(database.query(sql));
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_damaged_journal_stops_its_run_and_says_why() throws Exception {
        try (FlowService service = start()) {
            database.execute(
                    "INSERT INTO raddle_run (id, flow, version, parameter) VALUES ('run-1', 'flow', '1', 'x')");
            database.execute("INSERT INTO raddle_entry (run_id, epoch, number, kind, node, state) VALUES"
                    + " ('run-1', 0, 0, 'NODE', 'one', 'SUCC')");
            database.execute("INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)"
                    + " VALUES ('flow/1', 'run-1', now() - interval '1 day', false, 1)");
            StoredRun run = TestDatabase.runWithProblem(service, "run-1");
            assertThat(run.state()).isEqualTo(RunState.WAITING);
            assertThat(run.problem()).contains("row 0 of epoch 0");
            assertThat(service.cancel("run-1", "damaged")).isTrue();
        }
    }

    @Test
    void a_run_that_was_removed_while_it_runs_ends_nowhere() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } finally {
                interrupted.countDown();
            }
            return "never";
        });
        try (FlowService service = database.service()
                .register(f.returning(node), "1", FlowCodec.text())
                .start()) {
            service.submit("flow", "run-1", null);
            begun.await();
            database.execute("DELETE FROM raddle_run");
            interrupted.await();
            Await.until(
                    "the row of its task is removed",
                    () -> count("SELECT count(*) FROM raddle_task WHERE task_name = 'flow/1'") == 0);
        }
    }

    private static void fail(boolean withError, String message) {
        if (withError) {
            throw new LinkageError(message);
        }
        throw new IllegalStateException(message);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(booleans = {false, true})
    void a_codec_that_throws_fails_the_node_or_stops_the_run_until_it_works(boolean withError) throws Exception {
        AtomicBoolean isBroken = new AtomicBoolean(true);
        FlowCodec codec = new FlowCodec() {
            @Override
            public byte[] encode(Object value) throws IOException {
                if (value.equals("bad")) {
                    fail(withError, "cannot encode");
                }
                return FlowCodec.text().encode(value);
            }

            @Override
            public Object decode(byte[] bytes) throws IOException {
                if (isBroken.get()) {
                    fail(withError, "cannot decode");
                }
                return FlowCodec.text().decode(bytes);
            }
        };
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        FlowPlan<String, String> plan =
                f.returning(f.node("node", c -> c.param().equals("x") ? "bad" : c.param()));
        try (FlowService service = database.service().register(plan, "1", codec).start()) {
            assertThatThrownBy(() -> service.submit("flow", "run-0", "bad"))
                    .hasMessageContaining("the codec cannot encode the parameter of run \"run-0\"");
            service.submit("flow", "run-1", "good");
            assertThat(TestDatabase.runWithProblem(service, "run-1").problem()).contains("cannot decode");
            isBroken.set(false);
            database.execute("UPDATE raddle_task SET execution_time = now() - interval '1 second'");
            FlowServiceTest.hasSucceeded(service.await("run-1"));

            service.submit("flow", "run-2", "x");
            assertThat(service.await("run-2").failure().message()).contains("cannot encode the value of node \"node\"");
        }
    }

    private sealed interface Payment permits Cash, Card {}

    private record Cash() implements Payment {}

    private record Card(String number) implements Payment {}

    /** Stores payments and strings, as one version of a program that knows some of the records. */
    private static FlowCodec payments(boolean knowsCards) {
        return new FlowCodec() {
            @Override
            public byte[] encode(Object value) throws IOException {
                return FlowCodec.text()
                        .encode(
                                switch (value) {
                                    case Cash cash -> "cash";
                                    case Card card -> "card " + card.number();
                                    default -> "text " + value;
                                });
            }

            @Override
            public Object decode(byte[] bytes) throws IOException {
                String[] parts = ((String) FlowCodec.text().decode(bytes)).split(" ", 2);
                return switch (parts[0]) {
                    case "cash" -> new Cash();
                    case "text" -> parts[1];
                    default -> {
                        if (!knowsCards) {
                            throw new IOException("no payment is named " + parts[0]);
                        }
                        yield new Card(parts[1]);
                    }
                };
            }
        };
    }

    @Test
    void a_run_with_a_record_of_a_grown_sealed_type_waits_for_a_worker_that_knows_it() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<Payment> payment = f.node("payment", c -> c.param().equals("cash") ? new Cash() : new Card("17"));
        Node<String> shipped = f.signal("shipped", String.class).needs(order(payment));
        FlowPlan<String, String> plan = f.returning(f.node("end", payment, shipped, (paid, by) -> paid + " by " + by));
        try (FlowService service =
                database.service().register(plan, "1", payments(true)).start()) {
            for (String parameter : List.of("cash", "card")) {
                service.submit("order", parameter, parameter);
                Await.until(
                        "the run waits",
                        () -> service.status(parameter).orElseThrow().waitsUntil() != null);
            }
        }
        try (FlowService old =
                database.service().register(plan, "1", payments(false)).start()) {
            assertThat(old.signal("cash", "shipped", "Ann")).isTrue();
            assertThat(old.signal("card", "shipped", "Bob")).isTrue();
            assertThat(value(old, "cash")).isEqualTo("Cash[] by Ann");
            assertThat(TestDatabase.runWithProblem(old, "card").problem()).contains("no payment is named card");
        }
        try (FlowService service =
                database.service().register(plan, "1", payments(true)).start()) {
            database.execute("UPDATE raddle_task SET execution_time = now() - interval '1 second'");
            assertThat(value(service, "card")).isEqualTo("Card[number=17] by Bob");
        }
    }

    private static Object value(FlowService service, String run) throws Exception {
        FlowServiceTest.hasSucceeded(service.await(run, Await.BOUND));
        return service.value(run);
    }

    @Test
    void long_parameters_are_refused_with_advice() {
        try (FlowService service = start()) {
            assertThatThrownBy(() -> service.submit("flow", "run-1", "x".repeat(50_000_000)))
                    .hasMessageContaining("has 50000000 bytes, and at most 1000000 are stored; store it elsewhere");
        }
    }

    @Test
    void a_changed_plan_under_the_same_version_waits_with_a_problem_until_it_is_cancelled() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> a = f.node("a", c -> "a");
        Node<String> b = f.node("b", a, value -> {
            runs.incrementAndGet();
            begun.countDown();
            new CountDownLatch(1).await();
            return "b";
        });
        FlowPlan<String, String> before = f.returning(b);
        try (FlowService service = database.service()
                .register(before, "1", FlowCodec.text())
                .closeTimeout(Duration.ofMillis(100))
                .start()) {
            service.submit("flow", "run-1", null);
            begun.await();
        }
        try (FlowService service = start()) {
            StoredRun run = TestDatabase.runWithProblem(service, "run-1");
            assertThat(run.problem())
                    .isEqualTo(
                            "run \"run-1\" began with another plan of flow \"flow\", with other nodes or dependencies,"
                                    + " under the same version; register each plan under a version of its own, and"
                                    + " the plan of this run under its version until it has ended");
            assertThat(run.state()).isEqualTo(RunState.WITHOUT_VERSION);
            assertThat(service.list(RunFilter.all().in(RunState.WITHOUT_VERSION)))
                    .containsExactly(run);
            assertThat(service.list(RunFilter.all().in(RunState.WAITING))).isEmpty();

            service.cancel("run-1", "its plan is gone");
            assertThat(service.await("run-1").state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @Test
    void a_closed_service_gives_up_its_runs_and_another_continues_them_at_once() throws Exception {
        AtomicInteger firsts = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean mayEnd = new AtomicBoolean();
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> a = f.node("a", c -> "a" + firsts.incrementAndGet());
        Node<String> b = f.node("b", a, value -> {
            begun.countDown();
            if (!mayEnd.get()) {
                new CountDownLatch(1).await();
            }
            return value;
        });
        FlowPlan<String, String> plan = f.returning(b);
        FlowService first = database.service()
                .register(plan, "1", FlowCodec.text())
                .closeTimeout(Duration.ofMillis(200))
                .start();
        first.submit("flow", "run-1", null);
        begun.await();
        first.close();
        mayEnd.set(true);
        try (FlowService second = database.service()
                .register(plan, "1", FlowCodec.text())
                .heartbeat(Duration.ofMinutes(1), 4)
                .start()) {
            FlowServiceTest.hasSucceeded(second.await("run-1"));
            assertThat(second.value("run-1")).isEqualTo("a1");
            assertThat(second.status("run-1").orElseThrow().claims()).isEqualTo(2);
        }
    }

    @Test
    void clocks_that_differ_by_an_hour_or_jump_do_not_lose_or_repeat_runs() throws Exception {
        database.execute(Transfers.TABLES);
        AtomicInteger looks = new AtomicInteger();
        try (TestPool jumping = new TestPool(
                        database.url(),
                        24,
                        sql -> sql.equals("SELECT clock_timestamp()")
                                ? "SELECT clock_timestamp() + interval '" + 3_600 * (looks.incrementAndGet() % 3 - 1)
                                        + " seconds'"
                                : sql);
                FlowService ahead = transfers(jumping, "ahead");
                FlowService right = transfers(database.pool(), "right")) {
            for (int i = 0; i < 60; i++) {
                right.submit(Transfers.FLOW, "run-" + i, Transfers.parameter(1, 2, 1));
            }
            for (int i = 0; i < 60; i++) {
                FlowServiceTest.hasSucceeded(right.await("run-" + i));
            }
            assertThat(database.query("SELECT balance FROM account WHERE id = 1"))
                    .isEqualTo("940");
            assertThat(database.query("SELECT balance FROM account WHERE id = 2"))
                    .isEqualTo("1060");
            assertThat(database.query("SELECT count(*) FROM attempt WHERE again"))
                    .isEqualTo("0");
            assertThat(ahead.list(RunFilter.all())).hasSize(60);
        }
    }

    private static FlowService transfers(TestPool pool, String name) {
        Transfers transfers = new Transfers(pool, name, Duration.ofMillis(20), (node, point) -> {});
        return FlowService.on(pool)
                .applySchema()
                .register(transfers.plan(), "1", FlowCodec.text())
                .name(name)
                .pollInterval(Duration.ofMillis(20))
                .heartbeat(Duration.ofMillis(200), 5)
                .start();
    }

    @Test
    void a_lock_that_somebody_holds_on_a_run_delays_only_what_needs_it() throws Exception {
        try (FlowService service = start();
                Connection locker = database.pool().getConnection()) {
            service.submit("flow", "run-1", "x");
            service.await("run-1");
            locker.setAutoCommit(false);
            database.execute("INSERT INTO raddle_run (id, flow, version) VALUES ('held', 'flow', '1')");
            Database.<Boolean>statement(
                    locker, "SELECT 1 FROM raddle_run WHERE id = 'held' FOR UPDATE", s -> s.execute());
            service.submit("flow", "run-2", "x");

            FlowServiceTest.hasSucceeded(service.await("run-2"));
            locker.rollback();
        }
    }

    @Test
    void waiting_for_a_run_ends_with_its_timeout() throws Exception {
        try (FlowService service = start()) {
            database.execute("INSERT INTO raddle_run (id, flow, version) VALUES ('run-1', 'flow', '1')");

            assertThatThrownBy(() -> service.await("run-1", Duration.ofMillis(50)))
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("run \"run-1\" has not ended within PT0.05S, it is WAITING");
            assertThatThrownBy(() -> service.await("run-2", Duration.ofMillis(50)))
                    .hasMessageContaining("there is no run \"run-2\"");
        }
    }
}
