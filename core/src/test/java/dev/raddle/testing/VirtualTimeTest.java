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
    private final List<String> fired = new ArrayList<>();

    @Test
    void time_does_not_pass_until_it_is_advanced() {
        assertThat(time.nanoTime()).isZero();
        assertThat(time.nanoTime()).isZero();

        time.advance(Duration.ofMillis(1_500));

        assertThat(time.nanoTime()).isEqualTo(1_500_000_000);
        assertThat(time).hasToString("virtual time, PT1.5S after its start");
    }

    @Test
    void alarms_fire_in_the_order_of_their_times_and_equal_ones_in_the_order_of_their_creation() {
        after(3, "late");
        after(1, "early");
        after(2, "first of two");
        after(2, "second of two");

        time.advance(Duration.ofSeconds(3));

        assertThat(fired).containsExactly("early at 1", "first of two at 2", "second of two at 2", "late at 3");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void an_alarm_fires_at_its_time_and_not_before() {
        after(2, "alarm");

        time.advance(Duration.ofNanos(1_999_999_999));
        assertThat(fired).isEmpty();
        assertThat(time.alarms()).isEqualTo(1);

        time.advance(Duration.ofNanos(1));
        assertThat(fired).containsExactly("alarm at 2");
    }

    @Test
    void an_alarm_that_an_alarm_created_fires_in_the_same_advance_if_its_time_is_reached() {
        time.after(Duration.ofSeconds(1), () -> {
            after(1, "inner");
            after(5, "too late");
        });

        time.advance(Duration.ofSeconds(4));

        assertThat(fired).containsExactly("inner at 2");
        assertThat(time.alarms()).isEqualTo(1);
        assertThat(time.nanoTime()).isEqualTo(4_000_000_000L);
    }

    @Test
    void time_does_not_go_back_after_an_alarm_has_advanced_it_further() {
        time.after(Duration.ofSeconds(1), () -> time.advance(Duration.ofSeconds(5)));
        after(4, "inner");

        time.advance(Duration.ofSeconds(2));

        assertThat(fired).containsExactly("inner at 4");
        assertThat(time.nanoTime()).isEqualTo(6_000_000_000L);
    }

    @Test
    void an_alarm_without_delay_fires_at_the_next_advance() {
        after(0, "zero");
        after(-7, "negative");
        assertThat(fired).isEmpty();

        time.advance(Duration.ZERO);

        assertThat(fired).containsExactly("zero at 0", "negative at 0");
    }

    @Test
    void an_alarm_that_was_cancelled_does_not_fire() {
        List<Alarm> second = new ArrayList<>();
        time.after(
                Duration.ofSeconds(1),
                () -> fired.add("cancels: " + second.getFirst().cancel()));
        second.add(time.after(Duration.ofSeconds(1), () -> fired.add("cancelled")));
        Alarm third = time.after(Duration.ofSeconds(1), () -> fired.add("third"));

        time.advance(Duration.ofSeconds(1));

        assertThat(fired).containsExactly("cancels: true", "third");
        assertThat(third.cancel()).as("it has fired").isFalse();
        assertThat(second.getFirst().cancel()).as("it was cancelled before").isFalse();
    }

    @Test
    void time_cannot_go_back() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> time.advance(Duration.ofNanos(-1)))
                .withMessage("time cannot go back, advance was PT-0.000000001S");
    }

    @Test
    void advance_throws_the_exception_of_an_alarm_and_the_other_alarms_fire_next_time() {
        IllegalStateException thrown = new IllegalStateException();
        time.after(Duration.ofSeconds(1), () -> {
            throw thrown;
        });
        after(2, "next");

        assertThatThrownBy(() -> time.advance(Duration.ofSeconds(3))).isSameAs(thrown);
        assertThat(fired).isEmpty();
        time.advance(Duration.ofSeconds(1));

        assertThat(fired).containsExactly("next at 2");
    }

    @Test
    void a_test_can_wait_until_another_thread_has_created_an_alarm() throws Exception {
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
    void waiting_for_alarms_that_are_never_created_times_out() throws Exception {
        after(1, "one");

        time.awaitAlarms(1, Duration.ZERO);
        assertThatThrownBy(() -> time.awaitAlarms(2, Duration.ofMillis(1)))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("1 of 2 alarms were pending after 1 ms");
    }

    @Test
    void the_follow_up_of_an_alarm_runs_before_the_next_alarm_fires() {
        assertThat(time.follow(() -> fired.add("never"))).as("no alarm fires").isFalse();
        time.after(Duration.ofSeconds(1), () -> {
            assertThat(time.follow(() -> {
                        fired.add("follows");
                        time.follow(() -> fired.add("follows from that"));
                    }))
                    .isTrue();
            fired.add("alarm");
        });
        after(1, "next");

        time.advance(Duration.ofSeconds(1));

        assertThat(fired).containsExactly("alarm", "follows", "follows from that", "next at 1");
    }

    @Test
    void an_alarm_that_advances_time_sees_the_follow_ups_of_the_alarms_that_fire() {
        time.after(Duration.ofSeconds(1), () -> {
            time.after(Duration.ofSeconds(1), () -> time.follow(() -> fired.add("inner follows")));
            time.advance(Duration.ofSeconds(1));
            fired.add("outer");
        });

        time.advance(Duration.ofSeconds(5));

        assertThat(fired).containsExactly("inner follows", "outer");
        assertThat(time.follow(() -> fired.add("never"))).isFalse();
    }

    @Test
    void a_follow_up_runs_even_if_the_alarm_throws() {
        IllegalStateException thrown = new IllegalStateException();
        AssertionError later = new AssertionError();
        time.after(Duration.ofSeconds(1), () -> {
            time.follow(() -> {
                throw later;
            });
            time.follow(() -> fired.add("follows"));
            throw thrown;
        });

        assertThatThrownBy(() -> time.advance(Duration.ofSeconds(1)))
                .isSameAs(thrown)
                .hasSuppressedException(later);

        assertThat(fired).containsExactly("follows");
    }

    private void after(long seconds, String name) {
        time.after(Duration.ofSeconds(seconds), () -> fired.add(name + " at " + time.nanoTime() / 1_000_000_000));
    }
}
