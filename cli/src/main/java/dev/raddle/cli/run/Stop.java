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
 * Ends a run early. After a stop nothing new starts. With {@link #drain}, running tasks have time to end by themselves;
 * with {@link #request}, they are terminated at once. A process tree that is terminated has a grace period, unless
 * {@link #kill} is called.
 */
public final class Stop {
    /** The reason why a run ends early. */
    public enum Reason {
        /** A signal, such as Ctrl-C. */
        INTERRUPTED,
        /** SIGTERM, the signal to terminate in an orderly way. */
        TERMINATED,
        /** A task did not succeed in a run with {@code --fail-fast}. */
        FAIL_FAST,
        /** The time of the run is over. */
        TIMED_OUT,
        /** As many tasks failed as {@code --halt} allows. */
        FAILED,
        /** As many tasks succeeded as {@code --halt} demands. */
        SUCCEEDED,
        /** The reader of the output has closed it. */
        OUTPUT_CLOSED,
        /** Raddle itself cannot continue, for example because the disk is full. */
        BROKEN;

        private boolean isSignal() {
            return this == INTERRUPTED || this == TERMINATED;
        }
    }

    private enum Phase {
        RUNNING,
        FINISHING,
        DRAINING,
        ENDING
    }

    /*
     * A process tree is added to `trees` before the reason is read; a stop sets the reason before `trees` is read. So
     * the later of the two sees the effect of the other, and no tree is missed. Both may see it: ending a tree twice is
     * harmless.
     *
     * The phase only moves forward, and is set before the reason. A drain does not end the trees: when its grace period
     * is over, or is cut short, the threads of the tasks are interrupted and each ends its own tree. So a task never
     * ends together with its tree before the account of the drain has recorded its interrupt.
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
    private volatile Runnable onEndGrace = () -> {};

    public Stop(Duration grace) {
        this.grace = grace;
    }

    /** Sets the action that is called once when a stop is requested; it must not block. */
    public void onRequest(Consumer<Reason> action) {
        onRequest = action;
    }

    /**
     * Sets the action that drains the tasks, and the one that ends the grace period of the drain; neither may block.
     */
    void onDrain(Runnable drain, Runnable endGrace) {
        onDrain = drain;
        onEndGrace = endGrace;
    }

    /** Runs an action in a new thread once a stop is requested. */
    @SuppressWarnings("FutureReturnValueIgnored") // the result of the action is not needed
    void onceRequested(Runnable action) {
        future.thenRun(() -> Thread.ofVirtual().name("raddle-stop").start(action));
    }

    public Duration grace() {
        return grace;
    }

    /**
     * Requests a stop and terminates running processes, including those that a drain would have let end. The first
     * reason is kept, except that a signal replaces any other reason. Does not wait.
     */
    public void request(Reason why) {
        if (begin(Phase.ENDING)) {
            announce(why);
            trees.forEach(this::terminate);
            return;
        }
        prefer(why);
        if (phase.compareAndSet(Phase.DRAINING, Phase.ENDING)) {
            onEndGrace.run();
        }
    }

    /** Requests a stop and lets running tasks end by themselves, however long that takes. Does not wait. */
    void finish(Reason why) {
        if (phase.compareAndSet(Phase.RUNNING, Phase.FINISHING)) {
            announce(why);
        }
    }

    private void announce(Reason why) {
        onRequest.accept(why); // first, so that the event precedes its consequences
        reason.compareAndSet(null, why);
        prefer(why);
        wake(why);
    }

    private boolean begin(Phase next) {
        return phase.compareAndSet(Phase.RUNNING, next) || phase.compareAndSet(Phase.FINISHING, next);
    }

    /** Requests a stop and lets running tasks end by themselves within the grace period. Does not wait. */
    public void drain() {
        if (begin(Phase.DRAINING)) {
            drained = true;
            reason.compareAndSet(null, Reason.TERMINATED);
            prefer(Reason.TERMINATED);
            onDrain.run(); // first, so that no task is placed once the stop is visible
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

    /** Requests a stop and ends all grace periods. Does not wait. */
    public void kill() {
        killed = true;
        request(Reason.INTERRUPTED);
        trees.forEach(ProcessTree::kill);
    }

    /** Returns whether nothing new may start. */
    public boolean isRequested() {
        return reason.get() != null;
    }

    /** Returns whether running processes are to end at once. */
    boolean isEnding() {
        return isRequested() && phase.get() == Phase.ENDING;
    }

    /** Returns whether running tasks may end by themselves, and those that wait do not start. */
    boolean isFinishing() {
        return phase.get() == Phase.FINISHING;
    }

    /** Returns whether running tasks were given time to end by themselves, at least at first. */
    boolean isDrained() {
        return drained;
    }

    /** Returns the reason of the stop, or null if none was requested. */
    public @Nullable Reason reason() {
        return reason.get();
    }

    /** Waits until a stop is requested or a time has passed; returns whether a stop was requested. */
    public boolean await(Duration time) throws InterruptedException {
        return requested.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Waits until a stop is requested or a future is completed. */
    void awaitOr(CompletableFuture<?> other) throws InterruptedException, ExecutionException {
        CompletableFuture.anyOf(future, other).get();
    }

    /** Registers a tree, which is ended when the run is stopped. */
    void register(ProcessTree tree) {
        trees.add(tree);
        if (isEnding()) {
            terminate(tree);
        }
        if (killed) {
            tree.kill();
        }
    }

    /** Registers a tree that is part of the end of the run: a stop that has already been requested does not end it. */
    void registerLast(ProcessTree tree) {
        trees.add(tree);
        if (killed) {
            tree.kill();
        }
    }

    void unregister(ProcessTree tree) {
        trees.remove(tree);
    }

    /** Removes the tree of a child and releases its process id. */
    void unregister(ProcessTree tree, ChildProcess child) {
        unregister(tree);
        tree.whenSettled(child::release);
    }

    private void terminate(ProcessTree tree) {
        Thread.ofVirtual().name("raddle-terminate").start(() -> tree.terminate(grace));
    }
}
