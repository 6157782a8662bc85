package dev.raddle.kernel;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for a change of an adaptive limit. Disabled unless a recording enables it. */
@Name("dev.raddle.LimitChange")
@Label("Limit Change")
@Description("A change of the adaptive limit of a group")
@Category("Raddle")
@StackTrace(false)
@Enabled(false)
final class LimitEvent extends Event {

    @Label("Group")
    @Nullable
    String group;

    @Label("Before")
    int before;

    @Label("After")
    int after;

    @Label("Reason")
    @Description("The measurements that led to the change")
    @Nullable
    String reason;
}
