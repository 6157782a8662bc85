package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.Pools.StuckTasks;
import dev.raddle.pool.PoolListener.Ended;
import dev.raddle.pool.PoolListener.Stuck;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PoolsTest {

    private static final Runnable TASK = () -> {};

    private final StuckTasks tasks = new StuckTasks();
    private final long now = System.currentTimeMillis();

    private void report(Duration ranFor) {
        tasks.stuck(new Stuck(TASK, Thread.currentThread(), ranFor, List.of()));
    }

    @Test
    void a_task_that_ended_while_it_was_reported_is_not_stuck_forever() {
        tasks.ended(new Ended(TASK, Thread.currentThread(), Duration.ZERO, Duration.ofSeconds(10), null));
        report(Duration.ofSeconds(10));

        assertThat(tasks.rows(now)).hasSize(1);
        assertThat(tasks.rows(now + 600_000)).isEmpty();
    }

    @Test
    void a_stuck_task_is_shown_between_its_reports_and_a_late_one() {
        report(Duration.ofHours(3));

        assertThat(tasks.rows(now + 5 * 3_600_000)).hasSize(1);
    }

    @Test
    void the_time_until_the_next_report_is_that_until_the_first_one() {
        report(Duration.ofSeconds(10));
        report(Duration.ofHours(3));

        assertThat(tasks.rows(now + 60_000)).hasSize(1);
        assertThat(tasks.rows(now + 600_000)).isEmpty();
    }
}
