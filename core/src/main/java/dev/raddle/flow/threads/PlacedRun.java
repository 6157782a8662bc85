package dev.raddle.flow.threads;

import java.util.concurrent.Callable;

/** What the group of a node takes from the run. */
public interface PlacedRun {

    /** Returns the name of the flow. */
    String name();

    String idOf(int node);

    /** Calls code of a user in the context that was captured when the run was started. */
    <T> T callInStarterContext(Callable<? extends T> action) throws Exception;
}
