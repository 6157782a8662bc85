package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The short form of {@code ./dev soak durable}. */
@Timeout(200)
class KillTest {
    private static final long SEED = 14;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    @Test
    void runs_of_killed_and_stopped_workers_end_once_and_no_recorded_node_runs_again() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 3, Map.of())) {
            for (int fault = 0; fault < 7; fault++) {
                run.submit(20);
                run.fault(0.2);
            }
            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();
            System.out.println(run.report());

            assertThat(run.violations()).isEmpty();
        }
    }

    @Test
    void each_round_of_a_schedule_is_one_run_while_workers_are_killed_and_stopped_around_its_moment() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 3, Map.of())) {
            for (int fault = 0; fault < 8; fault++) {
                run.round();
                run.fault(0.2);
            }
            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();
            System.out.println(run.report());

            assertThat(run.violations()).isEmpty();
        }
    }

    @Test
    void the_judge_finds_a_round_without_a_run() throws Exception {
        Map<String, String> bug = Map.of("bug", SeededBug.ROUND_IN_TWO_TRANSACTIONS.name());
        try (KillRun run = new KillRun(database.url(), SEED, 1, bug)) {
            run.round();
            assertThat(run.awaitEnds(Await.BOUND)).as("the round is decided").isTrue();

            assertThat(run.violations()).contains("runs: 0 instead of 1");
        }
    }

    @Test
    void runs_that_are_stopped_while_workers_are_killed_end_once_and_are_undone_once() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 2, Map.of())) {
            for (int fault = 0; fault < 4; fault++) {
                run.book(4);
                run.fault(0);
            }
            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();
            System.out.println(run.report());

            assertThat(run.violations()).isEmpty();
            for (Bookings.Stop stop : Bookings.Stop.values()) {
                assertThat(run.number("SELECT count(*) FROM undone u JOIN raddle_run r ON r.id = u.run_id"
                                + " WHERE r.version = '" + stop + "'"))
                        .as("undone after " + stop)
                        .isPositive();
            }
        }
    }

    @Test
    void a_killed_workers_runs_are_taken_over_within_its_heartbeats_and_two_seconds() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 0, Map.of())) {
            WorkerJvm first = run.addWorker(Map.of("length", "60000")); // its nodes do not end in time
            run.submit(8);
            Await.until("all runs have begun", () -> run.number("SELECT count(DISTINCT run_id) FROM attempt") == 8);
            run.addWorker(Map.of());
            long before = System.nanoTime();
            run.workers().remove(first);
            first.kill();
            Await.until("all runs are claimed again", () -> run.number("SELECT min(epoch) FROM raddle_run") > 1);
            Duration passed = Duration.ofNanos(System.nanoTime() - before);
            System.out.println("all 8 runs were taken over " + passed.toMillis()
                    + " ms after the kill; heartbeats may be missing for 1000 ms");

            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();
            assertThat(run.violations()).isEmpty();
        }
    }

    /** The pauses are those of {@link Transfers} and of the transaction in which a node is recorded. */
    @ParameterizedTest
    @ValueSource(strings = {"check:begun", "debit:connected", "debit:moved", "any:recording", "any:committing"})
    void a_worker_that_is_stopped_beyond_its_lease_writes_nothing(String point) throws Exception {
        assertThat(stopAt(point, Map.of())).isEmpty();
    }

    @Test
    void without_a_check_of_the_epoch_a_stopped_worker_writes_over_its_successor() throws Exception {
        assertThat(stopAt("check:begun", Map.of("bug", SeededBug.NO_EPOCH.name())))
                .anyMatch(each -> each.startsWith("records of nodes"));
    }

    private List<String> stopAt(String point, Map<String, String> options) throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 0, options)) {
            WorkerJvm stopped = run.addWorker(Map.of("pause", point));
            run.submit(1);
            stopped.await("paused");
            stopped.stop();
            run.addWorker(Map.of());
            assertThat(run.awaitEnds(Await.BOUND))
                    .as("the other worker ends the run")
                    .isTrue();
            stopped.proceed();
            stopped.exit(); // when it has ended what it was doing
            run.workers().remove(stopped);
            return run.violations();
        }
    }

    @ParameterizedTest
    @CsvSource({"NO_MEMORY, debit:begun, recorded nodes that ran again", "TWO_TRANSACTIONS, receipt:begun, balance"})
    void the_judge_finds_seeded_bugs(SeededBug bug, String point, String violation) throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 0, Map.of("bug", bug.name()))) {
            WorkerJvm first = run.addWorker(Map.of("pause", point));
            run.submit(1);
            first.await("paused");
            run.workers().remove(first);
            first.kill();
            run.addWorker(Map.of());
            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();

            assertThat(run.violations()).anyMatch(each -> each.startsWith(violation));
        }
    }

    @Test
    void a_worker_that_is_killed_in_a_compensation_leaves_the_others_undone_once() throws Exception {
        assertThat(killWhileUndoing(Map.of())).isEmpty();
    }

    @Test
    void the_judge_finds_what_is_undone_twice() throws Exception {
        assertThat(killWhileUndoing(Map.of("bug", SeededBug.NO_MEMORY_OF_UNDOINGS.name())))
                .contains("nodes undone twice: 1 instead of 0");
    }

    private List<String> killWhileUndoing(Map<String, String> options) throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 0, options)) {
            WorkerJvm first = run.addWorker(Map.of("length", "3600000")); // the undoing of the payment does not end
            String id = run.book(Bookings.Stop.CANCEL);
            Await.until(
                    "the hotel is booked",
                    () -> run.number("SELECT count(*) FROM raddle_entry WHERE kind = 'NODE' AND node = 'hotel'") == 1);
            run.cancel(id);
            Await.until("the hotel is undone", () -> run.number("SELECT count(*) FROM undone") >= 1);
            run.workers().remove(first);
            first.kill();
            run.addWorker(Map.of());
            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();

            return run.violations();
        }
    }

    @Test
    void runs_are_lost_if_a_missed_heartbeat_is_ignored() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 0, Map.of("bug", SeededBug.NO_DEADLINE.name()))) {
            WorkerJvm first = run.addWorker(Map.of("length", "60000"));
            run.submit(8);
            Await.until("all runs have begun", () -> run.number("SELECT count(DISTINCT run_id) FROM attempt") == 8);
            run.addWorker(Map.of());
            run.workers().remove(first);
            first.kill();

            assertThat(run.awaitEnds(Duration.ofSeconds(5))).as("all runs end").isFalse();
        }
    }
}
