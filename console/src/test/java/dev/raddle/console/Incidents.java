package dev.raddle.console;

import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;

/** Stages incidents for tests of other packages. */
public final class Incidents {

    private Incidents() {}

    /** Stages an incident with the system's clock. Returns its end. */
    public static AutoCloseable stage(Incident incident, Console console) throws Exception {
        Incident.Stage stage = new Incident.Stage(console, TimeSource.system(), _ -> {});
        incident.stage(stage);
        return stage;
    }

    /** Stages an incident. Returns its end. */
    public static AutoCloseable stage(Incident incident, Console console, VirtualTime time) throws Exception {
        Incident.Stage stage = new Incident.Stage(console, time, time::advance);
        incident.stage(stage);
        return stage;
    }
}
