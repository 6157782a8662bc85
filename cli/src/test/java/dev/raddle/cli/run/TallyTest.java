package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class TallyTest {
    private final Tally tally = new Tally();

    private void start(String id, String group) {
        tally.on(new RunEvent.AttemptStarted(Instant.EPOCH, id, group, 1, 1, 1, null, null));
    }

    private void end(String id, String group, TaskState state, long runMillis) {
        tally.on(new RunEvent.TaskEnded(
                Instant.EPOCH,
                new TaskResult(id, group, "x", state).withAttempts(1, 0).withTimes(5, runMillis)));
    }

    @Test
    void every_state_is_counted_by_group_and_in_total() {
        end("a", "g", TaskState.SUCCEEDED, 10);
        end("b", "g", TaskState.FAILED, 20);
        end("c", "h", TaskState.TIMED_OUT, 30);
        end("d", "h", TaskState.REJECTED, 0);
        end("e", "h", TaskState.CANCELLED, 0);

        Summary summary = tally.summary(Duration.ofSeconds(1));

        assertThat(summary.totals()).isEqualTo(new Counts(5, 1, 1, 1, 1, 1, 0, 5, 25, 60, 0));
        assertThat(summary.groups()).containsOnlyKeys("g", "h");
        assertThat(summary.groups().get("g")).isEqualTo(new Counts(2, 1, 1, 0, 0, 0, 0, 2, 10, 30, 0));
    }

    @Test
    void the_peak_is_the_number_of_concurrent_tasks_regardless_of_retries() {
        start("a", "g");
        start("a", "g");
        start("b", "g");
        end("a", "g", TaskState.SUCCEEDED, 1);
        start("c", "g");
        start("d", "h");

        assertThat(tally.summary(Duration.ZERO).groups().get("g").peakRunning()).isEqualTo(2);
        assertThat(tally.totals().peakRunning()).isEqualTo(3);
    }

    @Test
    void the_ten_slowest_are_listed_longest_first() {
        for (int i = 1; i <= 30; i++) {
            end("t" + i, "g", TaskState.SUCCEEDED, i * 7 % 31);
        }

        assertThat(tally.summary(Duration.ZERO).slowest())
                .extracting(TaskResult::runMillis)
                .containsExactly(30L, 29L, 28L, 27L, 26L, 25L, 24L, 23L, 22L, 21L);
    }
}
