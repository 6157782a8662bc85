package dev.raddle.scope;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
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
        requireTimeOf(outer, options.time);
        TimeSource asked = options.time;
        this.time = outer != null ? outer.time() : asked != null ? guarded(asked) : TimeSource.system();
    }

    /** Changes the options. */
    void change(UnaryOperator<ScopeOptions> change) {
        options = change.apply(options);
    }

    /** Changes the time source to that of the options. */
    void changeTime() {
        TimeSource asked = options.time;
        if (asked != null) {
            time = guarded(asked);
        }
    }

    private TimeSource guarded(TimeSource source) {
        return UserCode.clock(source, failure -> options.sink.report("time source of scope \"" + name + "\"", failure));
    }

    /** Checks that a deadline, if there is one, is on the given time source, if there is one. */
    void requireTimeOf(@Nullable Deadline set, @Nullable TimeSource source) {
        if (set != null && source != null && !UserCode.isSameClock(set.time(), source)) {
            throw new IllegalStateException("scope \"" + name + "\" has a deadline on " + set.time()
                    + "; call withTimeSource before withDeadline, and inside a scope with a deadline not at all");
        }
    }

    /** Returns an executor for user code that an alarm makes necessary. */
    OffloadExecutor offload() {
        return new OffloadExecutor(options.sink, time);
    }
}
