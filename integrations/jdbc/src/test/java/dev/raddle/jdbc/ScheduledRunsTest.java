package dev.raddle.jdbc;

import static dev.raddle.jdbc.TestDatabase.awaitRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.jdbc.Schedule.Overlap;
import dev.raddle.processes.Await;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Schedules of services in one process. No test waits for a moment: the round is made due in the table. */
@Timeout(120)
class ScheduledRunsTest {
    private static final Schedule RARE = Transfers.RARELY;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private static FlowPlan<String, String> plan(String flow) {
        FlowBuilder<String> f = FlowPlan.define(flow, String.class);
        return f.returning(f.node("echo", c -> "done " + c.param()));
    }

    private final FlowPlan<String, String> plan = plan("report");

    private FlowService start() {
        return database.service().register(plan, "1", FlowCodec.text()).start();
    }

    private Instant makeDue(String name) throws Exception {
        return makeDue(name, Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(1));
    }

    private Instant makeDue(String name, Instant moment) throws Exception {
        database.makeDue(name, moment);
        return moment;
    }

    private String query(String sql) {
        try {
            return database.query(sql);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void a_round_is_a_run_with_the_name_and_the_moment_and_its_parameter_is_made_of_the_moment_in_its_zone()
            throws Exception {
        try (FlowService service = start()) {
            ZoneId zone = ZoneId.of("Asia/Tokyo");
            service.schedule("nightly", plan, Schedule.cron("0 0 29 2 *", zone), ZonedDateTime::toString);
            Instant moment = makeDue("nightly");

            StoredRun run = awaitRun(service, "nightly/" + moment);

            assertThat(run.state()).isEqualTo(RunState.SUCCESS);
            assertThat(service.value(run.id())).isEqualTo("done " + moment.atZone(zone));
            assertThat(service.schedules()).singleElement().satisfies(stored -> {
                assertThat(stored.lastRun()).isEqualTo(run.id());
                assertThat(stored.nextAt()).isAfter(Instant.now());
                assertThat(stored.problem()).isNull();
                assertThat(stored.flow()).isEqualTo("report");
                assertThat(stored.schedule().cron()).isEqualTo("0 0 29 2 *");
            });
        }
    }

    @Test
    void a_schedule_makes_its_rounds_by_itself() throws Exception {
        try (FlowService one = start();
                FlowService two = start()) {
            for (FlowService service : List.of(one, two)) {
                service.schedule("often", plan, Schedule.cron("* * * * * *", ZoneOffset.UTC), Object::toString);
            }
            Await.until(
                    "there are three rounds", () -> one.list(RunFilter.all()).size() >= 3);
            assertThat(one.list(RunFilter.all()))
                    .allSatisfy(run -> assertThat(run.id()).startsWith("often/20"))
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void many_services_with_a_schedule_make_each_round_once() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (FlowService one = start();
                FlowService two = start();
                FlowService three = start()) {
            for (FlowService service : List.of(one, two, three)) {
                service.schedule("nightly", plan, RARE, moment -> "p" + calls.incrementAndGet());
            }
            Instant first = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60);
            for (int round = 0; round < 20; round++) {
                Instant moment = makeDue("nightly", first.plusSeconds(round));
                awaitRun(one, "nightly/" + moment);
            }
            assertThat(one.list(RunFilter.all())).hasSize(20);
            assertThat(calls.get()).isGreaterThanOrEqualTo(20);
        }
    }

    @Test
    void of_missed_rounds_the_latest_is_submitted() throws Exception {
        try (FlowService service = start()) {
            service.schedule("hourly", plan, Schedule.cron("0 * * * *", ZoneOffset.UTC), Object::toString);
            Instant now = Instant.now();
            Instant hour = now.truncatedTo(ChronoUnit.HOURS);
            makeDue("hourly", hour.minus(3, ChronoUnit.DAYS));

            Await.until(
                    "the round is made", () -> !service.list(RunFilter.all()).isEmpty());

            assertThat(service.list(RunFilter.all()).getLast().id())
                    .isIn("hourly/" + hour, "hourly/" + hour.plus(1, ChronoUnit.HOURS)); // the hour may end here
        }
    }

    @Test
    void a_round_whose_function_throws_keeps_its_moment_and_is_made_when_it_no_longer_does() throws Exception {
        AtomicBoolean fails = new AtomicBoolean(true);
        try (FlowService service = start()) {
            service.schedule("minutely", plan, Schedule.cron("* * * * *", ZoneOffset.UTC), moment -> {
                if (fails.get()) {
                    throw new IllegalStateException("no rates");
                }
                return moment.toString();
            });
            Instant moment = makeDue("minutely", Instant.now().truncatedTo(ChronoUnit.MINUTES));
            Await.until("the problem is recorded", () -> query("SELECT problem FROM raddle_schedule") != null);
            StoredSchedule stored = service.schedules().getFirst();
            Instant kept = stored.nextAt(); // a minute may have ended before the first try
            assertThat(kept).isAfterOrEqualTo(moment);
            assertThat(stored.problem())
                    .isEqualTo("the round at " + kept + " has no parameter: java.lang.IllegalStateException: no rates;"
                            + " it is tried again, by any worker");
            assertThat(service.status("minutely/" + kept)).isEmpty();

            fails.set(false);
            awaitRun(service, "minutely/" + kept);
            Await.until(
                    "the problem is gone", () -> service.schedules().getFirst().problem() == null);
        }
    }

    @Test
    void a_round_whose_parameter_cannot_be_stored_says_so() throws Exception {
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, moment -> "x".repeat(1_100_000));
            makeDue("nightly");
            Await.until("the problem is recorded", () -> query("SELECT problem FROM raddle_schedule") != null);

            assertThat(service.schedules().getFirst().problem()).contains("1100000 bytes");
        }
    }

    private FlowPlan<String, String> waiting() {
        FlowBuilder<String> f = FlowPlan.define("waiting", String.class);
        return f.returning(f.signal("go", String.class));
    }

    @Test
    void a_round_waits_for_the_end_of_the_run_before() throws Exception {
        FlowPlan<String, String> waiting = waiting();
        try (FlowService service =
                database.service().register(waiting, "1", FlowCodec.text()).start()) {
            service.schedule("nightly", waiting, RARE, moment -> "p");
            Instant first = makeDue(
                    "nightly", Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60));
            Await.until(
                    "the first is there",
                    () -> service.status("nightly/" + first).isPresent());
            Instant second = makeDue("nightly", first.plusSeconds(1)); // so late that it says so
            Await.until("it says so", () -> service.schedules().getFirst().problem() != null);
            assertThat(service.schedules().getFirst().problem())
                    .isEqualTo("waits for the end of run \"nightly/" + first + "\"");
            assertThat(service.status("nightly/" + second)).isEmpty();

            assertThat(service.signal("nightly/" + first, "go", "on")).isTrue();
            Await.until(
                    "the second is there",
                    () -> service.status("nightly/" + second).isPresent());
        }
    }

    @Test
    void a_round_is_skipped_while_the_run_before_has_not_ended_if_it_shall() throws Exception {
        FlowPlan<String, String> waiting = waiting();
        try (FlowService service =
                database.service().register(waiting, "1", FlowCodec.text()).start()) {
            service.schedule("nightly", waiting, RARE.withOverlap(Overlap.SKIP), moment -> "p");
            Instant first = makeDue(
                    "nightly", Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60));
            Await.until(
                    "the first is there",
                    () -> service.status("nightly/" + first).isPresent());
            Instant second = makeDue("nightly", first.plusSeconds(1));
            Await.until(
                    "the second has been decided",
                    () -> service.schedules().getFirst().nextAt().isAfter(second));

            assertThat(service.list(RunFilter.all())).hasSize(1);
            assertThat(service.schedules().getFirst().lastRun()).isEqualTo("nightly/" + first);
        }
    }

    @Test
    void a_paused_schedule_makes_no_rounds_and_goes_on_with_the_first_moment_after_it_was_resumed() throws Exception {
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, moment -> "p");
            service.pauseSchedule("nightly");
            Instant moment = makeDue("nightly");
            Await.until(
                    "a worker has looked",
                    () -> query("SELECT execution_time > now() FROM raddle_task WHERE task_instance = 'nightly'")
                            .equals("t"));
            service.schedule("nightly", plan, RARE, other -> "p"); // as after a restart
            assertThat(service.schedules().getFirst().isPaused()).isTrue();

            service.resumeSchedule("nightly");
            assertThat(service.schedules().getFirst().nextAt()).isEqualTo(RARE.next(Instant.now()));
            assertThat(service.status("nightly/" + moment)).isEmpty();
            awaitRun(service, "nightly/" + makeDue("nightly"));
        }
    }

    @Test
    void a_round_does_not_begin_if_the_schedule_is_paused_while_its_parameter_is_made() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch paused = new CountDownLatch(1);
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, moment -> {
                called.countDown();
                try {
                    paused.await();
                } catch (InterruptedException stop) {
                    throw new IllegalStateException(stop);
                }
                return "p";
            });
            makeDue("nightly");
            called.await();
            service.pauseSchedule("nightly");
            paused.countDown();
            Await.until(
                    "the task is returned",
                    () -> query("SELECT NOT picked FROM raddle_task WHERE task_instance = 'nightly'")
                            .equals("t"));

            assertThat(service.list(RunFilter.all())).isEmpty();
        }
    }

    @Test
    void a_changed_expression_counts_from_the_call_and_a_round_that_is_due_keeps_its_moment() throws Exception {
        Schedule other = Schedule.cron("0 0 1 1 *", ZoneOffset.UTC);
        Instant moment;
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, ignored -> "p");
            service.schedule("nightly", plan, other, ignored -> "p");
            assertThat(service.schedules().getFirst().nextAt()).isEqualTo(other.next(Instant.now()));
        }
        moment = makeDue("nightly");
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, ignored -> "p");
            awaitRun(service, "nightly/" + moment);
            Await.until(
                    "it goes on",
                    () -> RARE.next(Instant.now())
                            .equals(service.schedules().getFirst().nextAt()));
        }
    }

    @Test
    void a_name_keeps_its_flow_until_the_schedule_is_removed() throws Exception {
        FlowPlan<String, String> other = plan("other");
        try (FlowService service = database.service()
                .register(plan, "1", FlowCodec.text())
                .register(other, "1", FlowCodec.text())
                .start()) {
            service.schedule("nightly", plan, RARE, moment -> "p");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.schedule("nightly", other, RARE, moment -> "p"))
                    .withMessage("schedule \"nightly\" must keep its flow, it has flow \"report\", and this is flow"
                            + " \"other\"; choose another name, or call removeSchedule(\"nightly\") before");

            assertThat(service.removeSchedule("nightly")).isTrue();
            assertThat(service.removeSchedule("nightly")).isFalse();
            assertThat(query("SELECT count(*) FROM raddle_task WHERE task_instance = 'nightly'"))
                    .isEqualTo("0");
            service.schedule("nightly", other, RARE, moment -> "p");
            Instant moment = makeDue("nightly");
            assertThat(awaitRun(service, "nightly/" + moment).flow()).isEqualTo("other");
        }
    }

    @Test
    void a_schedule_that_no_service_has_any_more_waits_and_says_so() throws Exception {
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, moment -> "p");
        }
        Instant moment =
                makeDue("nightly", Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60));
        try (FlowService service = start()) {
            assertThat(service.schedules().getFirst().problem())
                    .isEqualTo("due, and no worker has submitted the round; a worker that lives must call"
                            + " schedule(\"nightly\", …) and have a free place for a run");
            service.schedule("nightly", plan, RARE, again -> "p");
            awaitRun(service, "nightly/" + moment);
        }
    }

    @Test
    void a_clock_that_was_set_back_repeats_no_round() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (FlowService service = start()) {
            service.schedule("nightly", plan, RARE, moment -> "p" + calls.incrementAndGet());
            Instant moment = makeDue("nightly");
            awaitRun(service, "nightly/" + moment);
            makeDue("nightly", moment);
            Await.until(
                    "the moment was decided again",
                    () -> calls.get() >= 2
                            && service.schedules().getFirst().nextAt().isAfter(moment));

            assertThat(service.list(RunFilter.all())).hasSize(1);
            assertThat(service.value("nightly/" + moment)).isEqualTo("done p1");
        }
    }

    @Test
    void what_cannot_be_scheduled_is_refused() {
        try (FlowService service = start();
                FlowService viewer = database.service().start()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> viewer.schedule("nightly", plan, RARE, moment -> "p"))
                    .withMessage("schedule \"nightly\" needs a service that executes runs, and this one executes none;"
                            + " register flows, and leave out submitOnly()");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.schedule("nightly", plan("missing"), RARE, moment -> "p"))
                    .withMessage(
                            "the plan of schedule \"nightly\" must be that of new runs, and flow \"missing\" is not"
                                    + " registered here; call register(plan, …) before start()");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.schedule("nightly", plan("report"), RARE, moment -> "p"))
                    .withMessageEndingWith("has another plan in version 1; pass that one");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.schedule("", plan, RARE, moment -> "p"))
                    .withMessageContaining("it had 0");
            assertThatThrownBy(() -> service.pauseSchedule("none"))
                    .isInstanceOf(NoSuchElementException.class)
                    .hasMessage("there is no schedule \"none\"; schedules() has those that exist");
        }
    }
}
