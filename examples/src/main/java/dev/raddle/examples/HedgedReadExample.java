package dev.raddle.examples;

import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** A read of one of several replicas. Whoever is slow costs the time of a hedge, and is not waited for. */
public final class HedgedReadExample {

    private HedgedReadExample() {}

    /**
     * Reads from the first replica, and from the next whenever no answer has come for some time.
     *
     * @param <T> the type of what is read
     * @param replicas each reads the same, from another place
     * @param hedge how long to wait before the next is asked
     * @param time what knows the time
     * @return what was read first; no replica is being asked any more
     * @throws dev.raddle.scope.AggregateException if none could be read
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
