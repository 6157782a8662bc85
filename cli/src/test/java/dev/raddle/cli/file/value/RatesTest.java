package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Rate;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RatesTest {
    @Test
    void a_number_a_slash_and_a_time_are_a_rate() {
        assertThat(Rates.parse("5/s")).isEqualTo(Rate.perSecond(5));
        assertThat(Rates.parse("300/m")).isEqualTo(Rate.of(300, Duration.ofMinutes(1)));
        assertThat(Rates.parse("10/30s")).isEqualTo(Rate.of(10, Duration.ofSeconds(30)));
        assertThat(Rates.parse("1/1.5h")).isEqualTo(Rate.of(1, Duration.ofMinutes(90)));
        assertThat(Rates.parse("1/ms")).isEqualTo(Rate.of(1, Duration.ofMillis(1)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "5",
                "5/",
                "/s",
                "0/s",
                "-1/s",
                "5/d",
                "5 / s",
                "5/s ",
                "1.5/s",
                "9999999999/s",
                "5/0s",
                "5/9999h",
                "٣/s"
            })
    void any_other_text_is_refused_with_the_allowed_forms(String text) {
        assertThatThrownBy(() -> Rates.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("must be a number of at least 1, a slash and a time (ms, s, m or h), such as 5/s, 300/m or"
                        + " 10/30s, was \"" + text + "\"");
    }

    @Test
    void messages_name_the_number_the_time_and_the_burst() {
        assertThat(Rates.text(Rate.perSecond(5))).isEqualTo("5 per 1 s");
        assertThat(Rates.text(Rate.of(10, Duration.ofSeconds(30)).burst(1))).isEqualTo("10 per 30 s with a burst of 1");
        assertThat(Rates.text(Rates.parse("1/0.5ms"))).isEqualTo("1 per 0.5 ms");
        assertThat(Rates.text(Rates.parse("2/1.0005s"))).isEqualTo("2 per 1000.5 ms");
    }
}
