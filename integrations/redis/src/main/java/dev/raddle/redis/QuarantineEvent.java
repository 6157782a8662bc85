package dev.raddle.redis;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for the beginning of a quarantine. */
@Name("dev.raddle.FleetQuarantine")
@Label("Fleet Quarantine")
@Description("A time in which a fleet grants nothing, because leases that its server does not know may not have ended")
@Category("Raddle")
@StackTrace(false)
final class QuarantineEvent extends Event {

    @Label("Namespace")
    @Nullable
    String namespace;

    @Label("Length")
    @Timespan(Timespan.MILLISECONDS)
    long quarantineMillis;

    @Label("Reason")
    @Nullable
    String reason;
}
