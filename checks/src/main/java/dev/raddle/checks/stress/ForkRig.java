package dev.raddle.checks.stress;

import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A scope with a subtask that shuts it down when {@link #go} is called, while the owner forks a subtask that sleeps.
 */
final class ForkRig {

    private static final long LONG_ENOUGH = Duration.ofSeconds(30).toMillis();

    private final StructuredScopeOptions options;
    private volatile boolean go;
    private volatile String outcome = "never started";

    ForkRig(StructuredScopeOptions options) {
        this.options = options;
    }

    void go() {
        go = true;
    }

    void forkSleeperAndClose() {
        try (var scope = new StructuredTaskScope<Object>(options)) {
            scope.fork(() -> {
                awaitGoAndShutDown(scope);
                return "done";
            });
            scope.fork(() -> {
                sleep();
                return "done";
            });
            scope.join();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private void awaitGoAndShutDown(StructuredTaskScope<?> scope) {
        while (!go) {
            Thread.onSpinWait();
        }
        scope.shutdown();
    }

    private void sleep() {
        try {
            boolean woken = new CountDownLatch(1).await(LONG_ENOUGH, TimeUnit.MILLISECONDS);
            outcome = woken ? "woken" : "slept on";
        } catch (InterruptedException expected) {
            outcome = "interrupted";
        }
    }

    String outcome() {
        return outcome;
    }
}
