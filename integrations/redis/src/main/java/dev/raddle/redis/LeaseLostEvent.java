package dev.raddle.redis;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for a lost lease. */
@Name("dev.raddle.FleetLeaseLost")
@Label("Fleet Lease Lost")
@Description("The permits of an instance of a fleet were revoked, because its lease ended")
@Category("Raddle")
@StackTrace(false)
final class LeaseLostEvent extends Event {

    @Label("Namespace")
    @Nullable
    String namespace;

    @Label("Permits")
    int permits;

    @Label("Reason")
    @Nullable
    String reason;
}
