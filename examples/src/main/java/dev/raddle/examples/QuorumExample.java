package dev.raddle.examples;

import dev.raddle.scope.AggregateException;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ThreadScope;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** A write that succeeds once a majority of its replicas has confirmed it. */
public final class QuorumExample {

    private QuorumExample() {}

    /**
     * Writes to all replicas at once.
     *
     * @param <T> the type of a confirmation
     * @param replicas the writes of the same data, one for each replica
     * @return the first confirmations, as many as form a majority; all other writes have ended
     * @throws AggregateException as soon as too many writes have failed for a majority
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static <T> List<T> write(List<? extends Callable<T>> replicas) throws InterruptedException {
        int majority = replicas.size() / 2 + 1;
        try (ThreadScope scope = ThreadScope.open("write")) {
            return scope.join(JoinStrategy.quorum(majority), replicas);
        }
    }

    /**
     * Writes to five replicas, of which one fails and one does not answer.
     *
     * @param args none
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        Callable<String> broken = () -> {
            throw new IOException("disk full");
        };
        Callable<String> silent = () -> {
            never.await();
            return "never";
        };
        System.out.println("written to " + write(List.of(() -> "a", broken, () -> "c", silent, () -> "e")));
        try {
            write(List.of(() -> "a", broken, broken, silent, broken));
        } catch (AggregateException failed) {
            System.out.println(failed.getMessage());
        }
    }
}
