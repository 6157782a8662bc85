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
    void a_deadline_is_a_moment_that_comes_nearer_and_passes() {
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
    void the_longest_duration_lies_in_the_future_wherever_the_clock_stands() {
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
    void the_most_negative_duration_lies_in_the_past_wherever_the_clock_stands() {
        VirtualTime time = new VirtualTime();
        for (int round = 0; round < 4; round++) {
            Deadline deadline = Deadline.after(time, MOST_NEGATIVE);
            assertThat(deadline.hasPassed()).isTrue();
            assertThat(deadline.remaining()).isLessThan(Duration.ofDays(-146 * 365));
            time.advance(LONGEST);
        }
    }

    @Test
    void a_length_in_nanoseconds_is_cut_so_that_adding_it_to_a_moment_cannot_overflow() {
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
    void an_alarm_at_a_deadline_rings_at_its_moment_however_late_it_was_made() {
        VirtualTime time = new VirtualTime();
        Deadline deadline = Deadline.after(time, Duration.ofSeconds(3));
        List<Long> rang = new ArrayList<>();

        time.advance(Duration.ofSeconds(2));
        deadline.alarm(() -> rang.add(time.nanoTime()));
        time.advance(Duration.ofSeconds(5));
        deadline.alarm(() -> rang.add(time.nanoTime())); // the moment has passed: as soon as possible
        time.advance(Duration.ZERO);

        assertThat(rang).containsExactly(3_000_000_000L, 7_000_000_000L);
    }

    @Test
    void an_alarm_at_a_deadline_can_be_called_off() {
        VirtualTime time = new VirtualTime();
        List<String> rang = new ArrayList<>();
        Alarm alarm = Deadline.after(time, Duration.ofSeconds(1)).alarm(() -> rang.add("ring"));

        assertThat(alarm.cancel()).isTrue();
        time.advance(Duration.ofSeconds(2));

        assertThat(rang).isEmpty();
    }
}
