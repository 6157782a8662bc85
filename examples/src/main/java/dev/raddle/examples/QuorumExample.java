package dev.raddle.examples;

import dev.raddle.scope.AggregateException;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ThreadScope;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** A write that counts when most of its replicas have it. */
public final class QuorumExample {

    private QuorumExample() {}

    /**
     * Writes to all replicas at once.
     *
     * @param <T> what a replica confirms a write with
     * @param replicas each writes the same, to another place
     * @return what the first of them confirmed, as many as are a majority; the others are not being written to any more
     * @throws AggregateException if too many failed for a majority, as soon as that is so
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static <T> List<T> write(List<? extends Callable<T>> replicas) throws InterruptedException {
        int majority = replicas.size() / 2 + 1;
        try (ThreadScope scope = ThreadScope.open("write")) {
            return scope.join(JoinStrategy.quorum(majority), replicas);
        }
    }

    /**
     * Writes to five replicas: one has failed, one does not answer.
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
