package dev.raddle.cli.run;

import java.io.IOException;

/** A listener for the events of a run. All calls come from one thread. */
public interface RunListener {

    /**
     * Called for each event.
     *
     * @throws IOException if the listener cannot continue; it is not called again, and the run is stopped
     */
    void on(RunEvent event) throws IOException;

    /** Called at intervals of at least a tenth of a second. */
    default void tick() throws IOException {}
}
