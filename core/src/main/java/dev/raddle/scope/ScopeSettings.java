package dev.raddle.scope;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.task.TaskListener;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The name, the options and the time source of one scope. The owner changes the options before the first task is
 * submitted; after that they do not change.
 */
final class ScopeSettings {

    private static final AtomicLong IDS = new AtomicLong();

    final long id = IDS.incrementAndGet();
    final String name;
    ScopeOptions options; // written by the owner before the first task is submitted
    TimeSource time; // written by the owner before the first task is submitted

    @Nullable
    ScopeEvents events; // null without hook and listener; written with the options

    private volatile boolean begun; // whether a task was submitted; written under this
    private volatile boolean withdrawn; // whether a change was refused, and the scope not used since; reset under this

    /**
     * Creates settings.
     *
     * @param name the name of the scope, or null to name it by its number
     * @param options the options
     * @param outer the deadline of the enclosing scope, or null
     */
    ScopeSettings(@Nullable String name, ScopeOptions options, @Nullable Deadline outer) {
        this.name = name == null ? "scope-" + id : name;
        this.options = options;
        TimeSource asked = options.all.time;
        if (outer != null && asked != null) {
            requireTimeOf(outer, asked);
        }
        this.time = outer != null ? outer.time() : asked != null ? asked : TimeSource.system();
        if (options.all.hook != null || options.all.listener != null) {
            adaptListeners();
        }
    }

    /** Returns whether a task was submitted, so that the options are final. */
    boolean hasBegun() {
        return begun;
    }

    /** Records that a task is submitted. Returns true to exactly one caller. */
    synchronized boolean begin() {
        boolean first = !begun;
        begun = true;
        return first;
    }

    /** Returns whether the scope is withdrawn. */
    boolean isWithdrawn() {
        return withdrawn;
    }

    /** Records that the scope is withdrawn, because a change was refused. */
    void withdraw() {
        withdrawn = true;
    }

    /** Records that the scope is used again. Returns true to exactly one caller. */
    synchronized boolean endWithdrawal() {
        boolean ended = withdrawn;
        withdrawn = false;
        return ended;
    }

    /** Changes the options. */
    void change(UnaryOperator<ScopeOptions> change) {
        options = change.apply(options);
        adaptListeners();
    }

    /** Makes one listener of the hook and the listener of the options. */
    private void adaptListeners() {
        TaskListener listener = options.all.listener;
        HookListener hook = options.all.hook == null ? null : new HookListener(options.all.hook, id, name, options);
        TaskListener both = hook == null ? listener : listener == null ? hook : hook.and(listener);
        events = both == null ? null : new ScopeEvents(name, options.sink, both, hook);
    }

    /** Runs user code and reports what it throws to the sink. */
    void runGuarded(String source, Runnable userCode) {
        ScopeEvents.runGuarded(name, options.sink, source, userCode);
    }

    /** Changes the time source to that of the options. */
    void changeTime() {
        TimeSource asked = options.all.time;
        if (asked != null) {
            time = asked;
        }
    }

    /** Checks that a deadline, if there is one, is on the given time source, if there is one. */
    void requireTimeOf(@Nullable Deadline set, @Nullable TimeSource source) {
        if (set != null && source != null && set.time() != source) {
            throw new IllegalStateException("scope \"" + name + "\" has a deadline on " + set.time()
                    + "; call withTimeSource before withDeadline, and inside a scope with a deadline not at all");
        }
    }

    /** Returns an executor for user code that an alarm makes necessary. */
    OffloadExecutor offload() {
        return new OffloadExecutor(options.sink, time);
    }
}
