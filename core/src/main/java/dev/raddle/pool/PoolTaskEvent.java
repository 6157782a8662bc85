package dev.raddle.pool;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** What became of one task of a pool, as a flight recording has it. Off unless a recording asks for it. */
@Name("dev.raddle.PoolTask")
@Label("Pool Task")
@Category("Raddle")
@StackTrace(false)
@Enabled(false)
final class PoolTaskEvent extends Event {

    @Label("Pool")
    @Nullable
    String pool;

    @Label("What")
    @Nullable
    String what;

    @Label("Task")
    @Nullable
    String task;

    @Label("Thread that runs it")
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

    static PoolTaskEvent of(String task) {
        PoolTaskEvent event = new PoolTaskEvent();
        event.task = task;
        return event;
    }

    /** Returns an event that begins now. */
    static PoolTaskEvent begun(String task) {
        PoolTaskEvent event = of(task);
        event.begin();
        return event;
    }

    /** Tells whether a recording asks for it. The class can be loaded only where the runtime image has the recorder. */
    static boolean isOn() {
        return new PoolTaskEvent().isEnabled();
    }
}
