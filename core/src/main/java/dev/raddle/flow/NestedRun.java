package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/** A run in the place of a node of another run. In the slot of that node it means that the nested run is executing. */
interface NestedRun extends NodePhase {

    /**
     * Ends the nodes of this run because its node in the outer run was ended. The caller must then call
     * {@link #finishStop}.
     *
     * @param deferred the deferred steps of the calling thread
     * @return the runner that ended the nodes, or null if the run was stopped before
     */
    @Nullable
    Runner tryStop(DeferredSteps deferred);

    /** Processes the consequences of {@link #tryStop}. */
    void finishStop(Runner runner);
}
