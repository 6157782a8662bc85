package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The short form of {@code ./dev soak durable}. */
@Timeout(200)
class KillTest {
    private static final long SEED = 14;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    @Test
    void runs_of_killed_and_stopped_workers_end_once_and_no_recorded_node_runs_again() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 3, null)) {
            for (int fault = 0; fault < 10; fault++) {
                run.submit(20);
                run.fault(0.2);
            }
            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();
            System.out.println(run.report());

            assertThat(run.violations()).isEmpty();
        }
    }

    @Test
    void a_killed_workers_runs_are_taken_over_within_its_heartbeats_and_two_seconds() throws Exception {
        try (KillRun run = new KillRun(database.url(), SEED, 1, null)) {
            run.submit(40);
            Await.until("some nodes are recorded", () -> count(run) > 8);
            WorkerProcess other = run.startWorker(java.util.Map.of()).awaitReady();
            run.workers().add(other);
            long before = System.nanoTime();
            run.workers().removeFirst().kill();

            assertThat(run.awaitEnds(Await.BOUND)).as("all runs end").isTrue();
            System.out.println("40 runs ended " + Duration.ofNanos(System.nanoTime() - before).toMillis()
                    + " ms after the kill; heartbeats may be missing for 1000 ms");
            assertThat(run.violations()).isEmpty();
        }
    }

    private static long count(KillRun run) {
        try {
            return run.number("SELECT count(*) FROM raddle_entry WHERE kind = 'NODE'");
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
