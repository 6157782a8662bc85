package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import dev.raddle.testing.VirtualTime;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that only wait need no worker. */
@Timeout(240)
class ParkingTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger shipped = new AtomicInteger();
    private final AtomicInteger undone = new AtomicInteger();
    private final VirtualTime time = new VirtualTime();

    /** A flow that asks, waits for the answer, and ships. */
    private FlowPlan<String, String> approval() {
        FlowBuilder<String> f = FlowPlan.define("approval", String.class);
        Node<String> ask = ask(f);
        Node<String> approved = f.signal("approved", String.class).needs(order(ask));
        return f.returning(ship(f, approved));
    }

    private Node<String> ask(FlowBuilder<String> f) {
        return f.node("ask", () -> {
                    asked.incrementAndGet();
                    return "asked";
                })
                .compensate(value -> undone.incrementAndGet());
    }

    private Node<String> ship(FlowBuilder<String> f, Node<String> approved) {
        return f.node("ship", approved, answer -> {
            shipped.incrementAndGet();
            return "shipped " + answer;
        });
    }

    private FlowPlan<String, String> plain() {
        FlowBuilder<String> f = FlowPlan.define("plain", String.class);
        return f.returning(f.node("node", c -> "done"));
    }

    private FlowService.Builder service() {
        return database.service().parkAfter(Duration.ZERO);
    }

    private FlowService start() {
        return service().register(approval(), "1", FlowCodec.text()).start();
    }

    private static StoredRun awaitParked(FlowService service, String id) {
        Await.until(
                () -> "run " + id + " waits without a worker: " + service.status(id),
                () -> service.status(id).orElseThrow().waitsUntil() != null);
        return service.status(id).orElseThrow();
    }

    private static StoredRun ended(FlowService service, String id) throws Exception {
        return service.await(id, Await.BOUND);
    }

    @Test
    void a_sleep_of_more_than_a_hundred_years_shows_its_end() throws Exception {
        Instant end = Instant.now().plus(Duration.ofDays(43_800)).truncatedTo(ChronoUnit.SECONDS);
        FlowBuilder<String> f = FlowPlan.define("long", String.class);
        Node<Void> sleep = f.sleepUntil("sleep", c -> end);
        FlowPlan<String, String> plan = f.returning(f.node("end", Dependency.after(sleep), (c, slept) -> "slept"));
        try (FlowService service =
                service().register(plan, "1", FlowCodec.text()).start()) {
            service.submit("long", "run-1", null);
            assertThat(awaitParked(service, "run-1").waitsUntil())
                    .isBetween(end.minusSeconds(120), end.plusSeconds(120));
        }
    }

    @Test
    void twenty_runs_that_wait_for_a_signal_leave_the_only_place_to_another_run() throws Exception {
        try (FlowService service = service()
                .register(approval(), "1", FlowCodec.text())
                .register(plain(), "1", FlowCodec.text())
                .maxRuns(1)
                .start()) {
            for (int i = 0; i < 20; i++) {
                service.submit("approval", "run-" + i, null);
            }
            service.submit("plain", "other", null);

            FlowServiceTest.hasSucceeded(ended(service, "other"));
            for (int i = 0; i < 20; i++) {
                StoredRun waiting = awaitParked(service, "run-" + i);
                assertThat(waiting.state()).isEqualTo(RunState.WAITING);
                assertThat(waiting.waitsUntil()).isEqualTo(Instant.MAX);
            }
            assertThat(database.query("SELECT count(*) FROM raddle_task WHERE picked AND task_name = 'approval/1'"))
                    .isEqualTo("0");
            assertThat(service.list(RunFilter.all().in(RunState.WAITING))).hasSize(20);
            for (int i = 0; i < 20; i++) {
                assertThat(service.signal("run-" + i, "approved", "yes " + i)).isTrue();
            }
            for (int i = 0; i < 20; i++) {
                StoredRun run = ended(service, "run-" + i);
                FlowServiceTest.hasSucceeded(run);
                assertThat(service.value("run-" + i)).isEqualTo("shipped yes " + i);
                assertThat(run.claims()).isEqualTo(2);
                assertThat(run.waitsUntil()).isNull();
            }
            assertThat(asked).hasValue(20);
            assertThat(shipped).hasValue(20);
        }
    }

    @BeforeEach
    void create_the_tables() throws SQLException { // in no transaction of a worker
        new Schema(new Database(database.pool())).apply();
    }

    /** Calls an action when a worker's parking reaches a statement, once. */
    private TestPool poolAt(String step, Runnable action) {
        ThreadLocal<Boolean> isParking = ThreadLocal.withInitial(() -> false);
        AtomicBoolean isDone = new AtomicBoolean();
        return new TestPool(database.url(), 24, sql -> {
            if (sql.startsWith("SET TRANSACTION")) { // the worker makes no requests
                isParking.set(true);
            }
            if (isParking.get() && sql.startsWith(step) && isDone.compareAndSet(false, true)) {
                action.run();
            }
            if (sql.equals("COMMIT")) {
                isParking.set(false);
            }
            return sql;
        });
    }

    private FlowService workerOn(TestPool pool) {
        return FlowService.on(pool)
                .register(approval(), "1", FlowCodec.text())
                .pollInterval(Duration.ofMillis(20))
                .heartbeat(Duration.ofMillis(200), 5)
                .parkAfter(Duration.ZERO)
                .start();
    }

    private static void request(FlowService service, boolean cancels) {
        boolean isAccepted = cancels ? service.cancel("run-1", "test") : service.signal("run-1", "approved", "yes");
        assertThat(isAccepted).isTrue();
    }

    private boolean isBlocked() {
        try {
            return !database.query("SELECT count(*) FROM pg_locks WHERE NOT granted")
                    .equals("0");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest(name = "{0}, cancel {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "SET TRANSACTION                         | false",
                "SELECT cancel_reason                    | false",
                "SELECT node, value FROM raddle_signal   | false",
                "UPDATE raddle_task                      | false",
                "UPDATE raddle_run                       | false",
                "COMMIT                                  | false",
                "SET TRANSACTION                         | true",
                "SELECT cancel_reason                    | true",
                "SELECT node, value FROM raddle_signal   | true",
                "UPDATE raddle_task                      | true",
                "UPDATE raddle_run                       | true",
                "COMMIT                                  | true",
            })
    void a_request_of_another_process_at_any_step_of_parking_is_followed_once(String step, boolean cancels)
            throws Exception {
        AtomicReference<FlowService> other = new AtomicReference<>();
        FutureTask<Void> requested = new FutureTask<>(() -> request(other.get(), cancels), null);
        Runnable action = () -> {
            Thread.ofVirtual().start(requested);
            Await.until("the request is made or has to wait", () -> requested.isDone() || isBlocked());
        };
        try (FlowService service = service()
                        .register(approval(), "1", FlowCodec.text())
                        .submitOnly()
                        .start();
                TestPool pool = poolAt(step, action);
                FlowService worker = workerOn(pool)) {
            other.set(service);
            service.submit("approval", "run-1", null);

            StoredRun run = ended(worker, "run-1");
            requested.get();
            assertThat(run.state()).isEqualTo(cancels ? RunState.CANCELLED : RunState.SUCCESS);
            assertThat(asked).hasValue(1);
            assertThat(shipped).hasValue(cancels ? 0 : 1);
            assertThat(undone).hasValue(cancels ? 1 : 0);
            assertThat(entries(service, "SIGNAL")).isEqualTo(cancels ? 0 : 1);
            assertThat(service.signal("run-1", "approved", "again")).isFalse();
        }
    }

    private static long entries(FlowService service, String kind) {
        return service.entries("run-1").stream()
                .filter(entry -> entry.kind().equals(kind))
                .count();
    }

    @ParameterizedTest(name = "{0}, cancel {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "read committed  | false",
                "read committed  | true",
                "repeatable read | false",
                "repeatable read | true"
            })
    void a_request_that_is_committed_while_parking_waits_for_its_lock_is_followed(String isolation, boolean cancels)
            throws Exception {
        String name = database.query("SELECT current_database()");
        database.execute("ALTER DATABASE " + name + " SET default_transaction_isolation = '" + isolation + "'");
        CountDownLatch commits = new CountDownLatch(1);
        Runnable commit = () -> {
            commits.countDown();
            Await.until("parking waits for the lock", this::isBlocked);
        };
        AtomicReference<FlowService> other = new AtomicReference<>();
        FutureTask<Void> requested = new FutureTask<>(() -> request(other.get(), cancels), null);
        Runnable park = () -> {
            Thread.ofVirtual().start(requested);
            Await.until("the request has been made and not committed", () -> commits.getCount() == 0);
        };
        try (TestPool requests = poolAt("COMMIT", commit);
                FlowService service = FlowService.on(requests)
                        .register(approval(), "1", FlowCodec.text())
                        .submitOnly()
                        .start();
                TestPool pool = poolAt("SELECT cancel_reason", park);
                FlowService worker = workerOn(pool)) {
            other.set(service);
            worker.submit("approval", "run-1", null);

            assertThat(ended(worker, "run-1").state()).isEqualTo(cancels ? RunState.CANCELLED : RunState.SUCCESS);
            requested.get();
            assertThat(asked).hasValue(1);
        }
    }

    @ParameterizedTest(name = "cancel {0}")
    @ValueSource(booleans = {false, true})
    void a_request_for_a_parked_run_continues_it(boolean cancels) throws Exception {
        try (FlowService service = start()) {
            service.submit("approval", "run-1", null);
            awaitParked(service, "run-1");

            request(service, cancels);

            StoredRun run = ended(service, "run-1");
            assertThat(run.state()).isEqualTo(cancels ? RunState.CANCELLED : RunState.SUCCESS);
            assertThat(asked).hasValue(1);
            assertThat(undone).hasValue(cancels ? 1 : 0);
        }
    }

    private FlowService startAt(FlowPlan<String, String> plan, RunOptions options) {
        return service()
                .register(plan, "1", FlowCodec.text(), options.withTimeSource(time))
                .start();
    }

    /** Lets an hour pass for the worker and for the database. */
    private void anHourPasses() throws SQLException {
        time.advance(HOUR);
        database.execute("UPDATE raddle_task SET execution_time = execution_time - interval '1 hour'");
    }

    @Test
    void a_parked_run_whose_worker_is_gone_is_continued_by_another_when_its_sleep_is_over() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("sleeper", String.class);
        Node<Void> pause = f.sleep("pause", HOUR).needs(order(ask(f)));
        Node<String> name = f.node("name", () -> "it").needs(order(pause));
        FlowPlan<String, String> plan = f.returning(ship(f, name));
        StoredRun parked;
        try (FlowService first = startAt(plan, RunOptions.defaults())) {
            first.submit("sleeper", "run-1", null);
            parked = awaitParked(first, "run-1");
        }
        assertThat(Duration.between(parked.begunAt(), parked.waitsUntil()))
                .isBetween(HOUR.dividedBy(2), HOUR.plus(HOUR));
        try (FlowService observer = database.service().start()) {
            StoredRun run = observer.status("run-1").orElseThrow();
            assertThat(run.state()).isEqualTo(RunState.WITHOUT_VERSION);
            assertThat(run.waitsUntil()).isEqualTo(parked.waitsUntil());
            assertThat(new Retention(new Database(database.pool()), Duration.ZERO).remove())
                    .isZero();
        }
        anHourPasses();
        try (FlowService second = startAt(plan, RunOptions.defaults())) {
            FlowServiceTest.hasSucceeded(ended(second, "run-1"));
            assertThat(second.value("run-1")).isEqualTo("shipped it");
            assertThat(second.status("run-1").orElseThrow().claims()).isEqualTo(2);
        }
        assertThat(asked).hasValue(1);
        assertThat(shipped).hasValue(1);
    }

    @ParameterizedTest(name = "of the run: {0}")
    @ValueSource(booleans = {true, false})
    void a_timeout_of_a_parked_run_or_node_ends_it_at_its_moment(boolean ofRun) throws Exception {
        FlowBuilder<String> f = FlowPlan.define("late", String.class);
        Node<String> approved = f.signal("approved", String.class).needs(order(ask(f)));
        if (!ofRun) {
            approved.timeout(HOUR).defaultValue("nobody");
        }
        FlowPlan<String, String> plan = f.returning(ship(f, approved));
        RunOptions options = ofRun ? RunOptions.timeout(HOUR) : RunOptions.defaults();
        try (FlowService service = startAt(plan, options)) {
            service.submit("late", "run-1", null);
            StoredRun parked = awaitParked(service, "run-1");
            assertThat(parked.waitsUntil()).isBefore(Instant.now().plus(HOUR.multipliedBy(2)));

            anHourPasses();

            assertThat(ended(service, "run-1").state()).isEqualTo(ofRun ? RunState.TIMED_OUT : RunState.FAILED);
            assertThat(asked).hasValue(1);
            assertThat(undone).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SET TRANSACTION", "UPDATE raddle_task", "COMMIT"})
    void a_run_that_could_not_be_parked_because_the_database_was_away_is_taken_over(String step) throws Exception {
        AtomicInteger failures = new AtomicInteger();
        Runnable failure = () -> {
            failures.incrementAndGet();
            ParkingTest.<RuntimeException>throwAny(new SQLException("the database is away", "08006"));
        };
        try (TestPool failing = poolAt(step, failure);
                FlowService worker = workerOn(failing)) {
            worker.submit("approval", "run-1", null);
            awaitParked(worker, "run-1");
            assertThat(failures).hasValue(1);

            request(worker, false);

            FlowServiceTest.hasSucceeded(ended(worker, "run-1"));
            assertThat(asked).hasValue(1);
            assertThat(shipped).hasValue(1);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Exception> void throwAny(Exception any) throws E {
        throw (E) any;
    }

    @Test
    void a_node_that_runs_beside_a_wait_is_not_interrupted() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        List<String> ends = new ArrayList<>();
        FlowBuilder<String> f = FlowPlan.define("busy", String.class);
        Node<String> approved = f.signal("approved", String.class);
        Node<String> work = f.node("work", () -> {
            begun.countDown();
            mayEnd.await();
            ends.add("end");
            return "work";
        });
        Node<String> both = f.node("both", approved, work, (answer, worked) -> answer + " " + worked);
        try (FlowService service =
                service().register(f.returning(both), "1", FlowCodec.text()).start()) {
            service.submit("busy", "run-1", null);
            begun.await();
            Await.pass(Duration.ofMillis(200)); // several looks of the worker
            service.signal("run-1", "approved", "yes");
            Await.until("the signal is delivered", () -> entries(service, "SIGNAL") == 1);
            mayEnd.countDown();
            FlowServiceTest.hasSucceeded(ended(service, "run-1"));
            assertThat(service.value("run-1")).isEqualTo("yes work");
            assertThat(service.status("run-1").orElseThrow().claims()).isEqualTo(1);
            assertThat(ends).hasSize(1);
        }
    }
}
