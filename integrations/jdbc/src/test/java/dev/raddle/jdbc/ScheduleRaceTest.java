package dev.raddle.jdbc;

import static dev.raddle.jdbc.TestDatabase.awaitRun;
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
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests for a schedule, other services, and locks of its row while one of its rounds is being made. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScheduleRaceTest {
    private static final Schedule RARE = Transfers.RARELY;
    private static final Schedule YEARLY = Schedule.cron("0 0 1 1 *", ZoneOffset.UTC);

    /** A request that ends the rounds of a schedule. */
    private enum Request {
        PAUSE(FlowService::pauseSchedule),
        REMOVE(FlowService::removeSchedule);

        private final BiConsumer<FlowService, String> call;

        Request(BiConsumer<FlowService, String> call) {
            this.call = call;
        }
    }

    /** Stops the thread that is about to execute a statement, once. Other statements wait as long as they have to. */
    private static final class Stop implements UnaryOperator<String> {
        private final String begin;
        private final AtomicBoolean isArmed = new AtomicBoolean(true);
        private final CompletableFuture<Thread> stopped = new CompletableFuture<>();
        private final CountDownLatch released = new CountDownLatch(1);

        Stop(String begin) {
            this.begin = begin;
        }

        @Override
        public String apply(String sql) {
            if (sql.startsWith(begin) && isArmed.compareAndSet(true, false)) {
                stopped.complete(Thread.currentThread());
                pass(released);
            }
            return sql.replaceAll("(lock|session)_timeout', '\\d+'", "$1_timeout', '0'");
        }
    }

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final Instant moment = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60);
    private final FlowPlan<String, String> plan = plan();

    private static FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("report", String.class);
        return f.returning(f.node("echo", c -> "done " + c.param()));
    }

    private FlowService.Builder registered(FlowService.Builder builder) {
        return builder.register(plan, "1", FlowCodec.text());
    }

    private FlowService start() {
        return registered(database.service()).start();
    }

    private FlowService start(TestPool pool) {
        return registered(database.service(pool)).start();
    }

    private static void pass(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stop) {
            throw new IllegalStateException(stop);
        }
    }

    private String query(String sql) {
        try {
            return database.query(sql);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private void awaitReturnOfTask() {
        Await.until(
                "the task is returned",
                () -> "t"
                        .equals(query("SELECT NOT picked AND execution_time > now() FROM raddle_task"
                                + " WHERE task_instance = 'nightly'")));
    }

    private void awaitWaitForALock() {
        Await.until(
                "a statement waits for the row",
                () -> !query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND wait_event_type = 'Lock'")
                        .equals("0"));
    }

    // Locks of other programs.

    @Test
    void a_locked_row_delays_the_rounds_of_its_schedule_only_and_its_problem_names_the_session() throws Exception {
        try (FlowService service = start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            for (String name : List.of("nightly", "free")) {
                service.schedule(name, plan, RARE, at -> "p");
                database.setNext(name, moment);
            }
            other.setAutoCommit(false);
            int pid = lock(statement);
            database.wakeForRounds();

            awaitRun(service, "free/" + moment);
            Await.until("the problem names the session", () -> problem(service).contains("pid " + pid));
            assertThat(problem(service)).contains("idle in transaction", "pg_terminate_backend");
            assertThat(service.status("nightly/" + moment)).isEmpty();

            other.rollback();
            awaitRun(service, "nightly/" + moment);
            assertThat(service.list(RunFilter.all())).hasSize(2);
        }
    }

    private static int lock(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery(
                "SELECT pg_backend_pid() FROM raddle_schedule WHERE name = 'nightly' FOR UPDATE")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static String problem(FlowService service) {
        return service.schedules().stream()
                .filter(stored -> stored.name().equals("nightly"))
                .map(stored -> String.valueOf(stored.problem()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void requests_for_a_schedule_whose_row_is_locked_fail_and_may_be_repeated() throws Exception {
        try (FlowService service = start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            service.schedule("nightly", plan, RARE, at -> "p");
            other.setAutoCommit(false);
            int unused = lock(statement);

            assertThatThrownBy(() -> service.pauseSchedule("nightly")).isInstanceOf(DatabaseException.class);
            assertThatThrownBy(() -> service.removeSchedule("nightly")).isInstanceOf(DatabaseException.class);
            assertThatThrownBy(() -> service.schedule("nightly", plan, YEARLY, at -> "p"))
                    .isInstanceOf(DatabaseException.class);

            other.rollback();
            assertThat(service.schedules()).singleElement().satisfies(stored -> {
                assertThat(stored.schedule()).isEqualTo(RARE);
                assertThat(stored.isPaused()).isFalse();
            });
            assertThat(service.removeSchedule("nightly")).isTrue();
        }
    }

    // Requests.

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_round_that_waits_for_a_pause_is_made_only_if_that_is_rolled_back(boolean isCommitted) throws Exception {
        try (FlowService service = start();
                Connection other = database.pool().getConnection();
                Statement statement = other.createStatement()) {
            service.schedule("nightly", plan, RARE, at -> "p");
            database.setNext("nightly", moment);
            other.setAutoCommit(false);
            statement.execute("UPDATE raddle_schedule SET is_paused = true");
            database.wakeForRounds();
            awaitWaitForALock();

            if (isCommitted) {
                other.commit();
                awaitReturnOfTask();
                assertThat(service.list(RunFilter.all())).isEmpty();
            } else {
                other.rollback();
                awaitRun(service, "nightly/" + moment);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_round_is_not_made_if_the_schedule_ends_while_its_parameter_is_made(Request request) throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, at -> {
                called.countDown();
                pass(ended);
                return "p";
            });
            database.makeDue("nightly", moment);
            called.await();
            request.call.accept(service, "nightly");
            ended.countDown();

            service.schedule("other", plan, RARE, at -> "p");
            database.makeDue("other", moment);
            awaitRun(service, "other/" + moment);
            if (request == Request.PAUSE) {
                awaitReturnOfTask();
            }
        }
        assertThat(query("SELECT string_agg(id, ' ') FROM raddle_run")).isEqualTo("other/" + moment);
        assertThat(query("SELECT count(*) FROM raddle_task WHERE task_instance = 'nightly'"))
                .isEqualTo(request == Request.PAUSE ? "1" : "0");
    }

    @ParameterizedTest
    @EnumSource
    void a_round_that_is_being_stored_is_made_before_the_schedule_ends(Request request) throws Exception {
        Stop stop = new Stop("WITH run AS (INSERT INTO raddle_run");
        try (TestPool pool = new TestPool(database.url(), 24, stop);
                FlowService service = start(pool)) {
            service.schedule("nightly", plan, RARE, at -> "p");
            database.makeDue("nightly", moment);
            Thread unused = stop.stopped.get();
            CompletableFuture<Void> requested = CompletableFuture.runAsync(
                    () -> request.call.accept(service, "nightly"),
                    task -> Thread.ofVirtual().start(task));
            awaitWaitForALock();
            stop.released.countDown();
            requested.get();

            assertThat(service.status("nightly/" + moment))
                    .as("stored before the request has returned")
                    .isPresent();
            assertThat(service.schedules())
                    .extracting(StoredSchedule::isPaused)
                    .isEqualTo(request == Request.PAUSE ? List.of(true) : List.of());
            assertThat(awaitRun(service, "nightly/" + moment).state()).isEqualTo(RunState.SUCCESS);
        }
    }

    @Test
    void a_schedule_that_is_stored_again_while_a_worker_removes_its_task_keeps_its_rounds() throws Exception {
        Stop reading = new Stop("SELECT name, s.flow");
        Stop removing = new Stop("delete from raddle_task");
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch removed = new CountDownLatch(1);
        try (TestPool pool = new TestPool(database.url(), 24, sql -> removing.apply(reading.apply(sql)));
                FlowService service = start(pool)) {
            service.schedule("nightly", plan, RARE, at -> "first");
            database.makeDue("nightly", moment);
            Thread worker = reading.stopped.get();
            assertThat(service.removeSchedule("nightly")).isTrue();
            reading.released.countDown();
            assertThat(removing.stopped.get()).isSameAs(worker);

            service.schedule("nightly", plan, RARE, at -> {
                called.countDown();
                pass(removed);
                return "second";
            });
            database.makeDue("nightly", moment);
            called.await();
            removing.released.countDown();
            worker.join();
            assertThat(query("SELECT count(*) FROM raddle_task WHERE task_instance = 'nightly'"))
                    .isEqualTo("1");
            removed.countDown();
            awaitRun(service, "nightly/" + moment);
            awaitReturnOfTask();
            database.makeDue("nightly", moment.plusSeconds(1));
            awaitRun(service, "nightly/" + moment.plusSeconds(1));
        }
    }

    // Other services.

    @Test
    void a_round_whose_expression_another_service_changes_meanwhile_is_made_once_and_the_next_follows_the_change()
            throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch changed = new CountDownLatch(1);
        try (FlowService one = start();
                FlowService two = start()) {
            for (FlowService service : List.of(one, two)) {
                service.schedule("nightly", plan, RARE, at -> {
                    called.countDown();
                    pass(changed);
                    return "p";
                });
            }
            database.makeDue("nightly", moment);
            called.await();
            two.schedule("nightly", plan, YEARLY, at -> "p");
            changed.countDown();

            awaitRun(one, "nightly/" + moment);
            awaitReturnOfTask();
            assertThat(one.list(RunFilter.all())).hasSize(1);
            assertThat(one.schedules()).singleElement().satisfies(stored -> {
                assertThat(stored.schedule()).isEqualTo(YEARLY);
                assertThat(stored.nextAt()).isEqualTo(YEARLY.next(moment));
            });
        }
    }

    @Test
    void all_services_follow_the_expression_of_the_latest_call_and_each_has_its_own_function() throws Exception {
        try (FlowService one = start();
                FlowService two = start()) {
            for (int round = 0; round < 6; round++) {
                Schedule latest = round % 2 == 0 ? RARE : YEARLY;
                one.schedule("nightly", plan, round % 2 == 0 ? YEARLY : RARE, at -> "one");
                two.schedule("nightly", plan, latest, at -> "two");
                Instant due = moment.plusSeconds(round);
                database.makeDue("nightly", due);
                StoredRun run = awaitRun(one, "nightly/" + due);
                assertThat(one.value(run.id())).isIn("done one", "done two");
                assertThat(one.schedules().getFirst().nextAt()).isEqualTo(latest.next(due));
            }
            assertThat(one.list(RunFilter.all())).hasSize(6);
        }
    }

    @Test
    void a_schedule_that_is_changed_while_it_is_resumed_continues_with_a_moment_of_the_change() throws Exception {
        Stop stop = new Stop("UPDATE raddle_schedule SET is_paused = false");
        try (FlowService service = start();
                TestPool pool = new TestPool(database.url(), 8, stop);
                FlowService viewer = database.service(pool).start()) {
            service.schedule("nightly", plan, RARE, at -> "p");
            service.pauseSchedule("nightly");
            CompletableFuture<Void> resumed = CompletableFuture.runAsync(
                    () -> viewer.resumeSchedule("nightly"),
                    task -> Thread.ofVirtual().start(task));
            Thread unused = stop.stopped.get();
            service.schedule("nightly", plan, YEARLY, at -> "p");
            stop.released.countDown();
            resumed.get();

            assertThat(service.schedules().getFirst().nextAt()).isEqualTo(YEARLY.next(Instant.now()));
        }
    }
}
