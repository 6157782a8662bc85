package dev.raddle.cli.run;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The switch that ends a run early. Once it is thrown nothing new starts; every process tree that runs is ended, with time
 * to do so or, by {@link #kill}, without.
 */
public final class Stop {
    /** Why a run ends early. */
    public enum Reason {
        /** A signal, such as Ctrl-C. */
        INTERRUPTED,
        /** A task did not succeed, and that was to be the end. */
        FAIL_FAST,
        /** Nobody reads the output any more. */
        OUTPUT_CLOSED,
        /** Raddle itself cannot go on, such as with a full disk. */
        BROKEN
    }

    /*
     * A process enters by being added to `trees` before the reason is read; a stop sets the reason before `trees` is read.
     * So whichever comes second sees the other, and no tree is missed. Both may see it: ending a tree twice is harmless.
     */
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicReference<@Nullable Reason> reason = new AtomicReference<>();
    private final Set<ProcessTree> trees = ConcurrentHashMap.newKeySet();
    private final CountDownLatch requested = new CountDownLatch(1);
    private final CompletableFuture<Reason> future = new CompletableFuture<>();
    private final Duration grace;
    private volatile boolean killed;
    private volatile Consumer<Reason> onRequest = ignored -> {};

    public Stop(Duration grace) {
        this.grace = grace;
    }

    /** Sets who is told, once, that the switch was thrown; it must not wait for anything. */
    public void onRequest(Consumer<Reason> action) {
        onRequest = action;
    }

    public Duration grace() {
        return grace;
    }

    /** Throws the switch. The first reason stays, but an interrupt is always the reason. Does not wait. */
    public void request(Reason why) {
        if (!begun.compareAndSet(false, true)) {
            if (why == Reason.INTERRUPTED) {
                reason.set(why);
            }
            return;
        }
        onRequest.accept(why); // first, so that it is known before what follows from it
        reason.compareAndSet(null, why);
        requested.countDown();
        future.complete(why);
        trees.forEach(this::terminate);
    }

    /** Throws the switch and takes the grace from everybody. Does not wait. */
    public void kill() {
        killed = true;
        request(Reason.INTERRUPTED);
        trees.forEach(ProcessTree::kill);
    }

    public boolean isRequested() {
        return reason.get() != null;
    }

    /** Why the switch was thrown; null if it was not. */
    public @Nullable Reason reason() {
        return reason.get();
    }

    /** Waits until the switch is thrown or a time has passed; tells whether it was thrown. */
    public boolean await(Duration time) throws InterruptedException {
        return requested.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Waits until the switch is thrown or something else has happened. */
    void awaitOr(CompletableFuture<?> other) throws InterruptedException, ExecutionException {
        CompletableFuture.anyOf(future, other).get();
    }

    /** From now on this tree ends when the run is stopped. */
    void enter(ProcessTree tree) {
        trees.add(tree);
        if (isRequested()) {
            terminate(tree);
        }
        if (killed) {
            tree.kill();
        }
    }

    void leave(ProcessTree tree) {
        trees.remove(tree);
    }

    private void terminate(ProcessTree tree) {
        Thread.ofVirtual().name("raddle-terminate").start(() -> tree.terminate(grace));
    }
}
