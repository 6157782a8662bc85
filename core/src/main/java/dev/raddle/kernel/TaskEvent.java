package dev.raddle.kernel;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for the end of a task. Disabled unless a recording enables it. */
@Name("dev.raddle.Task")
@Label("Task")
@Description("A task, from its start to its end; if it never started, its end")
@Category("Raddle")
@StackTrace(false)
@Enabled(false)
final class TaskEvent extends Event {

    /** An event that is never committed; it shows whether a recording enables events of this class. */
    static final TaskEvent ANY = new TaskEvent();

    @Label("Group")
    @Description("The key of its group; null if it has none")
    @Nullable
    String group;

    @Label("Scope")
    @Description("The name of its scope; null if it has none")
    @Nullable
    String scope;

    @Label("Flow")
    @Description("The name of its flow; null if it is not a node of a flow")
    @Nullable
    String flow;

    @Label("Name")
    @Nullable
    String name;

    @Label("Outcome")
    @Description("success, failed, cancelled, rejected or skipped")
    @Nullable
    String outcome;

    @Label("Wait Time")
    @Description(
            "From its submission to its start, or to its end if it never started; missing if it was submitted before "
                    + "the recording began")
    @Timespan(Timespan.NANOSECONDS)
    long waitTime;

    @Label("Run Time")
    @Description("From its start to its end; 0 if it never started")
    @Timespan(Timespan.NANOSECONDS)
    long runTime;
}
