package dev.raddle.kernel;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A task that a group did not admit, as a flight recording has it. Off unless a recording asks for it. */
@Name("dev.raddle.Rejection")
@Label("Rejection")
@Description("A group has not admitted a task; what a rejection handler then makes of it, the task's own event tells")
@Category("Raddle")
@StackTrace(false)
@Enabled(false)
final class RejectionEvent extends Event {

    @Label("Group")
    @Nullable
    String group;

    @Label("Name")
    @Nullable
    String name;

    @Label("Reason")
    @Description("Which rule left no room, and with what numbers")
    @Nullable
    String reason;
}
