package dev.raddle.console;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The runs of flows: those that have not ended, and the last ones that have. */
final class Flows {

    private static final int MOST_ENDED = 50;
    private static final int MOST_SHOWN = 200;

    record Rows(int total, List<String> order, Map<String, WatchedRun.Row> rows) {}

    record Detail(WatchedRun.@Nullable Row row, Map<String, WatchedRun.NodeRow> nodes, List<List<String>> edges) {}

    record Summary(int running, int failed) {}

    private final Map<String, WatchedRun> runs = new LinkedHashMap<>(); // guarded by this; by id, in order of starts
    private long ids; // guarded by this
    private int nextSweep = MOST_ENDED; // guarded by this

    synchronized Console.Watch add(FlowRun<?> run, FlowPlan<?, ?> plan, NodeTimes times, long startedAt) {
        WatchedRun added = new WatchedRun("r" + ++ids, run, plan, times, startedAt);
        runs.put(added.id, added);
        if (runs.size() >= nextSweep) {
            sweep(); // while no client looks, too: an ended run holds its values until it is seen
            nextSweep = 2 * runs.size();
        }
        return () -> remove(added.id);
    }

    private synchronized void remove(String id) {
        runs.remove(id);
    }

    private void sweep() {
        List<String> ended = new ArrayList<>();
        for (WatchedRun run : runs.values()) {
            run.settle();
            if (run.hasEnded()) {
                ended.add(run.id);
            }
        }
        ended.subList(0, Math.max(0, ended.size() - MOST_ENDED)).forEach(runs::remove);
    }

    /** Returns the runs, the latest first. */
    private synchronized List<WatchedRun> all() {
        sweep();
        return List.copyOf(runs.values()).reversed();
    }

    WatchedRun get(String id) {
        for (WatchedRun run : all()) {
            if (run.id.equals(id)) {
                return run;
            }
        }
        throw new Refusal(404, "the run is not known any more");
    }

    Summary summary() {
        List<WatchedRun> all = all();
        int failed = (int) all.stream().filter(WatchedRun::hasFailed).count();
        int ended = (int) all.stream().filter(WatchedRun::hasEnded).count();
        return new Summary(all.size() - ended, failed);
    }

    Rows rows(View view) {
        List<WatchedRun> shown = new ArrayList<>(all());
        shown.removeIf(run -> !run.isAdmitted(view));
        Map<String, WatchedRun.Row> rows = new LinkedHashMap<>();
        shown.stream().limit(MOST_SHOWN).forEach(run -> rows.put(run.id, run.row()));
        return new Rows(shown.size(), List.copyOf(rows.keySet()), rows);
    }

    Detail detail(View view) {
        for (WatchedRun run : all()) {
            if (run.id.equals(view.text("id"))) {
                return new Detail(run.row(), run.nodes(), run.edges);
            }
        }
        return new Detail(null, Map.of(), List.of());
    }
}
