package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WrongTokensTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final WrongTokens tokens = new WrongTokens();

    @Test
    void from_the_tenth_on_each_is_answered_a_second_after_the_one_before_and_too_many_at_once_are_refused() {
        for (int i = 0; i < 9; i++) {
            assertThat(tokens.count(7, "me")).isZero();
        }

        assertThat(tokens.count(7, "me")).isEqualTo(SECOND);
        assertThat(tokens.count(7, "me")).isEqualTo(2 * SECOND);
        assertThat(tokens.count(7 + SECOND, "me")).isEqualTo(2 * SECOND);
        for (int i = 0; i < 10; i++) {
            tokens.count(7 + SECOND, "me");
        }
        assertThat(tokens.count(7 + SECOND, "me")).isNegative();
    }

    @Test
    void after_a_minute_without_many_the_first_ones_are_answered_at_once_again() {
        for (int i = 0; i < 20; i++) {
            tokens.count(0, "me");
        }

        assertThat(tokens.count(60 * SECOND, "me")).isZero();
    }
}
