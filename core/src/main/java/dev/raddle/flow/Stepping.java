package dev.raddle.flow;

import dev.raddle.time.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** What the run of a stepper and its nested runs share. Confined to the driver's thread, except for {@link #find}. */
final class Stepping {

    /** A node of one of the runs. */
    record Place(SteppedRun run, int node) {}

    final StepperTime time = new StepperTime();
    final TimeSource realTime; // for the actions
    private final ConcurrentSkipListMap<String, SteppedRun> runs = new ConcurrentSkipListMap<>(); // by path
    private List<Step> steps = new ArrayList<>();

    Stepping(TimeSource realTime) {
        this.realTime = realTime;
    }

    void add(Step step) {
        steps.add(step);
    }

    List<Step> takeSteps() {
        List<Step> taken = steps;
        steps = new ArrayList<>();
        return taken;
    }

    void begun(SteppedRun run) {
        runs.put(run.run.path(), run);
    }

    void ended(SteppedRun run) {
        runs.remove(run.run.path());
    }

    /** Returns the runs that have not ended, outer runs before nested ones. */
    Map<String, SteppedRun> runs() {
        return runs;
    }

    /** Returns the node with an id, the innermost run first, or null if there is none. Safe for any thread. */
    @Nullable
    Place find(String id) {
        Place found = null;
        for (int slash = id.lastIndexOf('/'); found == null && slash >= 0; slash = id.lastIndexOf('/', slash - 1)) {
            found = find(id.substring(0, slash + 1), id.substring(slash + 1));
        }
        return found == null ? find("", id) : found;
    }

    private @Nullable Place find(String path, String id) {
        SteppedRun run = runs.get(path);
        int node = run == null ? NodeEnd.NO_NODE : run.run.graph.find(id);
        return run == null || node < 0 ? null : new Place(run, node);
    }
}
