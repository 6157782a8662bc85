package dev.raddle.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeadlineTest {

    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final Duration MOST_NEGATIVE = Duration.ofSeconds(Long.MIN_VALUE);

    @Test
    void a_deadline_approaches_and_passes_as_time_advances() {
        VirtualTime time = new VirtualTime();
        Deadline deadline = Deadline.after(time, Duration.ofSeconds(2));

        assertThat(deadline.remaining()).isEqualTo(Duration.ofSeconds(2));
        assertThat(deadline.hasPassed()).isFalse();

        time.advance(Duration.ofNanos(1_999_999_999));
        assertThat(deadline.remaining()).isEqualTo(Duration.ofNanos(1));
        assertThat(deadline.hasPassed()).isFalse();

        time.advance(Duration.ofNanos(1));
        assertThat(deadline.remaining()).isZero();
        assertThat(deadline.hasPassed()).isTrue();

        time.advance(Duration.ofSeconds(1));
        assertThat(deadline.remaining()).isEqualTo(Duration.ofSeconds(-1));
        assertThat(deadline.hasPassed()).isTrue();
    }

    @Test
    void the_longest_duration_is_in_the_future_whatever_the_clock_reads() {
        VirtualTime time = new VirtualTime();
        for (int round = 0; round < 4; round++) { // four times 146 years: once around the clock
            Deadline deadline = Deadline.after(time, LONGEST);
            assertThat(deadline.hasPassed()).isFalse();
            assertThat(deadline.remaining()).isGreaterThan(Duration.ofDays(146 * 365));
            time.advance(LONGEST);
            assertThat(deadline.hasPassed()).isTrue();
        }
    }

    @Test
    void the_most_negative_duration_is_in_the_past_whatever_the_clock_reads() {
        VirtualTime time = new VirtualTime();
        for (int round = 0; round < 4; round++) {
            Deadline deadline = Deadline.after(time, MOST_NEGATIVE);
            assertThat(deadline.hasPassed()).isTrue();
            assertThat(deadline.remaining()).isLessThan(Duration.ofDays(-146 * 365));
            time.advance(LONGEST);
        }
    }

    @Test
    void a_length_in_nanoseconds_is_clamped_so_that_adding_it_to_a_moment_cannot_overflow() {
        long most = Long.MAX_VALUE / 2;

        assertThat(Deadline.nanos(Duration.ofMillis(200))).isEqualTo(200_000_000);
        assertThat(Deadline.nanos(Duration.ofNanos(-1))).isEqualTo(-1);
        assertThat(Deadline.nanos(Duration.ofNanos(most))).isEqualTo(most);
        assertThat(Deadline.nanos(Duration.ofNanos(most + 1))).isEqualTo(most);
        assertThat(Deadline.nanos(Duration.ofNanos(Long.MAX_VALUE))).isEqualTo(most);
        assertThat(Deadline.nanos(LONGEST)).isEqualTo(most);
        assertThat(Deadline.nanos(MOST_NEGATIVE)).isEqualTo(-most);
    }

    @Test
    void an_alarm_at_a_deadline_fires_at_its_moment_however_late_it_was_armed() {
        VirtualTime time = new VirtualTime();
        Deadline deadline = Deadline.after(time, Duration.ofSeconds(3));
        List<Long> fired = new ArrayList<>();

        time.advance(Duration.ofSeconds(2));
        deadline.alarm(() -> fired.add(time.nanoTime()));
        time.advance(Duration.ofSeconds(5));
        deadline.alarm(() -> fired.add(time.nanoTime())); // the moment has passed: as soon as possible
        time.advance(Duration.ZERO);

        assertThat(fired).containsExactly(3_000_000_000L, 7_000_000_000L);
    }

    @Test
    void an_alarm_at_a_deadline_can_be_cancelled() {
        VirtualTime time = new VirtualTime();
        List<String> fired = new ArrayList<>();
        Alarm alarm = Deadline.after(time, Duration.ofSeconds(1)).alarm(() -> fired.add("alarm"));

        assertThat(alarm.cancel()).isTrue();
        time.advance(Duration.ofSeconds(2));

        assertThat(fired).isEmpty();
    }
}
