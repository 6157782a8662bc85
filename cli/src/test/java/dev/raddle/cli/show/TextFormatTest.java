package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.Counts;
import org.junit.jupiter.api.Test;

class TextFormatTest {
    @Test
    void times_have_a_suitable_precision() {
        assertThat(TextFormat.time(0)).isEqualTo("0.00 s");
        assertThat(TextFormat.time(214)).isEqualTo("0.21 s");
        assertThat(TextFormat.time(9999)).isEqualTo("10.00 s");
        assertThat(TextFormat.time(12_340)).isEqualTo("12.3 s");
        assertThat(TextFormat.time(185_000)).isEqualTo("3 min 5 s");
        assertThat(TextFormat.time(7_380_000)).isEqualTo("2 h 3 min");
        assertThat(TextFormat.toSecond(7_600)).isEqualTo("8 s");
        assertThat(TextFormat.toSecond(59_900)).isEqualTo("1 min 0 s");
    }

    @Test
    void only_outcomes_that_occurred_are_listed() {
        assertThat(TextFormat.outcomes(new Counts(3, 3, 0, 0, 0, 0, 0, 3, 0, 0, 1)))
                .isEqualTo("3 succeeded");
        assertThat(TextFormat.outcomes(new Counts(15, 1, 2, 3, 4, 5, 0, 3, 0, 0, 1)))
                .isEqualTo("1 succeeded, 2 failed, 3 timed out, 4 rejected, 5 cancelled");
    }

    @Test
    void a_count_of_one_is_singular() {
        assertThat(TextFormat.count(1, "task", "tasks")).isEqualTo("1 task");
        assertThat(TextFormat.count(0, "task", "tasks")).isEqualTo("0 tasks");
    }
}
