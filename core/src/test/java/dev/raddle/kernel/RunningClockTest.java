package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.RealAlarms;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RunningClockTest {

    private static final long SECOND = 1_000_000_000;
    private static final long UNNOTICED = 100_000_000; // of a stop

    private final VirtualTime time = new VirtualTime();
    private final TimeSource real = new RealAlarms(time);
    private final RunningClock clock = new RunningClock();
    private boolean needed = true;

    @Test
    void a_clock_that_is_not_watched_loses_nothing() {
        assertThat(clock.at(5 * SECOND) - clock.at(0)).isEqualTo(5 * SECOND);
        assertThat(clock.wasStopped(0, 5 * SECOND)).isFalse();
    }

    @Test
    void a_watched_clock_goes_on_while_it_ticks() {
        clock.watch(real, () -> needed);
        time.advance(Duration.ofHours(1));

        assertThat(clock.at(time.nanoTime())).isEqualTo(3_600 * SECOND);
        assertThat(clock.wasStopped(0, time.nanoTime())).isFalse();
    }

    @Test
    void a_reader_notices_a_stop_before_the_next_tick() {
        clock.watch(real, () -> needed);

        assertThat(clock.at(5 * SECOND)).isEqualTo(UNNOTICED);
        assertThat(clock.at(5 * SECOND + 1)).isEqualTo(UNNOTICED + 1);
        assertThat(clock.wasStopped(4 * SECOND, 5 * SECOND + 1)).isTrue();
        assertThat(clock.wasStopped(5 * SECOND, 5 * SECOND + 1)).isFalse();
    }

    @Test
    void readings_that_come_often_keep_a_late_tick_from_being_a_stop() {
        clock.watch(real, () -> needed);
        for (long now = 0; now < SECOND; now += UNNOTICED) {
            clock.at(now);
        }

        assertThat(clock.at(SECOND)).isEqualTo(SECOND);
    }

    @Test
    void the_ticks_end_when_they_are_not_needed_and_begin_again() {
        clock.watch(real, () -> needed);
        clock.watch(real, () -> needed);
        assertThat(time.alarms()).isEqualTo(1);

        needed = false;
        time.advance(Duration.ofSeconds(1));
        assertThat(time.alarms()).isZero();
        assertThat(clock.isWatched()).isFalse();

        needed = true;
        clock.watch(real, () -> needed);
        assertThat(clock.isWatched()).isTrue();
        clock.close();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_time_source_that_fails_does_not_leave_the_clock_without_ticks() {
        boolean[] fails = {true};
        TimeSource failing = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                if (fails[0]) {
                    throw new IllegalStateException("no alarm");
                }
                return time.after(delay, action);
            }
        };
        clock.watch(failing, () -> needed);
        assertThat(clock.isWatched()).isFalse();

        fails[0] = false;
        clock.watch(failing, () -> needed);
        fails[0] = true;
        time.advance(Duration.ofSeconds(1));
        assertThat(clock.isWatched()).isFalse();
        assertThat(clock.at(5 * SECOND) - clock.at(0)).isEqualTo(5 * SECOND);
    }
}
