package dev.raddle.examples;

import dev.raddle.scope.Channel;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Counts words with several consumers of one bounded channel, whose producer waits while it is full. */
public final class ProducerConsumerExample {

    private static final int CAPACITY = 2;

    private ProducerConsumerExample() {}

    /**
     * Counts words.
     *
     * @param lines the lines
     * @param words the function that splits a line; if it throws, this method throws, and all tasks end
     * @param consumers the number of consumers
     * @return the number of occurrences of each word
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static Map<String, Integer> count(
            Iterable<String> lines, Function<String, List<String>> words, int consumers) throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("count")) {
            Channel<String> channel = scope.openChannel(CAPACITY);
            Task<Void> producer = scope.submit("produce", () -> produce(lines, channel));
            channel.closeAfter(producer); // after the last line, consumers see the producer's end or failure
            List<Task<Map<String, Integer>>> counters = new ArrayList<>();
            for (int i = 1; i <= consumers; i++) {
                counters.add(scope.submit("count-" + i, () -> consume(channel, words)));
            }
            List<Task<?>> all = new ArrayList<>(counters);
            all.add(producer);
            scope.await(all); // throws the first failure, which cancels the others
            return sum(scope.awaitAll(counters));
        }
    }

    private static Void produce(Iterable<String> lines, Channel<String> channel) throws InterruptedException {
        for (String line : lines) {
            channel.send(line); // waits while the channel is full
        }
        return null;
    }

    private static Map<String, Integer> consume(Channel<String> channel, Function<String, List<String>> words) {
        Map<String, Integer> counts = new TreeMap<>();
        for (String line : channel) {
            words.apply(line).forEach(word -> counts.merge(word, 1, Integer::sum));
        }
        return counts;
    }

    private static Map<String, Integer> sum(List<Map<String, Integer>> parts) {
        Map<String, Integer> sum = new TreeMap<>();
        parts.forEach(part -> part.forEach((word, count) -> sum.merge(word, count, Integer::sum)));
        return sum;
    }

    /**
     * Counts the words of a rhyme.
     *
     * @param args none
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        List<String> rhyme = List.of("row row row your boat", "gently down the stream", "merrily merrily", "row on");
        System.out.println(count(rhyme, line -> List.of(line.split(" ")), 2));
    }
}
