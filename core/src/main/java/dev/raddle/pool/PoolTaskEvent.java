package dev.raddle.pool;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The JFR event of one task of a pool. Disabled unless a recording enables it. The class can be loaded only if the
 * runtime image has the module jdk.jfr.
 */
@Name("dev.raddle.PoolTask")
@Label("Pool Task")
@Category("Raddle")
@StackTrace(false)
@Enabled(false)
final class PoolTaskEvent extends Event {

    /** An event that is never committed; it shows whether a recording enables events of this class. */
    static final PoolTaskEvent ANY = new PoolTaskEvent(null);

    @Label("Pool")
    @Nullable
    String pool;

    @Label("Event")
    @Nullable
    String what;

    @Label("Task")
    @Nullable
    String task;

    @Label("Runner Thread")
    @Nullable
    String runner;

    @Label("Waited")
    @Timespan(Timespan.NANOSECONDS)
    long waited;

    @Label("Ran")
    @Timespan(Timespan.NANOSECONDS)
    long ran;

    @Label("Failure")
    @Nullable
    String failure;

    PoolTaskEvent(@Nullable String task) {
        this.task = task;
    }
}
