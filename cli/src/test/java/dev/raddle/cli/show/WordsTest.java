package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.Counts;
import org.junit.jupiter.api.Test;

class WordsTest {
    @Test
    void times_have_the_precision_that_matters() {
        assertThat(Words.time(0)).isEqualTo("0.00 s");
        assertThat(Words.time(214)).isEqualTo("0.21 s");
        assertThat(Words.time(9999)).isEqualTo("10.00 s");
        assertThat(Words.time(12_340)).isEqualTo("12.3 s");
        assertThat(Words.time(185_000)).isEqualTo("3 min 5 s");
        assertThat(Words.time(7_380_000)).isEqualTo("2 h 3 min");
        assertThat(Words.rough(7_600)).isEqualTo("8 s");
        assertThat(Words.rough(59_900)).isEqualTo("1 min 0 s");
    }

    @Test
    void only_what_happened_is_told() {
        assertThat(Words.outcomes(new Counts(3, 3, 0, 0, 0, 0, 0, 3, 0, 0, 1))).isEqualTo("3 succeeded");
        assertThat(Words.outcomes(new Counts(15, 1, 2, 3, 4, 5, 0, 3, 0, 0, 1)))
                .isEqualTo("1 succeeded, 2 failed, 3 timed out, 4 rejected, 5 cancelled");
    }

    @Test
    void one_is_not_many() {
        assertThat(Words.count(1, "task", "tasks")).isEqualTo("1 task");
        assertThat(Words.count(0, "task", "tasks")).isEqualTo("0 tasks");
    }
}
