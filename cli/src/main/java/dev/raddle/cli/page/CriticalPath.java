package dev.raddle.cli.page;

import dev.raddle.cli.graph.PlanGraph;
import dev.raddle.cli.graph.PlanGraph.Edge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Finds the critical path of a run. */
final class CriticalPath {
    private CriticalPath() {}

    /**
     * Returns the chain of tasks that ends with the last one to end, in which each task waited for the one before it.
     *
     * @param starts the start of each task, or less than 0 if it did not start
     * @param ends the end of each task, or less than 0 if it did not end
     */
    static List<Integer> of(PlanGraph graph, long[] starts, long[] ends) {
        int last = -1;
        for (int task = 0; task < graph.size(); task++) {
            if (starts[task] >= 0 && (last < 0 || ends[task] > ends[last])) {
                last = task;
            }
        }
        List<Integer> path = new ArrayList<>();
        while (last >= 0) {
            path.add(last);
            last = before(graph, last, starts, ends);
        }
        Collections.reverse(path);
        return path;
    }

    /** Returns the upstream task that ended last before this one began, or -1. */
    private static int before(PlanGraph graph, int task, long[] starts, long[] ends) {
        int latest = -1;
        for (Edge edge : graph.into(task)) {
            int from = edge.from();
            boolean awaited = starts[from] >= 0 && (edge.isMust() || ends[from] <= starts[task]);
            if (awaited && (latest < 0 || ends[from] > ends[latest])) {
                latest = from;
            }
        }
        return latest;
    }
}
