package dev.raddle.scope;

import dev.raddle.testing.Wait;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Tasks and threads for tests of scopes. */
final class Tasks {

    private Tasks() {}

    /** Blocks until it is interrupted. */
    static <T> T forever() throws InterruptedException {
        new CountDownLatch(1).await();
        throw new AssertionError("no thread opens this latch");
    }

    /** Returns a value when a latch is open. */
    static <T> Callable<T> after(CountDownLatch latch, T value) {
        return () -> {
            latch.await();
            return value;
        };
    }

    /** Waits until a thread is parked below a method of the scope, and interrupts it. */
    static void interruptAt(Thread thread, String method) {
        awaitParkedAt(thread, method);
        thread.interrupt();
    }

    /** Waits until a thread is parked below a method of the scope. */
    static void awaitParkedAt(Thread thread, String method) {
        Wait.until(() -> (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING)
                && Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(StructuredTaskScope.class.getName())
                                && frame.getMethodName().equals(method)));
    }

    static void inAnotherThread(Runnable action) {
        Thread.ofPlatform().daemon().start(action);
    }

    /** Asserts that an action throws in a thread outside all scopes. */
    static void assertOtherThreadIsRejected(ThrowingCallable action) throws Exception {
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            other.submit(() -> Assertions.assertThatThrownBy(action).isInstanceOf(WrongThreadException.class))
                    .get();
        }
    }

    static void assertWrongThread(ThrowingCallable action) {
        Assertions.assertThatThrownBy(action).isInstanceOf(WrongThreadException.class);
    }

    static void assertIllegalState(ThrowingCallable action) {
        Assertions.assertThatThrownBy(action).isInstanceOf(IllegalStateException.class);
    }
}
