package dev.raddle.examples;

import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** A hedged read from several replicas: a slow replica delays the result by the hedge delay only. */
public final class HedgedReadExample {

    private HedgedReadExample() {}

    /**
     * Reads from the first replica, and starts to read from the next whenever the hedge delay passes without an answer.
     *
     * @param <T> the type of the result
     * @param replicas the reads of the same data, one for each replica
     * @param hedge the delay before the next replica is asked
     * @param time the time source
     * @return the first result; all other reads have ended
     * @throws dev.raddle.scope.AggregateException if all reads failed
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static <T> T read(List<? extends Callable<T>> replicas, Duration hedge, TimeSource time)
            throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("read").withTimeSource(time)) {
            return scope.join(JoinStrategy.hedged(hedge), replicas);
        }
    }

    /**
     * Reads from three replicas, the first of which does not answer.
     *
     * @param args none
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        List<Callable<String>> replicas = List.of(
                () -> {
                    System.out.println("asking the replica that is near");
                    never.await();
                    return "from near";
                },
                () -> {
                    System.out.println("asking the replica that is far");
                    return "from far";
                },
                () -> {
                    System.out.println("asking the replica that is farther still");
                    return "from farther";
                });
        System.out.println(read(replicas, Duration.ofMillis(50), TimeSource.system()));
    }
}
