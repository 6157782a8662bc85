package dev.raddle.cli.run;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The switch that ends a run early. Once it is thrown nothing new starts. What runs has time to end by itself, by
 * {@link #drain}, or is ended at once, by {@link #request}; every process tree that is ended has time to do so or, by
 * {@link #kill}, has not.
 */
public final class Stop {
    /** Why a run ends early. */
    public enum Reason {
        /** A signal, such as Ctrl-C. */
        INTERRUPTED,
        /** SIGTERM, the signal to end in an orderly way. */
        TERMINATED,
        /** A task did not succeed, and that was to be the end. */
        FAIL_FAST,
        /** Nobody reads the output any more. */
        OUTPUT_CLOSED,
        /** Raddle itself cannot go on, such as with a full disk. */
        BROKEN;

        private boolean isSignal() {
            return this == INTERRUPTED || this == TERMINATED;
        }
    }

    private enum Phase {
        RUNNING,
        DRAINING,
        ENDING
    }

    /*
     * A process enters by being added to `trees` before the reason is read; a stop sets the reason before `trees` is read.
     * So whichever comes second sees the other, and no tree is missed. Both may see it: ending a tree twice is harmless.
     *
     * The phase moves forward only, and is set before the reason. A drain leaves the trees alone: when its grace is over, or
     * is cut short, the threads of the tasks are interrupted and each ends its own tree. So a task never ends with its tree
     * before the account of the drain says that it was told to.
     */
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.RUNNING);
    private final AtomicReference<@Nullable Reason> reason = new AtomicReference<>();
    private final Set<ProcessTree> trees = ConcurrentHashMap.newKeySet();
    private final CountDownLatch requested = new CountDownLatch(1);
    private final CompletableFuture<Reason> future = new CompletableFuture<>();
    private final Duration grace;
    private volatile boolean killed;
    private volatile boolean drained;
    private volatile Consumer<Reason> onRequest = ignored -> {};
    private volatile Runnable onDrain = () -> {};
    private volatile Runnable onCut = () -> {};

    public Stop(Duration grace) {
        this.grace = grace;
    }

    /** Sets who is told, once, that the switch was thrown; it must not wait for anything. */
    public void onRequest(Consumer<Reason> action) {
        onRequest = action;
    }

    /** Sets what drains the tasks, and what cuts the grace of that short; neither may wait for anything. */
    void onDrain(Runnable drain, Runnable cut) {
        onDrain = drain;
        onCut = cut;
    }

    /** Runs an action in a thread of its own once the switch is thrown. */
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for the action
    void onceRequested(Runnable action) {
        future.thenRun(() -> Thread.ofVirtual().name("raddle-stop").start(action));
    }

    public Duration grace() {
        return grace;
    }

    /**
     * Throws the switch and ends what runs, also what a drain would have let end. The first reason stays, but a signal is
     * always the reason. Does not wait.
     */
    public void request(Reason why) {
        if (phase.compareAndSet(Phase.RUNNING, Phase.ENDING)) {
            onRequest.accept(why); // first, so that it is known before what follows from it
            reason.compareAndSet(null, why);
            wake(why);
            trees.forEach(this::terminate);
            return;
        }
        prefer(why);
        if (phase.compareAndSet(Phase.DRAINING, Phase.ENDING)) {
            onCut.run();
        }
    }

    /** Throws the switch and lets what runs end by itself, as long as the grace lasts. Does not wait. */
    public void drain() {
        if (phase.compareAndSet(Phase.RUNNING, Phase.DRAINING)) {
            drained = true;
            reason.compareAndSet(null, Reason.TERMINATED);
            onDrain.run(); // first, so that nothing is placed when it is known
            onRequest.accept(Reason.TERMINATED);
            wake(Reason.TERMINATED);
        } else {
            prefer(Reason.TERMINATED);
        }
    }

    private void wake(Reason why) {
        requested.countDown();
        future.complete(why);
    }

    private void prefer(Reason why) {
        if (why.isSignal()) {
            reason.updateAndGet(old -> old != null && old.isSignal() ? old : why);
        }
    }

    /** Throws the switch and takes the grace from everybody. Does not wait. */
    public void kill() {
        killed = true;
        request(Reason.INTERRUPTED);
        trees.forEach(ProcessTree::kill);
    }

    /** Whether nothing new is to start. */
    public boolean isRequested() {
        return reason.get() != null;
    }

    /** Whether what runs is to end at once. */
    boolean isEnding() {
        return isRequested() && phase.get() == Phase.ENDING;
    }

    /** Whether what ran was given time to end by itself, at first at least. */
    boolean isDrained() {
        return drained;
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
        if (isEnding()) {
            terminate(tree);
        }
        if (killed) {
            tree.kill();
        }
    }

    /** The same for a tree that belongs to the end of the run: what has been requested before does not end it. */
    void enterLast(ProcessTree tree) {
        trees.add(tree);
        if (killed) {
            tree.kill();
        }
    }

    void leave(ProcessTree tree) {
        trees.remove(tree);
    }

    /** The same for the tree of a child, of which nothing more is needed. */
    void leave(ProcessTree tree, Child child) {
        leave(tree);
        tree.whenSettled(child::release);
    }

    private void terminate(ProcessTree tree) {
        Thread.ofVirtual().name("raddle-terminate").start(() -> tree.terminate(grace));
    }
}
