package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void the_pause_doubles_up_to_the_maximum() {
        Backoff backoff = Backoff.parse("200ms..1s");

        assertThat(IntStream.rangeClosed(1, 6).mapToObj(backoff::after).map(Duration::toMillis))
                .containsExactly(200L, 400L, 800L, 1000L, 1000L, 1000L);
    }

    @Test
    void a_single_duration_is_a_constant_pause() {
        Backoff backoff = Backoff.parse("2s");

        assertThat(backoff.after(1)).isEqualTo(Duration.ofSeconds(2));
        assertThat(backoff.after(999)).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void many_attempts_do_not_overflow() {
        assertThat(Backoff.parse("1ms..8760h").after(Integer.MAX_VALUE)).isEqualTo(Duration.ofDays(365));
        assertThat(Backoff.parse("0s..1s").after(Integer.MAX_VALUE)).isZero();
    }

    @Test
    void a_range_must_not_begin_above_its_end() {
        assertThatThrownBy(() -> Backoff.parse("5s..200ms"))
                .hasMessage("must not begin above its end, was \"5s..200ms\"");
    }

    @Test
    void each_end_of_a_range_must_be_a_duration() {
        assertThatThrownBy(() -> Backoff.parse("200ms..")).hasMessageContaining("must be a number with a unit");
        assertThatThrownBy(() -> Backoff.parse("fast")).hasMessageContaining("was \"fast\"");
    }

    @Test
    void a_message_names_the_first_and_the_longest_pause() {
        assertThat(Backoff.parse("200ms..5s")).hasToString("200 ms to 5 s");
        assertThat(Backoff.parse("2s")).hasToString("2 s");
    }
}
