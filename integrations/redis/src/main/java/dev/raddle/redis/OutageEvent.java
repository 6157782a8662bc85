package dev.raddle.redis;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for an outage, written when it ends. */
@Name("dev.raddle.FleetOutage")
@Label("Fleet Outage")
@Description("A time in which an instance of a fleet had no valid lease, or its server had lost data")
@Category("Raddle")
@StackTrace(false)
final class OutageEvent extends Event {

    @Label("Namespace")
    @Nullable
    String namespace;

    @Label("Reason")
    @Nullable
    String reason;

    @Label("Mode")
    @Nullable
    String mode;
}
