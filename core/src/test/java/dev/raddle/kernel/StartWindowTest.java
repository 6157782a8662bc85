package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StartWindowTest {

    /** All starts of the last period, counted one by one. */
    private static final class Model {
        private final int count;
        private final long period;
        private final Deque<Long> starts = new ArrayDeque<>(); // a start of cost k is in it k times

        Model(Rate rate) {
            count = rate.count();
            period = rate.period().toNanos();
        }

        private int used(long now) {
            while (!starts.isEmpty() && now - starts.getFirst() >= period) {
                starts.removeFirst();
            }
            return starts.size();
        }

        boolean allows(int cost, long now) {
            return used(now) + Math.min(cost, count) <= count;
        }

        void take(int cost, long now) {
            for (int i = 0; i < cost; i++) {
                starts.addLast(now + i / count * period);
            }
        }
    }

    @Test
    void a_window_decides_as_counting_all_starts_of_the_last_period_does() {
        Random random = new Random(3);
        for (int round = 0; round < 2_000; round++) {
            Rate rate = Rate.of(
                            1 + random.nextInt(1 << random.nextInt(10)),
                            Duration.ofNanos(1 + random.nextLong(1L << (1 + random.nextInt(40)))))
                    .strict();
            long period = rate.period().toNanos();
            long now = random.nextLong() >> 2;
            Allowance window = Allowance.of(new RateLimit(rate), now);
            Model model = new Model(rate);
            for (int step = 0; step < 500; step++) {
                int cost = random.nextInt(4) == 0 ? 1 + random.nextInt(3 * rate.count()) : 1;
                boolean allowed = model.allows(cost, now);
                assertThat(window.allows(cost, now))
                        .as("%s, cost %d", rate, cost)
                        .isEqualTo(allowed);
                assertThat(window.isFull(now)).isEqualTo(model.used(now) == 0);
                if (allowed) {
                    assertThat(window.allowedAt(cost) - now).isLessThanOrEqualTo(0);
                    window.take(cost, now);
                    model.take(cost, now);
                } else {
                    long at = window.allowedAt(cost);
                    assertThat(window.allows(cost, at - 1)).isFalse();
                    assertThat(window.allows(cost, at)).isTrue();
                    now = random.nextBoolean() ? at : now + random.nextLong(at - now);
                }
                now += random.nextInt(3) == 0 ? random.nextLong(period) / rate.count() : 0;
            }
            assertThat(model.used(window.fullAt() - 1)).isPositive();
            assertThat(model.used(window.fullAt())).isZero();
        }
    }

    @Test
    void a_change_of_the_rate_forgets_no_start_of_the_last_period() {
        Random random = new Random(4);
        for (int round = 0; round < 2_000; round++) {
            Duration period = Duration.ofNanos(1 + random.nextInt(1_000));
            Rate before = Rate.of(1 + random.nextInt(50), period).strict();
            Rate after = Rate.of(1 + random.nextInt(50), period).strict();
            Allowance window = Allowance.of(new RateLimit(before), 0);
            Model model = new Model(after);
            long now = 0;
            for (int start = random.nextInt(80); start > 0; start--) {
                now = Math.max(now, window.allowedAt(1)) + random.nextInt(3);
                window.take(1, now);
                model.take(1, now);
            }
            window = window.change(new RateLimit(after), now);
            for (int start = 0; start < 100; start++) {
                long at = Math.max(now, window.allowedAt(1));
                assertThat(at == now || !model.allows(1, at - 1))
                        .as("not later")
                        .isTrue();
                assertThat(model.allows(1, at)).as("%s after %s", after, before).isTrue();
                now = at;
                window.take(1, now);
                model.take(1, now);
            }
        }
    }

    @Test
    void what_was_used_of_a_bucket_counts_in_the_window_that_replaces_it_and_the_other_way_round() {
        Rate bucket = Rate.perSecond(10);
        Allowance before = Allowance.of(new RateLimit(bucket), 0);
        before.take(7, 0);
        Allowance window = before.change(new RateLimit(bucket.strict()), 0);
        assertThat(window.allows(3, 0)).isTrue();
        assertThat(window.allows(4, 999_999_999)).isFalse();
        assertThat(window.allows(4, 1_000_000_000)).isTrue();

        window.take(2, 10);
        Allowance after = window.change(new RateLimit(bucket), 10);
        assertThat(after.allows(1, 10)).isTrue();
        assertThat(after.allows(2, 10)).isFalse();
    }

    @Test
    void a_window_of_which_little_is_used_stays_small() {
        Rate rate = Rate.of(10_000, Duration.ofHours(1)).strict();
        StartWindow window = new StartWindow(new RateLimit(rate), 0);
        for (long hour = 0; hour < 1_000; hour++) {
            window.take(2, Duration.ofHours(hour).toNanos());
        }
        assertThat(window.places()).isEqualTo(8);
    }
}
