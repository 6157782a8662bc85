package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BucketTest {

    /** The same algorithm in rational numbers: a moment is counted in 1 / count nanoseconds. */
    private static final class Model {
        private final BigInteger period;
        private final BigInteger count;
        private final long burst;
        private BigInteger fullAt;

        Model(Rate rate, long now) {
            period = BigInteger.valueOf(rate.period().toNanos());
            count = BigInteger.valueOf(rate.count());
            burst = rate.burst();
            fullAt = moment(now);
        }

        private BigInteger moment(long nanos) {
            return BigInteger.valueOf(nanos).multiply(count);
        }

        boolean allows(int cost, long now) {
            return fullAt.compareTo(moment(now).add(period.multiply(BigInteger.valueOf(Math.max(0, burst - cost)))))
                    <= 0;
        }

        void take(int cost, long now) {
            fullAt = fullAt.max(moment(now)).add(period.multiply(BigInteger.valueOf(cost)));
        }
    }

    @Test
    void a_bucket_decides_as_the_algorithm_in_exact_numbers_does() {
        Random random = new Random(42);
        for (int round = 0; round < 2_000; round++) {
            Rate rate = new Rate(
                    1 + random.nextInt(1 << random.nextInt(31)),
                    Duration.ofNanos(1 + random.nextLong(1L << (1 + random.nextInt(42)))),
                    1 + random.nextInt(1 << random.nextInt(17)), // at most 18 years
                    false);
            RateLimit limit = new RateLimit(rate);
            long now = random.nextLong() >> 2;
            Bucket bucket = new Bucket(limit, now);
            Model model = new Model(rate, now);
            for (int step = 0; step < 50; step++) {
                int cost = random.nextInt(4) == 0 ? 1 + random.nextInt(2 * rate.burst()) : 1;
                boolean allowed = model.allows(cost, now);
                assertThat(bucket.allows(cost, now))
                        .as("%s, cost %d", rate, cost)
                        .isEqualTo(allowed);
                if (allowed) {
                    bucket.take(cost, now);
                    model.take(cost, now);
                } else {
                    long at = bucket.allowedAt(cost);
                    assertThat(model.allows(cost, at)).isTrue();
                    assertThat(model.allows(cost, at - 1)).isFalse();
                    now = random.nextBoolean() ? at : now + random.nextLong(at - now);
                }
                now += random.nextInt(3) == 0 ? random.nextLong(1L << random.nextInt(40)) : 0;
            }
        }
    }

    @Test
    void ten_million_starts_at_a_third_of_a_second_do_not_drift_by_a_nanosecond() {
        RateLimit limit = new RateLimit(Rate.perSecond(3).burst(2));
        Bucket bucket = new Bucket(limit, 0);
        for (int start = 0; start < 10_000_000; start++) {
            long now = bucket.allowedAt(1);
            bucket.take(1, Math.max(0, now));
        }
        assertThat(bucket.fullAt()).isEqualTo(Math.ceilDiv(10_000_000L * 1_000_000_000L, 3L));
    }

    @Test
    void as_many_starts_as_the_count_move_a_bucket_by_the_period_so_that_no_number_of_starts_makes_it_drift() {
        Random random = new Random(11);
        for (int round = 0; round < 200; round++) {
            int count = 1 + random.nextInt(20_000);
            long period = 1 + random.nextLong(1L << (1 + random.nextInt(50)));
            RateLimit limit = new RateLimit(Rate.of(count, Duration.ofNanos(period)));
            long begin = random.nextLong() >> 2;
            Bucket bucket = new Bucket(limit, begin);
            bucket.take(count, begin); // so that no start comes to a full bucket
            assertThat(bucket.fullAt()).isEqualTo(begin + period);
            for (int start = 0; start < count; start++) {
                bucket.take(1, begin);
            }
            assertThat(bucket.fullAt()).isEqualTo(begin + 2 * period);
        }
    }

    @Test
    void a_billion_permits_in_starts_of_different_costs_do_not_drift_by_a_nanosecond() {
        Random random = new Random(5);
        RateLimit limit = new RateLimit(Rate.perSecond(7).burst(2_000));
        Bucket bucket = new Bucket(limit, 0);
        for (int taken = 0, cost; taken < 1_000_000_000; taken += cost) {
            cost = Math.min(1_000_000_000 - taken, 1 + random.nextInt(1_999));
            bucket.take(cost, Math.max(0, bucket.allowedAt(cost)));
        }
        assertThat(bucket.fullAt()).isEqualTo(Math.ceilDiv(1_000_000_000L * 1_000_000_000L, 7L));
    }

    @Test
    void no_window_has_more_starts_than_the_burst_and_what_flows_in() {
        Random random = new Random(7);
        Rate rate = Rate.of(7, Duration.ofNanos(1_000)).burst(5);
        RateLimit limit = new RateLimit(rate);
        Bucket bucket = new Bucket(limit, 0);
        List<Long> starts = new ArrayList<>();
        for (long now = 0; now < 100_000; now += random.nextInt(200)) {
            while (bucket.allows(1, now)) {
                bucket.take(1, now);
                starts.add(now);
            }
        }
        for (int first = 0; first < starts.size(); first++) {
            for (int last = first; last < Math.min(starts.size(), first + 200); last++) {
                long window = starts.get(last) - starts.get(first);
                assertThat(last - first + 1).isLessThanOrEqualTo((int) (5 + window * 7 / 1_000));
            }
        }
        assertThat(starts).hasSizeGreaterThan(600);
    }

    @Test
    void a_cost_above_the_burst_needs_a_full_bucket_and_delays_what_follows() {
        RateLimit limit = new RateLimit(Rate.perSecond(10).burst(2));
        Bucket bucket = new Bucket(limit, 0);
        bucket.take(1, 0);
        assertThat(bucket.allows(5, 99_999_999)).isFalse();
        assertThat(bucket.allows(5, 100_000_000)).isTrue();
        bucket.take(5, 100_000_000);
        assertThat(bucket.allowedAt(1)).isEqualTo(500_000_000);
        assertThat(bucket.allowedAt(2)).isEqualTo(600_000_000);
    }

    @Test
    void what_was_used_stays_used_when_the_rate_changes() {
        RateLimit slow = new RateLimit(Rate.perSecond(10));
        RateLimit fast = new RateLimit(Rate.perSecond(1000));
        Bucket bucket = new Bucket(slow, 0);
        bucket.take(10, 0);
        bucket.change(fast, 0);
        assertThat(bucket.fullAt()).isEqualTo(10_000_000);
        bucket.change(slow, 5_000_000);
        assertThat(bucket.fullAt()).isEqualTo(505_000_000);
    }
}
