package dev.raddle.cli.run;

import java.io.IOException;

/** Hears what happens in a run. All calls come from one thread, one after the other. */
public interface RunListener {

    /**
     * Something happened.
     *
     * @throws IOException if it can no longer do its work; it is not called again, and the run is stopped
     */
    void on(RunEvent event) throws IOException;

    /** A tenth of a second or more has passed since the last time. */
    default void tick() throws IOException {}
}
