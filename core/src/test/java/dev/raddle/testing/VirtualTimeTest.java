package dev.raddle.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.time.Alarm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {

    private final VirtualTime time = new VirtualTime();
    private final List<String> rang = new ArrayList<>();

    @Test
    void time_stands_still_until_it_is_told_to_advance() {
        assertThat(time.nanoTime()).isZero();
        assertThat(time.nanoTime()).isZero();

        time.advance(Duration.ofMillis(1_500));

        assertThat(time.nanoTime()).isEqualTo(1_500_000_000);
        assertThat(time).hasToString("virtual time, PT1.5S after its start");
    }

    @Test
    void alarms_ring_in_the_order_of_their_moments_and_of_their_making_where_these_are_equal() {
        after(3, "late");
        after(1, "early");
        after(2, "first of two");
        after(2, "second of two");

        time.advance(Duration.ofSeconds(3));

        assertThat(rang).containsExactly("early at 1", "first of two at 2", "second of two at 2", "late at 3");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void an_alarm_rings_at_its_moment_and_not_before() {
        after(2, "alarm");

        time.advance(Duration.ofNanos(1_999_999_999));
        assertThat(rang).isEmpty();
        assertThat(time.alarms()).isEqualTo(1);

        time.advance(Duration.ofNanos(1));
        assertThat(rang).containsExactly("alarm at 2");
    }

    @Test
    void an_alarm_made_by_an_alarm_rings_on_the_same_way_if_its_moment_lies_on_it() {
        time.after(Duration.ofSeconds(1), () -> {
            after(1, "inner");
            after(5, "too late");
        });

        time.advance(Duration.ofSeconds(4));

        assertThat(rang).containsExactly("inner at 2");
        assertThat(time.alarms()).isEqualTo(1);
        assertThat(time.nanoTime()).isEqualTo(4_000_000_000L);
    }

    @Test
    void an_alarm_with_no_delay_rings_as_soon_as_time_is_told_to_advance() {
        after(0, "zero");
        after(-7, "negative");
        assertThat(rang).isEmpty();

        time.advance(Duration.ZERO);

        assertThat(rang).containsExactly("zero at 0", "negative at 0");
    }

    @Test
    void an_alarm_that_was_cancelled_does_not_ring() {
        List<Alarm> second = new ArrayList<>();
        time.after(
                Duration.ofSeconds(1),
                () -> rang.add("cancels: " + second.getFirst().cancel()));
        second.add(time.after(Duration.ofSeconds(1), () -> rang.add("cancelled")));
        Alarm third = time.after(Duration.ofSeconds(1), () -> rang.add("third"));

        time.advance(Duration.ofSeconds(1));

        assertThat(rang).containsExactly("cancels: true", "third");
        assertThat(third.cancel()).as("it has rung").isFalse();
        assertThat(second.getFirst().cancel()).as("it was cancelled before").isFalse();
    }

    @Test
    void time_cannot_go_back() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> time.advance(Duration.ofNanos(-1)))
                .withMessage("time cannot go back, advance was PT-0.000000001S");
    }

    @Test
    void what_an_alarm_throws_comes_out_of_advance_and_the_rest_rings_next_time() {
        IllegalStateException thrown = new IllegalStateException();
        time.after(Duration.ofSeconds(1), () -> {
            throw thrown;
        });
        after(2, "next");

        assertThatThrownBy(() -> time.advance(Duration.ofSeconds(3))).isSameAs(thrown);
        assertThat(rang).isEmpty();
        time.advance(Duration.ofSeconds(1));

        assertThat(rang).containsExactly("next at 2");
    }

    @Test
    void a_test_can_wait_until_another_thread_has_made_an_alarm() throws Exception {
        FutureTask<Integer> waiter = new FutureTask<>(() -> {
            time.awaitAlarms(2);
            return time.alarms();
        });
        Thread thread = Thread.ofPlatform().start(waiter);
        after(1, "one");
        Wait.until(() -> thread.getState() == Thread.State.WAITING);
        assertThat(waiter.isDone()).isFalse();

        after(1, "two");

        assertThat(waiter.get()).isEqualTo(2);
    }

    @Test
    void waiting_for_alarms_that_nobody_makes_ends() throws Exception {
        after(1, "one");

        time.awaitAlarms(1, Duration.ZERO);
        assertThatThrownBy(() -> time.awaitAlarms(2, Duration.ofMillis(1)))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("1 of 2 alarms were pending after 1 ms");
    }

    @Test
    void what_follows_from_an_alarm_is_done_before_the_next_alarm_fires() {
        assertThat(time.follow(() -> rang.add("never"))).as("no alarm fires").isFalse();
        time.after(Duration.ofSeconds(1), () -> {
            assertThat(time.follow(() -> {
                        rang.add("follows");
                        time.follow(() -> rang.add("follows from that"));
                    }))
                    .isTrue();
            rang.add("alarm");
        });
        after(1, "next");

        time.advance(Duration.ofSeconds(1));

        assertThat(rang).containsExactly("alarm", "follows", "follows from that", "next at 1");
    }

    @Test
    void an_alarm_that_advances_time_sees_what_follows_from_the_alarms_on_that_way() {
        time.after(Duration.ofSeconds(1), () -> {
            time.after(Duration.ofSeconds(1), () -> time.follow(() -> rang.add("inner follows")));
            time.advance(Duration.ofSeconds(1));
            rang.add("outer");
        });

        time.advance(Duration.ofSeconds(5));

        assertThat(rang).containsExactly("inner follows", "outer");
        assertThat(time.follow(() -> rang.add("never"))).isFalse();
    }

    @Test
    void what_follows_is_done_whatever_the_alarm_throws() {
        IllegalStateException thrown = new IllegalStateException();
        AssertionError later = new AssertionError();
        time.after(Duration.ofSeconds(1), () -> {
            time.follow(() -> {
                throw later;
            });
            time.follow(() -> rang.add("follows"));
            throw thrown;
        });

        assertThatThrownBy(() -> time.advance(Duration.ofSeconds(1)))
                .isSameAs(thrown)
                .hasSuppressedException(later);

        assertThat(rang).containsExactly("follows");
    }

    private void after(long seconds, String name) {
        time.after(Duration.ofSeconds(seconds), () -> rang.add(name + " at " + time.nanoTime() / 1_000_000_000));
    }
}
