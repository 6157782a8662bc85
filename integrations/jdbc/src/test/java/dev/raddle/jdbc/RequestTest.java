package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a service is asked to do with a run: to run it again, to signal it, to cancel it, to wait for it. */
@Timeout(120)
class RequestTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final AtomicInteger offers = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();

    /** A flow that makes an offer and waits for its approval. */
    private FlowPlan<String, String> approval() {
        FlowBuilder<String> f = FlowPlan.define("approval", String.class);
        Node<String> asked =
                f.node("asked", () -> "offer " + offers.incrementAndGet()).compensate(value -> {});
        Node<String> approved = f.signal("approved", String.class).needs(order(asked));
        return f.returning(f.node("end", asked, approved, (offer, name) -> {
            if (failures.getAndDecrement() > 0) {
                throw new IllegalStateException("no luck");
            }
            return offer + " approved by " + name;
        }));
    }

    private FlowService started(FlowPlan<String, ?> plan) {
        return database.service().register(plan, "1", FlowCodec.text()).start();
    }

    private static Object valueOf(FlowService service, String id) throws Exception {
        FlowServiceTest.hasSucceeded(service.await(id, Await.BOUND));
        return service.value(id);
    }

    @Test
    void a_signal_downstream_of_a_node_that_runs_again_is_asked_for_again() throws Exception {
        try (FlowService service = started(approval())) {
            service.submit("approval", "run-1", "p");
            assertThat(service.signal("run-1", "approved", "Ann")).isTrue();
            assertThat(valueOf(service, "run-1")).isEqualTo("offer 1 approved by Ann");

            assertThat(service.rerun("run-1", "asked")).isTrue();
            assertThat(service.signal("run-1", "approved", "Bob")).isTrue();
            assertThat(valueOf(service, "run-1")).isEqualTo("offer 2 approved by Bob");

            assertThat(service.rerun("run-1", "end")).isTrue();
            assertThat(service.signal("run-1", "approved", "Cy")).isFalse();
            assertThat(valueOf(service, "run-1")).isEqualTo("offer 2 approved by Bob");
        }
    }

    @Test
    void a_service_without_the_plan_also_makes_a_run_ask_for_the_signal_again() throws Exception {
        try (FlowService service = started(approval());
                FlowService other = database.service().start()) {
            service.submit("approval", "run-1", "p");
            service.signal("run-1", "approved", "Ann");
            valueOf(service, "run-1");

            assertThat(other.rerun("run-1", "asked")).isTrue();
            Await.until("the signal is refused no longer", () -> service.signal("run-1", "approved", "Bob"));

            assertThat(valueOf(service, "run-1")).isEqualTo("offer 2 approved by Bob");
        }
    }

    @Test
    void a_signal_downstream_of_a_node_that_was_compensated_is_asked_for_again() throws Exception {
        failures.set(1);
        try (FlowService service = started(approval())) {
            service.submit("approval", "run-1", "p");
            service.signal("run-1", "approved", "Ann");
            assertThat(service.await("run-1", Await.BOUND).state()).isEqualTo(RunState.FAILED);

            assertThat(service.rerun("run-1")).isTrue();
            assertThat(service.signal("run-1", "approved", "Bob")).isTrue();

            assertThat(valueOf(service, "run-1")).isEqualTo("offer 2 approved by Bob");
        }
    }

    @Test
    void a_signal_downstream_of_a_map_whose_elements_may_be_others_is_asked_for_again() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("shop", String.class);
        Node<Integer> rate = f.node("rate", () -> {
            throw new IllegalStateException("no rate today");
        });
        Node<List<String>> items = f.node("items", () -> List.of("pen", "cup"));
        Node<List<String>> priced = f.map("priced", items, item -> {
                    if (item.equals("cup")) {
                        Await.until("the pen is recorded", () -> elements() == 1);
                        throw new IllegalStateException("no price of " + item);
                    }
                    return item;
                })
                .needs(after(rate));
        Node<String> approved = f.signal("approved", String.class).needs(order(priced));
        FlowPlan<String, String> plan = f.returning(approved);
        FlowCodec codec = new FlowCodec() {
            @Override
            public byte[] encode(Object value) {
                return (value instanceof List<?> ? "pen,cup" : value.toString()).getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public Object decode(byte[] bytes) {
                String text = new String(bytes, StandardCharsets.UTF_8);
                return text.contains(",") ? List.of(text.split(",")) : text;
            }
        };
        try (FlowService service = database.service().register(plan, "1", codec).start()) {
            service.submit("shop", "run-1", "p");
            assertThat(service.signal("run-1", "approved", "Ann")).isTrue();
            assertThat(service.await("run-1", Await.BOUND).state()).isEqualTo(RunState.FAILED);
        }
        try (FlowService idle =
                database.service().register(plan, "1", codec).submitOnly().start()) {
            assertThat(idle.rerun("run-1")).isTrue();
            assertThat(idle.signal("run-1", "approved", "Bob")).isTrue();
        }
    }

    private int elements() {
        try {
            return Integer.parseInt(database.query("SELECT count(*) FROM raddle_entry WHERE kind = 'ELEMENT'"));
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void a_signal_in_a_subflow_that_runs_again_is_asked_for_again() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> confirmed = inner.signal("confirmed", String.class);
        FlowBuilder<String> f = FlowPlan.define("outer", String.class);
        Node<String> ship = f.subflow("ship", inner.returning(confirmed), f.node("first", () -> "x"));
        try (FlowService service = started(f.returning(ship));
                FlowService other = database.service().start()) {
            service.submit("outer", "run-1", "p");
            service.signal("run-1", "ship/confirmed", "Ann");
            assertThat(valueOf(service, "run-1")).isEqualTo("Ann");

            service.rerun("run-1", "first");
            assertThat(service.signal("run-1", "ship/confirmed", "Bob")).isTrue();
            assertThat(valueOf(service, "run-1")).isEqualTo("Bob");

            other.rerun("run-1", "first");
            Await.until("the signal is refused no longer", () -> service.signal("run-1", "ship/confirmed", "Cy"));
            assertThat(valueOf(service, "run-1")).isEqualTo("Cy");
        }
    }

    @Test
    void a_signal_that_was_sent_in_time_while_no_worker_had_the_run_wins_over_the_timeout() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("vote", String.class);
        Node<String> vote =
                f.signal("vote", String.class).timeout(Duration.ofHours(1)).defaultValue("none");
        FlowPlan<String, String> plan = f.returning(f.node("end", after(vote), (c, ended) -> c.read(vote)));
        try (FlowService service = database.service()
                .register(plan, "1", FlowCodec.text())
                .closeTimeout(Duration.ZERO)
                .start()) {
            service.submit("vote", "run-1", "p");
            Await.until(
                    "the time of the node is recorded",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("DEADLINE")));
        }
        try (FlowService sender = database.service()
                .register(plan, "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            assertThat(sender.signal("run-1", "vote", "yes")).isTrue();
        }
        database.execute("UPDATE raddle_entry SET at = now() - interval '1 second' WHERE kind = 'DEADLINE'");

        try (FlowService service = started(plan)) {
            assertThat(valueOf(service, "run-1")).isEqualTo("yes");
        }
    }

    /** Lets a node wait at a worker that looks for signals once an hour, and signals it before its timeout passes. */
    private void signalsInTime(FlowPlan<String, String> plan, String node) throws Exception {
        try (FlowService service = database.service()
                        .register(plan, "1", FlowCodec.text())
                        .pollInterval(Duration.ofHours(1))
                        .start();
                FlowService sender = database.service()
                        .register(plan, "1", FlowCodec.text())
                        .submitOnly()
                        .start()) {
            service.submit(plan.name(), "run-1", "p");
            Await.until(
                    "the time of the node is recorded",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("DEADLINE")));
            assertThat(sender.signal("run-1", node, "yes")).isTrue();
            assertThat(valueOf(sender, "run-1")).isEqualTo("yes");
        }
    }

    @Test
    void a_signal_that_is_stored_in_time_wins_over_the_timeout_of_a_live_run_that_has_not_seen_it() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("vote", String.class);
        Node<String> vote =
                f.signal("vote", String.class).timeout(Duration.ofSeconds(4)).defaultValue("none");
        signalsInTime(f.returning(f.node("end", after(vote), (c, ended) -> c.read(vote))), "vote");
    }

    @Test
    void a_signal_in_a_subflow_wins_over_the_timeout_of_the_subflow() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> confirmed = inner.signal("confirmed", String.class);
        FlowBuilder<String> f = FlowPlan.define("outer", String.class);
        Node<String> ship = f.subflow("ship", inner.returning(confirmed), f.node("first", () -> "x"))
                .timeout(Duration.ofSeconds(4));
        signalsInTime(f.returning(ship), "ship/confirmed");
    }

    @Test
    void a_timeout_is_not_recorded_after_a_signal_that_was_stored() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("vote", String.class);
        Node<String> vote =
                f.signal("vote", String.class).timeout(Duration.ofSeconds(4)).defaultValue("none");
        FlowPlan<String, String> plan = f.returning(f.node("end", after(vote), (c, ended) -> c.read(vote)));
        AtomicBoolean isBlind = new AtomicBoolean(true); // the look at the timeout finds nothing
        try (TestPool pool = new TestPool(
                        database.url(),
                        12,
                        sql -> isBlind.get()
                                        && sql.startsWith("SELECT node, value FROM raddle_signal")
                                        && !sql.contains("sent_at")
                                ? sql.replace("WHERE", "WHERE false AND")
                                : sql);
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(plan, "1", FlowCodec.text())
                        .pollInterval(Duration.ofSeconds(10))
                        .heartbeat(Duration.ofMillis(200), 5)
                        .start()) {
            service.submit("vote", "run-1", "p");
            Await.until(
                    "the time of the node is recorded",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("DEADLINE")));
            assertThat(service.signal("run-1", "vote", "yes")).isTrue();
            assertThat(valueOf(service, "run-1")).isEqualTo("yes");
        }
    }

    @Test
    void a_timeout_is_not_recorded_after_a_signal_that_was_stored_while_the_statement_began() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("vote", String.class);
        Node<String> vote =
                f.signal("vote", String.class).timeout(Duration.ofSeconds(4)).defaultValue("none");
        FlowPlan<String, String> plan = f.returning(f.node("end", after(vote), (c, ended) -> c.read(vote)));
        CountDownLatch hasBegun = new CountDownLatch(1);
        AtomicBoolean isLate = new AtomicBoolean();
        // The statement has its snapshot, and has not locked the row, while another session has the advisory lock.
        UnaryOperator<String> pausing = sql -> {
            if (!isLate.get() || !sql.equals(JournalWriter.WRITE)) {
                return sql;
            }
            hasBegun.countDown();
            return sql.replaceFirst(
                    "ORDER BY id FOR SHARE", "AND pg_advisory_xact_lock_shared(17) IS NOT NULL ORDER BY id FOR SHARE");
        };
        CountDownLatch mayCommit = new CountDownLatch(1);
        UnaryOperator<String> slow = sql -> {
            if (isLate.get() && sql.equals("COMMIT")) {
                awaitQuietly(mayCommit);
            }
            return sql;
        };
        try (TestPool pool = new TestPool(database.url(), 12, pausing);
                TestPool slowPool = new TestPool(database.url(), 12, slow);
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(plan, "1", FlowCodec.text())
                        .pollInterval(Duration.ofSeconds(10))
                        .start();
                FlowService sender = FlowService.on(slowPool)
                        .register(plan, "1", FlowCodec.text())
                        .submitOnly()
                        .start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            service.submit("vote", "run-1", "p");
            Await.until(
                    "the time of the node is recorded",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("DEADLINE")));
            statement.execute("SELECT pg_advisory_lock(17)");
            isLate.set(true);
            FutureTask<Boolean> signal = new FutureTask<>(() -> sender.signal("run-1", "vote", "yes"));
            Thread.ofPlatform().start(signal);
            hasBegun.await();
            Await.until("the statement waits", this::waitsForAdvisoryLock);
            mayCommit.countDown();
            assertThat(signal.get()).isTrue();
            statement.execute("SELECT pg_advisory_unlock(17)");

            assertThat(valueOf(sender, "run-1")).isEqualTo("yes");
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean waitsForAdvisoryLock() {
        try {
            return "1"
                    .equals(database.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                            + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"));
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void a_signal_that_is_stored_before_the_deadline_of_the_run_ends_its_node() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("vote", String.class);
        Node<String> vote = f.signal("vote", String.class);
        Node<String> other = f.signal("other", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("end", vote, other, (c, a, b) -> a + b));
        FlowService.Builder builder = database.service()
                .register(plan, "1", FlowCodec.text(), RunOptions.timeout(Duration.ofSeconds(4)))
                .pollInterval(Duration.ofHours(1));
        try (FlowService service = builder.start();
                FlowService sender = database.service()
                        .register(plan, "1", FlowCodec.text())
                        .submitOnly()
                        .start()) {
            service.submit("vote", "run-1", "p");
            Await.until(
                    "the run has begun",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("BEGUN")));
            assertThat(sender.signal("run-1", "vote", "yes")).isTrue();

            assertThat(sender.await("run-1", Await.BOUND).state()).isEqualTo(RunState.TIMED_OUT);
            assertThat(service.entries("run-1"))
                    .anySatisfy(entry -> assertThat(entry.kind() + " " + entry.node() + " " + entry.state())
                            .isEqualTo("NODE vote SUCCESS"));
        }
    }

    @Test
    void a_signal_that_is_stored_before_a_request_to_cancel_ends_its_node() throws Exception {
        FlowPlan<String, String> plan = approval();
        try (FlowService sender = database.service()
                .register(plan, "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            sender.submit("approval", "run-1", "p");
            database.execute("UPDATE raddle_run SET epoch = 1"); // as if a worker had begun it
            assertThat(sender.signal("run-1", "approved", "Ann")).isTrue();
            assertThat(sender.cancel("run-1", "no")).isTrue();
            try (FlowService worker = started(plan)) {
                assertThat(worker.await("run-1", Await.BOUND).state()).isEqualTo(RunState.CANCELLED);
            }
            assertThat(sender.entries("run-1")).anyMatch(entry -> entry.kind().equals("SIGNAL"));
        }
    }

    @Test
    void signals_that_are_stored_before_a_run_begins_are_delivered_when_it_is_claimed() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("two", String.class);
        Node<String> one = f.signal("one", String.class);
        Node<String> two = f.signal("two", String.class).needs(one);
        FlowPlan<String, String> plan = f.returning(f.node("end", one, two, (c, a, b) -> a + b));
        try (FlowService sender = database.service()
                .register(plan, "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            sender.submit("two", "run-1", "p");
            assertThat(sender.signal("run-1", "one", "1")).isTrue();
            assertThat(sender.signal("run-1", "two", "2")).isTrue();
            try (FlowService service = database.service()
                    .register(plan, "1", FlowCodec.text())
                    .pollInterval(Duration.ofHours(1))
                    .start()) {
                assertThat(valueOf(sender, "run-1")).isEqualTo("12");
            }
        }
    }

    private record Words(Set<String> set) {}

    @Test
    void an_equal_parameter_in_another_encoding_is_the_same() throws Exception {
        FlowBuilder<Words> f = FlowPlan.define("set", Words.class);
        FlowPlan<Words, String> plan = f.returning(f.node("n", c -> "x"));
        AtomicBoolean isReversed = new AtomicBoolean();
        FlowCodec codec = FlowCodec.of(
                words -> {
                    List<String> sorted = words.set().stream().sorted().toList();
                    return String.join(" ", isReversed.get() ? sorted.reversed() : sorted)
                            .getBytes(StandardCharsets.UTF_8);
                },
                bytes -> new Words(Set.of(new String(bytes, StandardCharsets.UTF_8).split(" "))),
                Words.class);
        try (FlowService service =
                database.service().register(plan, "1", codec).submitOnly().start()) {
            assertThat(service.submit("set", "run-1", new Words(Set.of("a", "b"))))
                    .isTrue();
            isReversed.set(true);
            assertThat(service.submit("set", "run-1", new Words(Set.of("a", "b"))))
                    .isFalse();
            assertThatThrownBy(() -> service.submit("set", "run-1", new Words(Set.of("a", "c"))))
                    .hasMessageContaining("another parameter");
        }
    }

    @Test
    void a_run_that_is_being_cancelled_takes_no_signal() throws Exception {
        try (FlowService service = database.service()
                .register(approval(), "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            service.submit("approval", "run-1", "p");
            database.execute("UPDATE raddle_run SET cancel_reason = 'no', epoch = 1");
            assertThat(service.signal("run-1", "approved", "Ann")).isFalse();
        }
    }

    @Test
    void the_wait_for_a_run_goes_on_if_the_database_is_away_when_it_looks() throws Exception {
        AtomicInteger breaks = new AtomicInteger(3);
        UnaryOperator<String> breaking =
                sql -> sql.startsWith("SELECT id, flow, version") && breaks.getAndDecrement() > 0
                        ? "SELECT pg_terminate_backend(pg_backend_pid()), '' || ?"
                        : sql;
        try (FlowService worker = started(approval());
                TestPool pool = new TestPool(database.url(), 12, breaking);
                FlowService client =
                        FlowService.on(pool).pollInterval(Duration.ofMillis(20)).start()) {
            worker.submit("approval", "run-1", "p");
            assertThat(worker.signal("run-1", "approved", "Ann")).isTrue();

            assertThat(client.await("run-1", Await.BOUND).state()).isEqualTo(RunState.SUCCESS);
            assertThat(breaks.get()).isNotPositive();
        }
    }

    @Test
    void the_wait_for_a_run_ends_when_the_run_is_removed() throws Exception {
        try (FlowService service = database.service()
                .register(approval(), "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            service.submit("approval", "run-1", "p");
            FutureTask<StoredRun> awaited = new FutureTask<>(() -> service.await("run-1", Await.BOUND));
            Thread waiting = Thread.ofPlatform().start(awaited);
            Await.until("it waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);

            database.execute("DELETE FROM raddle_run");

            assertThatThrownBy(awaited::get)
                    .cause()
                    .isInstanceOf(NoSuchElementException.class)
                    .hasMessageContaining("there is no run \"run-1\"");
        }
    }

    @Test
    void a_slow_callback_of_a_signal_delays_no_other_run() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch outside = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("slow", String.class);
        Node<String> slow = f.signal("signal", String.class).onResult(outcome -> {
            inside.countDown();
            Await.until("the test lets it end", () -> outside.getCount() == 0);
        });
        FlowBuilder<String> g = FlowPlan.define("quick", String.class);
        Node<String> quick = g.signal("signal", String.class);
        try (FlowService service = database.service()
                .register(f.returning(slow), "1", FlowCodec.text())
                .register(g.returning(quick), "1", FlowCodec.text())
                .start()) {
            for (String id : List.of("signalled", "cancelled")) {
                service.submit("quick", id, null);
            }
            service.submit("slow", "slow", null);
            service.signal("slow", "signal", "x");
            inside.await();

            service.signal("signalled", "signal", "y");
            service.cancel("cancelled", "not needed");

            assertThat(valueOf(service, "signalled")).isEqualTo("y");
            assertThat(service.await("cancelled", Await.BOUND).state()).isEqualTo(RunState.CANCELLED);
            assertThat(service.status("slow").orElseThrow().state()).isEqualTo(RunState.RUNNING);
            outside.countDown();
            assertThat(valueOf(service, "slow")).isEqualTo("x");
        }
    }

    @Test
    void a_request_is_followed_although_an_error_was_thrown_while_the_worker_looked_for_requests() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        try (TestPool pool = new TestPool(database.url(), 12, sql -> {
                    if (sql.startsWith("SELECT id, epoch, cancel_reason") && looks.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("of another thread's making");
                    }
                    return sql;
                });
                FlowService service = database.service(pool)
                        .register(approval(), "1", FlowCodec.text())
                        .start()) {
            service.submit("approval", "run-1", "p");
            Await.until("the worker has looked", () -> looks.get() > 0);

            assertThat(service.cancel("run-1", "test")).isTrue();
            assertThat(service.await("run-1", Await.BOUND).state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @Test
    void a_begun_run_whose_version_is_gone_waits_for_it_to_compensate_and_says_so() throws Exception {
        try (FlowService service = database.service()
                .register(approval(), "1", FlowCodec.text())
                .closeTimeout(Duration.ZERO)
                .start()) {
            service.submit("approval", "run-1", "p");
            Await.until(
                    "it has asked",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("NODE")));
        }
        try (FlowService other = database.service().start()) {
            assertThat(other.cancel("run-1", "not needed")).isTrue();

            StoredRun run = other.status("run-1").orElseThrow();
            assertThat(run.state()).isEqualTo(RunState.WITHOUT_VERSION);
            assertThat(run.problem())
                    .isEqualTo("cancel requested: not needed; version 1 of flow \"approval\" is needed to compensate");
            assertThat(other.list(RunFilter.all())).containsExactly(run);
        }
        try (FlowService service = started(approval())) {
            StoredRun run = service.await("run-1", Await.BOUND);
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            assertThat(run.problem()).isNull();
            assertThat(service.entries("run-1")).extracting(StoredEntry::kind).contains("COMPENSATED");
        }
    }

    @Test
    void a_run_that_has_lost_its_task_gets_it_back_when_it_is_submitted_again() throws Exception {
        try (FlowService service = database.service()
                .register(approval(), "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            service.submit("approval", "run-1", "p");
            service.signal("run-1", "approved", "Ann");
        }
        database.execute("DELETE FROM raddle_task");
        try (FlowService service = started(approval())) {
            assertThat(service.submit("approval", "run-1", "p")).isFalse();
            assertThat(valueOf(service, "run-1")).isEqualTo("offer 1 approved by Ann");
        } // which awaits that the row of the run that has ended is removed
        try (FlowService service = database.service()
                .register(approval(), "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            assertThat(service.submit("approval", "run-1", "p")).isFalse();
            assertThat(database.query("SELECT count(*) FROM raddle_task WHERE task_instance = 'run-1'"))
                    .isEqualTo("0");
        }
    }

    @Test
    void a_run_that_was_removed_before_a_worker_had_looked_at_its_end_can_be_submitted_again() throws Exception {
        try (FlowService service = database.service()
                .register(approval(), "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            service.submit("approval", "run-1", "p");
            assertThat(service.cancel("run-1", "never begun")).isTrue();
            database.execute("DELETE FROM raddle_run");

            assertThat(service.submit("approval", "run-1", "q")).isTrue();
            assertThat(database.query("SELECT count(*) FROM raddle_task WHERE task_instance = 'run-1' AND NOT picked"
                            + " AND execution_time < now()"))
                    .isEqualTo("1");
        }
    }

    @Test
    void a_run_that_is_removed_while_it_is_submitted_again_is_stored() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        try (TestPool pool = new TestPool(database.url(), 12, sql -> {
                    if (sql.startsWith("SELECT flow, version, parameter") && looks.incrementAndGet() == 1) {
                        remove();
                    }
                    return sql;
                });
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(approval(), "1", FlowCodec.text())
                        .submitOnly()
                        .start()) {
            assertThat(service.submit("approval", "run-1", "p")).isTrue();

            assertThat(service.submit("approval", "run-1", "p")).isTrue();
            assertThat(looks).hasValue(1);
        }
    }

    private void remove() {
        try {
            database.execute("DELETE FROM raddle_run");
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void a_signal_to_a_node_that_has_ended_is_refused_until_the_node_runs_again() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> confirmed = inner.signal("confirmed", String.class)
                .timeout(Duration.ofMillis(1))
                .defaultValue("none");
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> approved =
                f.signal("approved", String.class).timeout(Duration.ofMillis(1)).defaultValue("nobody");
        Node<String> ship = f.subflow("ship", inner.returning(confirmed), f.node("first", () -> "x"))
                .defaultValue("none");
        Node<String> last = f.signal("last", String.class);
        Node<String> end = f.node(
                "end",
                after(approved),
                after(ship),
                last,
                (c, one, two, text) -> c.read(approved) + " " + c.read(ship) + " " + text);
        FlowPlan<String, String> plan = f.returning(end);
        try (FlowService service = started(plan)) {
            service.submit("flow", "run-1", "p");
            Await.until("both have timed out", () -> endedNodes().equals("approved,ship"));

            assertThat(service.signal("run-1", "approved", "Ann")).isFalse();
            assertThat(service.signal("run-1", "ship/confirmed", "Ann")).isFalse();
            assertThat(service.signal("run-1", "last", "z")).isTrue();
            assertThat(service.await("run-1", Await.BOUND).state()).isEqualTo(RunState.DEGRADED);
            assertThat(service.value("run-1")).isEqualTo("nobody none z");
        }
        try (FlowService idle = database.service()
                .register(plan, "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            assertThat(idle.rerun("run-1", "first")).isTrue();
            assertThat(idle.signal("run-1", "approved", "Ann")).isTrue();
            assertThat(idle.signal("run-1", "ship/confirmed", "Ann")).isTrue();
        }
    }

    @Test
    void a_signal_is_not_refused_because_its_id_begins_with_that_of_a_node_that_has_ended() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> placed = f.node("order", c -> c.param());
        FlowPlan<String, String> plan =
                f.returning(f.signal("order/approved", String.class).needs(order(placed)));
        try (FlowService service = started(plan)) {
            service.submit("flow", "run-1", "p");
            Await.until(
                    "the other node has ended",
                    () -> service.entries("run-1").stream().anyMatch(entry -> "order".equals(entry.node())));

            assertThat(service.signal("run-1", "order/approved", "Ann")).isTrue();
            assertThat(valueOf(service, "run-1")).isEqualTo("Ann");
        }
    }

    @Test
    void a_service_without_the_plan_sends_signals_which_the_worker_checks() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<Integer> number =
                f.signal("number", Integer.class).timeout(Duration.ofDays(1)).defaultValue(0);
        Node<String> text = f.signal("text", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("end", number, text, (one, two) -> one + " " + two));
        FlowCodec codec = new FlowCodec() {
            @Override
            public byte[] encode(Object value) {
                return String.valueOf(value).getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public Object decode(byte[] bytes) {
                String decoded = new String(bytes, StandardCharsets.UTF_8);
                return decoded.matches("[0-9]+") ? (Object) Integer.valueOf(decoded) : decoded;
            }
        };
        try (FlowService other = database.service().start();
                FlowService service = database.service()
                        .register(plan, "1", codec)
                        .parkAfter(Duration.ZERO)
                        .start()) {
            service.submit("flow", "run-1", "p");
            Await.until("it waits", () -> service.status("run-1").orElseThrow().waitsUntil() != null);
            assertThat(other.signal("run-1", "number", "no number", codec)).isTrue();
            Await.until("it is refused", () -> problem(other) != null);
            assertThat(problem(other)).startsWith("the signal for node \"number\" was refused: ");
            assertThat(other.signal("run-1", "unknown", "x", codec)).isTrue();
            Await.until("it is refused", () -> String.valueOf(problem(other)).contains("\"unknown\""));

            assertThat(other.signal("run-1", "number", 7, codec)).isTrue();
            assertThat(other.signal("run-1", "text", "seven", codec)).isTrue();
            FlowServiceTest.hasSucceeded(service.await("run-1", Await.BOUND));
            assertThat(service.value("run-1")).isEqualTo("7 seven");
            assertThat(problem(other)).isNull();
            assertThatThrownBy(() -> other.signal("run-1", "number", 7))
                    .hasMessageContaining("is not registered here, so the signal cannot be encoded; pass the codec");
        }
    }

    private static String problem(FlowService service) {
        return service.status("run-1").orElseThrow().problem();
    }

    private String endedNodes() {
        try {
            return String.valueOf(database.query("SELECT string_agg(node, ',' ORDER BY node) FROM raddle_entry"
                    + " WHERE kind = 'NODE' AND state IN ('FAILED', 'TIMED_OUT')"));
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
