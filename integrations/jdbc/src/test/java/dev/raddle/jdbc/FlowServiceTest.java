package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.after;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowJournal;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class FlowServiceTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final AtomicInteger actions = new AtomicInteger();

    private FlowPlan<String, String> greeting() {
        FlowBuilder<String> f = FlowPlan.define("greeting", String.class);
        Node<String> name = f.node("name", c -> {
            actions.incrementAndGet();
            return c.param().strip();
        });
        Node<String> text = f.node("text", name, n -> "Hello, " + n);
        return f.returning(text);
    }

    static void hasSucceeded(StoredRun run) {
        assertThat(run.state()).as(run.toString()).isEqualTo(RunState.SUCCESS);
    }

    private FlowService start() {
        return database.service().register(greeting(), "1", FlowCodec.text()).start();
    }

    @Test
    void a_submitted_run_ends_with_the_value_of_its_plan() throws Exception {
        try (FlowService service = start()) {
            assertThat(service.submit("greeting", "run-1", " Ada ")).isTrue();

            StoredRun run = service.await("run-1");

            hasSucceeded(run);
            assertThat(run.claims()).isEqualTo(1);
            assertThat(service.value("run-1")).isEqualTo("Hello, Ada");
        }
    }

    @Test
    void the_same_run_submitted_by_ten_threads_runs_once() throws Exception {
        try (FlowService service = start();
                ExecutorService threads = Executors.newFixedThreadPool(10)) {
            CountDownLatch together = new CountDownLatch(1);
            List<Future<Boolean>> submitted = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                submitted.add(threads.submit(() -> {
                    together.await();
                    return service.submit("greeting", "run-1", "Ada");
                }));
            }
            together.countDown();
            int stored = 0;
            for (Future<Boolean> each : submitted) {
                stored += each.get() ? 1 : 0;
            }
            service.await("run-1");

            assertThat(stored).isEqualTo(1);
            assertThat(actions).hasValue(1);
        }
    }

    @Test
    void another_parameter_or_flow_under_the_same_id_is_refused_with_the_difference() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("farewell", String.class);
        FlowPlan<String, String> farewell = f.returning(f.node("text", c -> "Goodbye, " + c.param()));
        try (FlowService service = database.service()
                .register(greeting(), "1", FlowCodec.text())
                .register(farewell, "1", FlowCodec.text())
                .start()) {
            service.submit("greeting", "run-1", "Ada");

            assertThat(service.submit("greeting", "run-1", "Ada")).isFalse();
            assertThatThrownBy(() -> service.submit("greeting", "run-1", "Ade secret"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another parameter")
                    .hasMessageContaining("differs from byte 2 on")
                    .hasMessageNotContaining("secret");
            assertThatThrownBy(() -> service.submit("farewell", "run-1", "Ada"))
                    .hasMessageContaining("flow \"greeting\", and this is flow \"farewell\"");
        }
    }

    @Test
    void the_failure_of_a_run_is_not_one_that_was_handled() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("handled", String.class);
        Node<String> handled = f.node("handled", c -> {
            throw new IllegalStateException("handled");
        });
        Node<String> broken = f.node("broken", after(handled), (c, ended) -> {
            throw new IllegalStateException("broken");
        });
        FlowPlan<String, String> plan = f.returning(broken);
        assertThat(plan.run("p").failure()).hasMessage("broken");
        try (FlowService service =
                database.service().register(plan, "1", FlowCodec.text()).start()) {
            service.submit("handled", "run-1", "p");
            assertThat(service.await("run-1", Await.BOUND).failure().message()).isEqualTo("broken");
        }
    }

    @Test
    void a_closed_service_refuses_runs() throws Exception {
        FlowService service = database.service()
                .register(FlowPlan.define("flow", String.class).build(), "1", FlowCodec.text())
                .start();
        service.close();
        assertThatThrownBy(() -> service.submit("flow", "run-1", "p"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the service is closed, and run \"run-1\" was not submitted; submit runs before close()");
        assertThat(database.query("SELECT count(*) FROM raddle_run")).isEqualTo("0");
    }

    @Test
    void a_failed_node_fails_the_run_with_its_exception() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("broken", String.class);
        Node<String> node = f.node("node", c -> {
            throw new IllegalStateException("no \0 luck");
        });
        try (FlowService service = database.service()
                .register(f.returning(node), "1", FlowCodec.text())
                .start()) {
            service.submit("broken", "run-1", null);
            StoredRun run = service.await("run-1");

            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(run.failure().type()).isEqualTo("java.lang.IllegalStateException");
            assertThat(run.failure().message()).isEqualTo("no ? luck");
            assertThat(run.failure().trace()).contains("FlowServiceTest");
            assertThatThrownBy(() -> service.value("run-1")).hasMessageContaining("it is FAILED");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void a_failed_run_can_run_again_from_what_it_had(String queryMode) throws Exception {
        FlowBuilder<String> f = FlowPlan.define("twice", String.class);
        AtomicInteger tries = new AtomicInteger();
        Node<String> first = f.node("first", c -> "first " + actions.incrementAndGet());
        Node<String> second = f.node("second", first, value -> {
            if (tries.incrementAndGet() == 1) {
                throw new IllegalStateException("not yet");
            }
            return value + ", second " + tries.get();
        });
        try (TestPool pool = new TestPool(database.url() + "&preferQueryMode=" + queryMode, 24);
                FlowService service = database.service(pool)
                        .register(f.returning(second), "1", FlowCodec.text())
                        .start()) {
            service.submit("twice", "run-1", null);
            assertThat(service.await("run-1").state()).isEqualTo(RunState.FAILED);

            assertThat(service.rerun("run-1")).isTrue();
            assertThat(service.await("run-1")).satisfies(FlowServiceTest::hasSucceeded);
            assertThat(service.value("run-1")).isEqualTo("first 1, second 2");

            assertThat(service.rerun("run-1", "second")).isTrue();
            assertThat(service.await("run-1")).satisfies(FlowServiceTest::hasSucceeded);
            assertThat(service.value("run-1")).isEqualTo("first 1, second 3");
            assertThatThrownBy(() -> service.rerun("run-1", "third")).hasMessageContaining("no node \"third\"");
        }
    }

    @Test
    void a_service_without_the_flow_has_the_journal_without_values_and_runs_only_recorded_nodes_again()
            throws Exception {
        try (FlowService service = start();
                FlowService other = database.service().start()) {
            service.submit("greeting", "run-1", "Ada");
            service.await("run-1");

            List<StoredEntry> entries = other.entries("run-1");
            assertThat(entries.stream().map(StoredEntry::kind)).containsExactly("BEGUN", "NODE", "NODE", "ENDED");
            assertThat(entries.toString()).doesNotContain("Ada");
            assertThat(entries.stream().map(StoredEntry::node)).containsExactly(null, "name", "text", null);
            assertThat(entries.get(1).state()).isEqualTo("SUCCESS");
            assertThat(other.entries("run-2")).isEmpty();

            assertThatThrownBy(() -> other.rerun("run-1", "name", "third"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no entry of node \"third\"")
                    .hasMessageContaining("entries of [name, text]");
            assertThat(other.status("run-1").orElseThrow().state()).isEqualTo(RunState.SUCCESS);
            assertThat(other.rerun("run-1", "name")).isTrue();
            service.await("run-1");
            assertThat(actions).hasValue(2);
        }
    }

    @Test
    void a_run_that_waits_for_its_timeout_is_cancelled_from_another_service() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("long", String.class);
        Node<String> node = f.node("node", c -> {
            begun.countDown();
            new CountDownLatch(1).await();
            return "never";
        });
        try (FlowService service = database.service()
                        .register(f.returning(node), "1", FlowCodec.text(), RunOptions.defaults())
                        .start();
                FlowService other = database.service().start()) {
            service.submit("long", "run-1", null);
            begun.await();

            assertThat(other.status("run-1").orElseThrow().state()).isEqualTo(RunState.RUNNING);
            assertThat(other.cancel("run-1", "not needed")).isTrue();

            assertThat(other.await("run-1").state()).isEqualTo(RunState.CANCELLED);
            assertThat(other.cancel("run-1", "again")).isFalse();
        }
    }

    @Test
    void a_run_that_no_worker_has_begun_is_cancelled_at_once() throws Exception {
        try (FlowService service = start()) {
            service.submit("greeting", "run-1", "Ada");
            service.await("run-1");
        }
        database.execute("INSERT INTO raddle_run (id, flow, version) VALUES ('run-2', 'greeting', '1')");
        try (FlowService service = database.service().start()) {
            assertThat(service.cancel("run-2", "not needed")).isTrue();
            assertThat(service.status("run-2").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @Test
    void a_run_of_a_version_that_nobody_has_is_listed_as_such_and_continues_when_somebody_has_it() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("greeting", String.class);
        FlowPlan<String, String> second = f.returning(f.node("text", c -> "Hi, " + c.param()));
        try (FlowService both = database.service()
                .register(greeting(), "1", FlowCodec.text())
                .register(second, "2", FlowCodec.text())
                .start()) {
            both.submit("greeting", "new", "Ada");
            assertThat(both.await("new").version()).isEqualTo("2");
        }
        database.execute("INSERT INTO raddle_run (id, flow, version) VALUES ('old', 'greeting', '1')");
        database.execute("INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)"
                + " VALUES ('greeting/1', 'old', now(), false, 1)");
        database.execute("UPDATE raddle_run SET parameter = 'Bob' WHERE id = 'old'");
        try (FlowService onlyNew =
                database.service().register(second, "2", FlowCodec.text()).start()) {
            onlyNew.submit("greeting", "newer", "Cy");
            onlyNew.await("newer");

            assertThat(onlyNew.status("old").orElseThrow().state()).isEqualTo(RunState.WITHOUT_VERSION);
            assertThat(onlyNew.list(RunFilter.all().in(RunState.WITHOUT_VERSION)))
                    .extracting(StoredRun::id)
                    .containsExactly("old");
            assertThat(onlyNew.list(RunFilter.all().in(RunState.WAITING))).isEmpty();
        }
        try (FlowService onlyOld = start()) {
            assertThat(onlyOld.await("old")).satisfies(FlowServiceTest::hasSucceeded);
            assertThat(onlyOld.value("old")).isEqualTo("Hello, Bob");
        }
    }

    @Test
    void ids_are_data_also_if_they_look_like_sql() throws Exception {
        String id = "'; DROP TABLE raddle_run; --\" \\ % _ é \n";
        try (FlowService service = start()) {
            service.submit("greeting", id, "Ada");

            assertThat(service.await(id).id()).isEqualTo(id);
            assertThat(service.list(RunFilter.all().flow("greeting")))
                    .extracting(StoredRun::id)
                    .containsExactly(id);
            assertThatThrownBy(() -> service.submit("greeting", "a\0b", "Ada"))
                    .hasMessageContaining("none of them zero");
            assertThatThrownBy(() -> service.submit("greeting", "a\uD800", "Ada"))
                    .hasMessageContaining("no half of a surrogate pair");
            assertThatThrownBy(() -> service.submit("greeting", "", "Ada")).hasMessageContaining("it had 0");
            assertThatThrownBy(() -> service.submit("greeting", "x".repeat(201), "Ada"))
                    .hasMessageContaining("it had 201");
        }
    }

    @Test
    void texts_that_the_database_cannot_keep_are_refused() throws Exception {
        FlowService.Builder builder = database.service();
        for (String text : List.of("a\0b", "a\uD800")) {
            FlowBuilder<String> f = FlowPlan.define(text, String.class);
            FlowPlan<String, String> named = f.returning(f.node("node", () -> "x"));
            FlowBuilder<String> g = FlowPlan.define("flow", String.class);
            FlowPlan<String, String> plan = g.returning(g.node(text, () -> "x"));

            assertThatThrownBy(() -> builder.register(named, "1", FlowCodec.text()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("the name of a flow must have no character zero")
                    .hasMessageContaining("was \"a?");
            assertThatThrownBy(() -> builder.register(plan, "1", FlowCodec.text()))
                    .hasMessageStartingWith("the id of a node must have no character zero");
            assertThatThrownBy(() -> builder.name(text)).hasMessageStartingWith("the name of a worker must");
            assertThatThrownBy(() -> RunFilter.all().flow(text)).hasMessageStartingWith("the name of a flow must");
            assertThatThrownBy(() -> RunFilter.all().after(text)).hasMessageStartingWith("the id of a run must");
        }
    }

    @Test
    void options_of_a_single_run_are_refused() {
        FlowService.Builder builder = database.service();
        RunOptions single = RunOptions.defaults()
                .withDeadline(Deadline.after(TimeSource.system(), Duration.ofSeconds(1)))
                .only("name")
                .withJournal(FlowJournal.inMemory())
                .rerun("name");
        assertThatThrownBy(() -> builder.register(greeting(), "1", FlowCodec.text(), single))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "flow \"greeting\" must be registered with options that fit all of its runs, and"
                                + " not with withDeadline, only, withJournal, rerun; use withTimeout");
        RunOptions fitting = RunOptions.timeout(Duration.ofDays(1)).inCallersThread();
        assertThat(builder.register(greeting(), "1", FlowCodec.text(), fitting)).isSameAs(builder);
    }

    @Test
    void a_state_of_another_version_is_named() throws Exception {
        try (FlowService service = start()) {
            service.submit("greeting", "run-1", "Ada");
            service.await("run-1");
            database.execute("UPDATE raddle_run SET status = 'NONSENSE'");

            assertThatThrownBy(() -> service.status("run-1"))
                    .isInstanceOf(DatabaseException.class)
                    .cause()
                    .hasMessageContaining("run \"run-1\" has the unknown state \"NONSENSE\"");
        }
    }

    @Test
    void very_long_durations_are_refused_or_bounded() throws Exception {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
        FlowService.Builder builder = database.service();
        assertThatThrownBy(() -> builder.heartbeat(longest, 10)).hasMessageContaining("100 ms to PT1H");
        assertThatThrownBy(() -> builder.heartbeat(Duration.ofSeconds(1), Integer.MAX_VALUE))
                .hasMessageContaining("4 to 10000 that may be missing");
        assertThatThrownBy(() -> builder.pollInterval(longest))
                .hasMessageContaining("10 ms to PT1H, was PT2562047788015215H30M7S");
        try (FlowService service = builder.closeTimeout(longest)
                .retention(longest)
                .parkAfter(longest)
                .register(greeting(), "1", FlowCodec.text())
                .start()) {
            service.submit("greeting", "run-1", "Ada");
            service.await("run-1");
            assertThat(new Retention(new Database(database.pool()), Duration.ofDays(36_500)).remove())
                    .isZero();
        }
    }

    @Test
    void a_submission_in_a_transaction_of_the_caller_is_rolled_back_with_it() throws Exception {
        try (FlowService service = start();
                var connection = database.pool().getConnection()) {
            connection.setAutoCommit(false);
            service.submit(connection, "greeting", "run-1", "Ada");
            connection.rollback();
            assertThat(service.status("run-1")).isEmpty();

            service.submit(connection, "greeting", "run-1", "Ada");
            connection.commit();
            assertThat(service.await("run-1")).satisfies(FlowServiceTest::hasSucceeded);
        }
    }

    @Test
    void a_service_needs_the_tables() {
        assertThatThrownBy(() -> FlowService.on(database.pool()).start())
                .hasMessageContaining("META-INF/raddle/jdbc/V1__runs_of_flows.sql")
                .hasMessageContaining("applySchema()");
    }

    @Test
    void a_signal_reaches_the_run_once_also_after_another_worker_has_taken_it_over() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("approval", String.class);
        Node<String> ask = f.node("ask", c -> "asked " + actions.incrementAndGet());
        Node<String> approved = f.signal("approved", String.class);
        Node<String> signed = f.signal("signed", String.class);
        Node<String> end = f.node("end", ask, approved, signed, (a, b, c) -> a + " " + b + " " + c);
        FlowPlan<String, String> plan = f.returning(end);
        try (FlowService first = database.service()
                .register(plan, "1", FlowCodec.text())
                .closeTimeout(Duration.ofMillis(100))
                .start()) {
            first.submit("approval", "run-1", null);
            assertThatThrownBy(() -> first.signal("run-1", "approved", 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("signal \"approved\" takes a java.lang.String");
            assertThatThrownBy(() -> first.signal("run-1", "ask", "yes"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("node \"ask\" of flow \"approval\" does not wait for a signal");
            assertThat(first.signal("run-1", "approved", "yes")).isTrue();
            assertThat(first.signal("run-1", "approved", "no")).isFalse();
            Await.until("the signal is recorded", () -> {
                try {
                    return "1".equals(database.query("SELECT count(*) FROM raddle_entry WHERE kind = 'SIGNAL'"));
                } catch (java.sql.SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        try (FlowService second =
                database.service().register(plan, "1", FlowCodec.text()).start()) {
            second.signal("run-1", "signed", "me");
            hasSucceeded(second.await("run-1"));

            assertThat(second.value("run-1")).isEqualTo("asked 1 yes me");
            assertThat(second.signal("run-1", "signed", "late")).isFalse();
        }
    }

    @Test
    void a_run_sleeps_across_workers_until_the_same_moment() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("sleeper", String.class);
        Node<Void> sleep = f.sleep("sleep", Duration.ofMillis(700));
        Node<String> end = f.node("end", sleep, nothing -> "awake");
        FlowPlan<String, String> plan = f.returning(end);
        try (FlowService first = database.service()
                .register(plan, "1", FlowCodec.text())
                .closeTimeout(Duration.ofMillis(10))
                .start()) {
            first.submit("sleeper", "run-1", null);
            Await.until("it sleeps", () -> {
                try {
                    return "1".equals(database.query("SELECT count(*) FROM raddle_entry WHERE kind = 'SLEEP'"));
                } catch (java.sql.SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        try (FlowService second =
                database.service().register(plan, "1", FlowCodec.text()).start()) {
            hasSucceeded(second.await("run-1"));
            assertThat(database.query("SELECT count(*) FROM raddle_entry WHERE kind = 'SLEEP'"))
                    .isEqualTo("1");
        }
    }
}
