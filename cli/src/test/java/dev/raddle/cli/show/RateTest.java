package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class RateTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Offset<Double> CLOSE = Offset.offset(0.01);

    @Test
    void the_rate_is_zero_before_the_first_end() {
        assertThat(new Rate(0).perSecond(5 * SECOND)).isZero();
    }

    @Test
    void the_first_few_ends_are_measured_from_the_start() {
        Rate rate = new Rate(0);
        rate.ended(SECOND);
        rate.ended(2 * SECOND);

        assertThat(rate.perSecond(2 * SECOND)).isCloseTo(1.0, CLOSE);
    }

    @Test
    void later_only_the_last_ends_count_so_that_a_change_is_visible() {
        Rate rate = new Rate(0);
        for (int i = 1; i <= 1000; i++) {
            rate.ended(i * SECOND);
        }
        for (int i = 1; i <= 64; i++) {
            rate.ended(1000 * SECOND + i * SECOND / 10);
        }

        assertThat(rate.perSecond(1006 * SECOND + SECOND * 4 / 10)).isCloseTo(10.0, Offset.offset(0.2));
    }

    @Test
    void it_falls_while_nothing_ends() {
        Rate rate = new Rate(0);
        rate.ended(SECOND);

        assertThat(rate.perSecond(10 * SECOND)).isCloseTo(0.1, CLOSE);
    }
}
