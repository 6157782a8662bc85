package dev.raddle.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpaceSavingTest {

    @Test
    void keys_are_counted_exactly_while_counters_are_free() {
        SpaceSaving counts = new SpaceSaving(2);
        counts.count("a");
        counts.count("b");

        assertThat(counts.count("a").certain()).isEqualTo(2);
        assertThat(counts.count("b").certain()).isEqualTo(2);
        assertThat(counts.size()).isEqualTo(2);
    }

    @Test
    void a_key_without_a_counter_takes_over_the_smallest_and_only_its_own_occurrences_are_certain() {
        SpaceSaving counts = new SpaceSaving(2);
        for (int i = 0; i < 5; i++) {
            counts.count("often");
        }
        counts.count("seldom");

        assertThat(counts.count("new").certain()).isEqualTo(1);
        assertThat(counts.size()).isEqualTo(2);
        assertThat(counts.count("often").certain()).isEqualTo(6);
        assertThat(counts.count("seldom").certain()).isEqualTo(1); // its earlier count is forgotten
    }

    @Test
    void certain_counts_are_never_too_large_and_no_frequent_key_is_lost() {
        int capacity = 20;
        int all = 50_000;
        Random random = new Random(17);
        SpaceSaving counts = new SpaceSaving(capacity);
        Map<String, Integer> truth = new HashMap<>();
        for (int i = 0; i < all; i++) {
            String key = "key-" + (int) Math.abs(random.nextGaussian() * random.nextGaussian() * 50);
            long certain = counts.count(key).certain();
            truth.merge(key, 1, Integer::sum);
            assertThat(certain).isBetween(1L, (long) truth.get(key));
            assertThat(counts.size()).isLessThanOrEqualTo(capacity);
        }

        truth.forEach((key, times) -> {
            if (times > all / capacity) {
                assertThat(counts.count(key).certain()).as(key).isGreaterThan(times - all / capacity);
            }
        });
    }

    @Test
    void counts_can_be_halved_and_counters_removed() {
        SpaceSaving counts = new SpaceSaving(2);
        counts.add("a", 40);
        SpaceSaving.Counter b = counts.count("b");

        counts.halve(2);
        assertThat(counts.count("a").certain()).isEqualTo(11);
        assertThat(b.certain()).isZero();
        counts.remove(b);
        assertThat(counts.size()).isEqualTo(1);
        assertThat(counts.count("c").certain()).isEqualTo(1);
        assertThat(counts.count("a").certain()).isEqualTo(12);
    }
}
