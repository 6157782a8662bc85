package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
    @Test
    void a_number_with_a_unit_is_a_duration() {
        assertThat(Durations.parse("200ms")).isEqualTo(Duration.ofMillis(200));
        assertThat(Durations.parse("5s")).isEqualTo(Duration.ofSeconds(5));
        assertThat(Durations.parse("1.5m")).isEqualTo(Duration.ofSeconds(90));
        assertThat(Durations.parse("2h")).isEqualTo(Duration.ofHours(2));
        assertThat(Durations.parse("8760h")).isEqualTo(Duration.ofDays(365));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "s", "5 s", "-5s", "5S", "five seconds", "1m30s", "5s\n", "1.s", "5d", "٣s"})
    void any_other_text_is_refused_with_the_allowed_forms(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("must be a number with a unit (ms, s, m or h)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"8761h", "999999999999999h", "999999999999999.999999999ms"})
    void more_than_a_year_is_refused_and_nothing_overflows(String text) {
        assertThatThrownBy(() -> Durations.parse(text)).hasMessage("must be at most 8760h, was \"" + text + "\"");
    }

    @Test
    void messages_use_a_suitable_unit() {
        assertThat(Durations.text(Duration.ofMillis(200))).isEqualTo("200 ms");
        assertThat(Durations.text(Duration.ofMillis(1250))).isEqualTo("1.25 s");
        assertThat(Durations.text(Duration.ofSeconds(10))).isEqualTo("10 s");
        assertThat(Durations.text(Duration.ofSeconds(90))).isEqualTo("90 s");
        assertThat(Durations.text(Duration.ofMinutes(3))).isEqualTo("3 min");
        assertThat(Durations.text(Duration.ofHours(2))).isEqualTo("2 h");
    }
}
