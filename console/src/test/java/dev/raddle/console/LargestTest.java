package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LargestTest {

    @Test
    void of_many_elements_the_largest_are_kept_and_returned_in_descending_order() {
        Largest<Integer> largest = new Largest<>(3, Comparator.naturalOrder());

        IntStream.range(0, 1_000).map(i -> i * 7 % 1_000).forEach(largest::add);

        assertThat(largest.descending()).containsExactly(999, 998, 997);
    }

    @Test
    void of_equal_elements_the_first_stay() {
        Largest<String> longest = new Largest<>(2, Comparator.comparingInt(String::length));

        longest.add("aa");
        longest.add("bb");
        longest.add("cc");

        assertThat(longest.descending()).containsExactlyInAnyOrder("aa", "bb");
    }
}
