package dev.raddle.flow.threads;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run in the place of a node of another run. In the slot of that node it means that the nested run is executing. */
public interface NestedRun extends NodePhase {

    /**
     * Ends the nodes of this run because its node in the outer run was ended. The caller must then call
     * {@link #finishStop}.
     *
     * @param deferred the deferred steps of the calling thread
     * @return the runner that ended the nodes, or null if the run was stopped before
     */
    @Nullable
    Runner tryStop(DeferredSteps deferred);

    /** Returns whether a node that waits for a signal has ended, or the node in whose nested run it is. */
    boolean hasEnded(String signal);

    /** Processes the consequences of {@link #tryStop}. */
    void finishStop(Runner runner);

    /** A run that is being stopped, and the runner that ended its nodes. */
    record Stopping(NestedRun run, Runner runner) {}

    /** Stops nested runs of all depths: first ends the nodes of all of them, then notifies, the innermost run first. */
    static void stopAll(Runner runner) {
        List<NestedRun> found = runner.takeStopped();
        List<Stopping> stopping = new ArrayList<>();
        for (int each = 0; each < found.size(); each++) {
            NestedRun nested = found.get(each);
            Runner stopper = nested.tryStop(runner.deferred());
            if (stopper != null) {
                found.addAll(stopper.takeStopped());
                stopping.add(new Stopping(nested, stopper));
            }
        }
        for (Stopping each : stopping.reversed()) {
            each.run().finishStop(each.runner());
        }
    }
}
