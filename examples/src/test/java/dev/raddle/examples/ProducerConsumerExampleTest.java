package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProducerConsumerExampleTest {

    private static List<String> words(String line) {
        return List.of(line.split(" "));
    }

    @Test
    void every_word_of_every_line_is_counted_once() throws Exception {
        List<String> lines =
                IntStream.range(0, 1000).mapToObj(i -> "both " + i % 2).toList();

        assertThat(ProducerConsumerExample.count(lines, ProducerConsumerExampleTest::words, 3))
                .isEqualTo(Map.of("both", 1000, "0", 500, "1", 500));
    }

    @Test
    void a_consumer_that_fails_ends_a_producer_without_end() {
        Iterable<String> endless =
                () -> Collections.nCopies(Integer.MAX_VALUE, "again and again").iterator();

        assertThatThrownBy(() -> ProducerConsumerExample.count(
                        endless,
                        line -> {
                            throw new IllegalStateException("cannot read \"" + line + "\"");
                        },
                        1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot read \"again and again\"");
    }

    @Test
    void the_failure_of_the_producer_is_thrown() {
        Iterable<String> breaks = () -> Stream.iterate(1, i -> i + 1)
                .map(i -> {
                    if (i == 3) {
                        throw new IllegalStateException("disk error");
                    }
                    return "line " + i;
                })
                .iterator();

        assertThatThrownBy(() -> ProducerConsumerExample.count(breaks, ProducerConsumerExampleTest::words, 2))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("disk error");
    }
}
