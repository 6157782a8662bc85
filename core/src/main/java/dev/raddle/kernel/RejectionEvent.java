package dev.raddle.kernel;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for a task that a group did not admit. Disabled unless a recording enables it. */
@Name("dev.raddle.Rejection")
@Label("Rejection")
@Description("A task that a group did not admit; the event dev.raddle.Task has its outcome")
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
    @Description("The rule that left no room, and its numbers")
    @Nullable
    String reason;
}
