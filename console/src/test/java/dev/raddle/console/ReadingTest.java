package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadingTest {

    private static final long NOW = 1_000_000;

    private final AtomicInteger calls = new AtomicInteger();

    private static void spin() {
        assertThat(Thread.interrupted()).as("interrupted by the time limit").isFalse();
        Thread.onSpinWait();
    }

    private static void awaitLast(Reading<?> reading, long now, Object expected) {
        while (!expected.equals(reading.last(now))) {
            spin();
        }
    }

    @Test
    void an_error_is_a_problem_too() {
        Reading<String> reading = new Reading<>(Duration.ofSeconds(1), now -> {
            throw new NoClassDefFoundError("org/postgresql/util/Missing");
        });

        assertThat(reading.last(NOW)).isNull();
        while (reading.problem(NOW) == null) {
            spin();
        }

        assertThat(reading.problem(NOW).text()).contains("NoClassDefFoundError", "Missing");
    }

    @Test
    void it_is_read_again_when_the_clock_was_set_back() {
        Reading<Integer> reading = new Reading<>(Duration.ofSeconds(1), now -> calls.incrementAndGet());
        awaitLast(reading, NOW, 1);

        awaitLast(reading, NOW - 3_600_000, 2);
    }
}
