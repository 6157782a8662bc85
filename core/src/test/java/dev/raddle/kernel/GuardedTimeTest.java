package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class GuardedTimeTest {

    private LongSupplier now = () -> 0;
    private final List<Throwable> reported = new ArrayList<>();
    private final TimeSource source = new TimeSource() {
        @Override
        public long nanoTime() {
            return now.getAsLong();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            throw new UnsupportedOperationException("simulated");
        }
    };
    private final TimeSource guarded = GuardedTime.guard(source, reported::add);

    @Test
    void a_clock_that_breaks_does_not_go_back_before_an_earlier_reading() {
        now = () -> {
            now = () -> 100;
            assertThat(guarded.nanoTime())
                    .as("a concurrent reading by a faster thread")
                    .isEqualTo(100);
            return 50;
        };
        assertThat(guarded.nanoTime()).isEqualTo(50);
        IllegalStateException broken = new IllegalStateException("simulated");
        now = () -> {
            throw broken;
        };

        assertThat(guarded.nanoTime()).isEqualTo(100);
        assertThat(reported).containsExactly(broken);
    }

    @Test
    void a_broken_clock_that_was_never_read_returns_zero() {
        now = () -> {
            throw new IllegalStateException("simulated");
        };

        assertThat(guarded.nanoTime()).isZero();
    }

    @Test
    void a_clock_with_negative_time_is_read_as_it_is() {
        now = () -> -100;
        assertThat(guarded.nanoTime()).isEqualTo(-100);
        now = () -> {
            throw new IllegalStateException("simulated");
        };

        assertThat(guarded.nanoTime()).isEqualTo(-100);
    }
}
