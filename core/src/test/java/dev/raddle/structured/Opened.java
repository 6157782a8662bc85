package dev.raddle.structured;

import dev.raddle.scope.Kind;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Scopes, tasks and a joiner for tests. */
final class Opened {

    private Opened() {}

    static <T, R, X extends Throwable> StructuredTaskScope<T, R, X> of(
            Kind kind, Joiner<? super T, ? extends R, X> joiner) {
        return StructuredTaskScope.open(joiner, config -> config.withOptions(kind.options()));
    }

    /** Blocks until it is interrupted. */
    static <T> T forever() throws InterruptedException {
        new CountDownLatch(1).await();
        throw new AssertionError("no thread opens this latch");
    }

    static <T> T fail(String message) {
        throw new ArithmeticException(message);
    }

    /** A joiner that records its calls. A subclass changes what they do. */
    static class Recording<T> implements Joiner<T, String, RuntimeException> {
        final List<String> calls = new CopyOnWriteArrayList<>();

        @Override
        public boolean onFork(Subtask<T> subtask) {
            calls.add("onFork " + subtask.state() + " " + isOwner());
            return false;
        }

        @Override
        public boolean onComplete(Subtask<T> subtask) {
            calls.add("onComplete " + subtask.state() + " " + isOwner());
            return false;
        }

        @Override
        public String result() {
            calls.add("result " + isOwner());
            return "result";
        }

        @Override
        public String timeout() {
            calls.add("timeout " + isOwner());
            return "timeout";
        }

        private final Thread owner = Thread.currentThread();

        private String isOwner() {
            return Thread.currentThread() == owner ? "by owner" : "by subtask";
        }
    }
}
