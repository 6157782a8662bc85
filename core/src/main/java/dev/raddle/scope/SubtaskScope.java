package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.OverdueReports;
import dev.raddle.kernel.Recorder;
import dev.raddle.kernel.TimerUse;
import dev.raddle.lock.Fields;
import dev.raddle.task.TaskContext;
import dev.raddle.time.UserCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * The engine of a {@link StructuredTaskScope}: starts subtasks, stops them, and waits for their ends. It knows neither
 * results nor the rules of forking and joining.
 */
abstract class SubtaskScope {

    /*
     * Overview.
     *
     *   state     OPEN ──► the id of the thread that shuts down ──► CLOSED   first step: by compare-and-set, by any
     *             thread inside; second: by the owner
     *   severed   the container was closed because an enclosing scope was closed; no further subtasks start
     *
     * Starting races with shutting down. A forker counts and lists a subtask, reads the state, starts the thread, and
     * reads the state again. The thread that shuts down writes the state and then cancels all listed subtasks:
     *
     *   - listed before: the shutdown finds the subtask and interrupts its thread, if it has one yet;
     *   - listed after, or without a thread then: the forker sees the state, and interrupts the subtask or does not
     *     start it.
     *
     * Both may find the subtask; it is interrupted only once (see ForkedSubtask), and by neither if its own thread has
     * shut the scope down. A subtask that was started always runs.
     *
     * Starting races with closing. The owner writes the state and then waits for the count to reach zero. A forker
     * counts and then reads the state. So either the owner waits for the subtask, or the forker does not start it. When
     * the container is closed, no thread is in it that could start another.
     *
     * Inside. The scope that a thread is in is a scoped value, bound around each subtask. As in the JDK, the enclosing
     * scope of a scope is the last that its owner had opened, or else the scope that its owner is in.
     */
    static final long OPEN = 0;
    static final long CLOSED = -1;

    private static final ScopedValue<SubtaskScope> CURRENT = ScopedValue.newInstance();
    private static final ThreadFactory VIRTUAL_THREADS = Thread.ofVirtual().factory();
    private static final VarHandle STATE = Fields.handle(MethodHandles.lookup(), "state", long.class);
    private static final VarHandle OUTER_FORKS = Fields.handle(MethodHandles.lookup(), "outerForks", Map.class);

    final String name;
    final ScopeSettings options;
    final @Nullable GuardedListener events; // null without a listener
    final ScopeStack owner = ScopeStack.current();
    final @Nullable SubtaskScope parent;
    final @Nullable EnclosingScope enclosure = EnclosingScope.entered(); // must be passed to subtasks explicitly
    final PendingSubtasks pending = new PendingSubtasks();
    final ScopedValue.Carrier inside = ScopedValue.where(CURRENT, this); // marks a thread as inside this scope
    final Container container;

    volatile @Nullable Map<Thread, JdkContainer.OuterForks> outerForks; // created lazily; null while there are none

    volatile long state;

    /** Whether the container wakes the owner when its last thread ends. Not in the container, which forks write. */
    volatile boolean wokenByContainer;

    private volatile boolean severed;
    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader(); // of the owner

    /** Opens a scope owned by the calling thread. */
    @SuppressWarnings("this-escape") // the container and the stack use only fields that are set by then
    SubtaskScope(StructuredScopeOptions chosen) {
        this.options = chosen.settings;
        this.name = options.name == null ? identity() : options.name;
        this.events = GuardedListener.of(options.listener, options.sink(), "scope");
        SubtaskScope enclosing = owner.innermost;
        this.parent = enclosing == null ? ofCaller() : enclosing;
        TimerUse.begin(options.time());
        this.container = openContainer();
        owner.innermost = this;
    }

    /** Returns what {@link Objects#toIdentityString} does, without several copies of the text. */
    private String identity() {
        String type = getClass().getName();
        String hash = Integer.toHexString(System.identityHashCode(this));
        return type + '@' + hash;
    }

    private Container openContainer() {
        String reason = options.plainThreads ? "plain threads were asked for" : JdkScope.UNAVAILABLE_REASON;
        if (reason == null) {
            try {
                return new JdkContainer(this);
            } catch (RuntimeException | LinkageError refused) {
                reason = "the JDK refused to open a scope: " + refused;
            }
        }
        return new PlainContainer(this, reason);
    }

    /** Starts a subtask. Returns false if it will never run because this scope is shut down or severed. */
    final boolean start(ForkedSubtask<?> subtask, boolean byOwner) {
        if (state != OPEN) {
            return false; // not counted and not listed
        }
        pending.add(subtask, byOwner);
        if (state != OPEN || severed) {
            subtask.abandon();
            return false;
        }
        boolean started = false;
        try {
            if (isObserved()) {
                subtask.observe();
            }
            container.start(subtask, byOwner);
            started = !subtask.isRefused();
        } finally {
            if (!started) {
                subtask.abandon();
            }
        }
        if (state != OPEN) {
            subtask.interruptRunner();
        }
        return started;
    }

    /** Returns whether a listener, a propagator or a recording needs a view of each subtask. */
    private boolean isObserved() {
        return options.listener != null || options.propagation.hasPropagators() || Recorder.isOn();
    }

    /** Returns a new thread of the factory. */
    final Thread newThread(Runnable run) {
        ThreadFactory factory = options.threadFactory;
        Thread thread = (factory == null ? VIRTUAL_THREADS : factory).newThread(run);
        if (thread == null) {
            throw new RejectedExecutionException(
                    "the thread factory of scope \"" + name + "\" returned null: it accepts no more subtasks");
        }
        return thread;
    }

    /** Shuts this scope down. Returns false if it was shut down before. */
    final boolean stop() {
        if (!STATE.compareAndSet(this, OPEN, Thread.currentThread().threadId())) {
            return false;
        }
        pending.forEach(ForkedSubtask::interruptRunner);
        owner.wake();
        return true;
    }

    /** Counts a subtask that has ended, and wakes the owner after the last one unless the container will do so. */
    final void ended(boolean abandoned) {
        pending.countEnd();
        if ((abandoned || !wokenByContainer) && pending.count() == 0) {
            owner.wake();
        }
    }

    final boolean isWaitOver(boolean closing) {
        return pending.count() == 0 || (!closing && state != OPEN);
    }

    /** Waits for the last subtask and closes the container. Called by the owner of a scope that is shut down. */
    final void closeContainer() {
        boolean interrupted = pending.count() > 0 && awaitStragglers();
        interrupted |= Thread.interrupted(); // closing the container must not see the interrupt
        try {
            boolean inOrder = owner.pop(this);
            container.close();
            if (!inOrder) {
                throw new StructureViolationException("scopes close in the reverse order of their opening; \"" + name
                        + "\" was closed before one inside it");
            }
        } finally {
            state = CLOSED;
            pending.clearIfEmpty();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for all subtasks and reports slow ones. Returns whether the owner was interrupted. */
    private boolean awaitStragglers() {
        OverdueReports<ForkedSubtask<?>> stragglers = new OverdueReports<>(
                options.time(),
                () -> options.patience,
                offload(),
                pending::unfinished,
                each -> each.thread,
                this::reportStraggler);
        stragglers.arm();
        try {
            return awaitAll();
        } finally {
            stragglers.end();
        }
    }

    final OffloadExecutor offload() {
        return new OffloadExecutor(options.sink(), options.time(), loader, true);
    }

    private boolean awaitAll() {
        boolean interrupted = false;
        while (pending.count() > 0) {
            try {
                owner.await(this, true);
            } catch (InterruptedException interrupt) {
                interrupted = true;
            }
        }
        return interrupted;
    }

    private void reportStraggler(ForkedSubtask<?> straggler, @Nullable Thread thread, StackTraceElement[] stack) {
        if (straggler.hasEnded()) {
            return;
        }
        IllegalStateException where = new IllegalStateException("subtask " + straggler.name() + " of scope \"" + name
                + "\" ignores its interrupt and keeps the scope open; it was forked " + ageMillis(straggler) + " ms ago"
                + (thread == null ? "" : " and runs in " + UserCode.textOf(thread)));
        where.setStackTrace(stack);
        options.sink().report("close() of scope \"" + name + "\"", where);
    }

    final long ageMillis(ForkedSubtask<?> subtask) {
        return PendingSubtasks.ageMillis(subtask, options.time());
    }

    /**
     * Prevents further starts and waits for running subtasks. Called when the same thread closes an enclosing scope.
     */
    final void sever() {
        severed = true;
        if (awaitAll()) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Abandons subtasks whose threads have terminated without running them. Called by the owner when the JDK's
     * container may have become empty; if it has not, it will wake the owner again. A platform thread leaves the
     * container before it has terminated.
     */
    final void abandonDead() {
        ForkedSubtask<?> alive = pending.abandonDead();
        Thread dying = alive == null || !alive.isWaiting() ? null : alive.thread;
        if (dying != null && !dying.isVirtual()) {
            offload().execute(() -> abandonWhenDead(dying)); // a platform thread that has left the container
        }
    }

    private void abandonWhenDead(Thread dying) {
        try {
            dying.join();
        } catch (InterruptedException impossible) {
            Thread.currentThread().interrupt();
        }
        pending.abandonDead();
        owner.wake();
    }

    /** Returns the scope whose subtask the calling thread runs, or null if there is none. */
    static @Nullable SubtaskScope ofCaller() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Returns whether the calling thread runs a subtask of this scope, or of one inside it. */
    final boolean isCallerInside() {
        for (SubtaskScope each = ofCaller(); each != null; each = each.parent) {
            if (each == this) {
                return true;
            }
        }
        return false;
    }

    /** Adds the owner's enclosure to the scoped values, which may lack it. Called in a subtask's thread. */
    final ScopedValue.Carrier withEnclosure(ScopedValue.Carrier values) {
        return enclosure == null
                ? values
                : values.where(TaskContext.scopedValue(), TaskContext.current().ofTask(enclosure));
    }

    /** Closes the calling thread's outer forks, after it has run a subtask. Never throws. */
    final void closeOuterForks(Thread runner) {
        Map<Thread, JdkContainer.OuterForks> known = outerForks;
        JdkContainer.OuterForks forks = known == null ? null : known.remove(runner);
        if (forks != null) {
            try {
                forks.close();
            } catch (Throwable violation) {
                options.sink()
                        .report("closing the threads that a subtask of scope \"" + name + "\" has forked", violation);
            }
        }
    }

    final JdkContainer.@Nullable OuterForks outerForksOf(Thread runner) {
        Map<Thread, JdkContainer.OuterForks> known = outerForks;
        return known == null ? null : known.get(runner);
    }

    final void putOuterForks(Thread runner, JdkContainer.OuterForks forks) {
        if (outerForks == null) {
            OUTER_FORKS.compareAndSet(this, null, new ConcurrentHashMap<>());
        }
        Objects.requireNonNull(outerForks).put(runner, forks);
    }

    /** Returns the scope that the same owner had opened last before this one, or null if none is open. */
    final @Nullable SubtaskScope enclosingInSameThread() {
        return parent != null && parent.owner == owner ? parent : null;
    }
}
