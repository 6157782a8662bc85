package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistoryTest {

    private final History history = new History(History.LONG);

    @Test
    void only_the_last_seconds_count_also_after_a_time_without_clients() {
        history.add(1_000, 1, 40, 0);
        history.add(1_001, 1, 41, 0);
        history.add(5_000, 1, 2, 0);
        history.add(5_001, 1, 3, 10);

        assertThat(history.spark()).containsExactly(2, 3);
        assertThat(history.series(true))
                .isEqualTo(new History.Series(
                        List.of(5_000_000L, 5_001_000L), List.of(1, 1), List.of(2, 3), Arrays.asList(null, 10)));
    }

    @Test
    void the_numbers_begin_again_when_the_clock_is_set_back() {
        history.add(5_000, 1, 40, 100);
        history.add(1_400, 1, 2, 110);
        history.add(1_401, 1, 3, 115);

        assertThat(history.spark()).containsExactly(2, 3);
        assertThat(history.startsPerSecond()).isEqualTo(5);
    }
}
