package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void the_pause_doubles_until_it_has_reached_the_most() {
        Backoff backoff = Backoff.parse("200ms..1s");

        assertThat(IntStream.rangeClosed(1, 6).mapToObj(backoff::after).map(Duration::toMillis))
                .containsExactly(200L, 400L, 800L, 1000L, 1000L, 1000L);
    }

    @Test
    void a_single_length_stays_the_same() {
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
    void each_end_of_a_range_must_be_a_length_of_time() {
        assertThatThrownBy(() -> Backoff.parse("200ms..")).hasMessageContaining("must be a number with a unit");
        assertThatThrownBy(() -> Backoff.parse("fast")).hasMessageContaining("was \"fast\"");
    }

    @Test
    void it_reads_well_in_a_message() {
        assertThat(Backoff.parse("200ms..5s")).hasToString("200 ms to 5 s");
        assertThat(Backoff.parse("2s")).hasToString("2 s");
    }
}
