package dev.raddle.checks.stress;

import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A scope with a subtask that shuts it down when told to, and an owner that forks a sleeper at the same time. */
final class ForkRig {

    private static final long LONG_ENOUGH = Duration.ofSeconds(30).toMillis();

    private final StructuredScopeOptions options;
    private volatile boolean go;
    private volatile String fate = "never started";

    ForkRig(StructuredScopeOptions options) {
        this.options = options;
    }

    void go() {
        go = true;
    }

    void forkSleeperAndClose() {
        try (var scope = new StructuredTaskScope<Object>(options)) {
            scope.fork(() -> {
                shutDownWhenTold(scope);
                return "done";
            });
            scope.fork(() -> {
                sleep();
                return "done";
            });
            scope.join();
        } catch (InterruptedException nobodyInterruptsActors) {
            throw new IllegalStateException(nobodyInterruptsActors);
        }
    }

    private void shutDownWhenTold(StructuredTaskScope<?> scope) {
        while (!go) {
            Thread.onSpinWait();
        }
        scope.shutdown();
    }

    private void sleep() {
        try {
            boolean woken = new CountDownLatch(1).await(LONG_ENOUGH, TimeUnit.MILLISECONDS);
            fate = woken ? "woken" : "slept on";
        } catch (InterruptedException expected) {
            fate = "interrupted";
        }
    }

    String fate() {
        return fate;
    }
}
