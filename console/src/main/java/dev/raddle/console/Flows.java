package dev.raddle.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** The runs that are watched: those that have not ended, and the last ones that have. */
final class Flows {

    private static final int MOST_ENDED = 50;
    private static final int MOST_SHOWN = 200;

    record Rows(int total, List<String> order, Map<String, Object> rows) {}

    record Summary(int running, int failed) {}

    private final Map<String, RunView> runs = new LinkedHashMap<>(); // guarded by this; by id, in order of starts
    private long ids; // guarded by this
    private int nextSweep = MOST_ENDED; // guarded by this

    synchronized Console.Watch add(RunView run) {
        String id = "r" + ++ids;
        runs.put(id, run);
        if (runs.size() >= nextSweep) {
            sweep(); // while no client looks, too: an ended run holds its values until it is seen
            nextSweep = 2 * runs.size();
        }
        return () -> remove(id);
    }

    private synchronized void remove(String id) {
        runs.remove(id);
    }

    private void sweep() {
        List<String> ended = new ArrayList<>();
        runs.forEach((id, run) -> {
            if (run instanceof WatchedRun watched) {
                watched.settle();
            }
            if (isOver(run)) {
                ended.add(id);
            }
        });
        ended.subList(0, Math.max(0, ended.size() - MOST_ENDED)).forEach(runs::remove);
    }

    private synchronized Map<String, RunView> all() {
        sweep();
        return new LinkedHashMap<>(runs);
    }

    /** Returns a run of a flow; refuses another one, which cannot be controlled. */
    WatchedRun get(String id) {
        if (all().get(id) instanceof WatchedRun run) {
            return run;
        }
        throw new Refusal(404, "the run is not known any more");
    }

    Summary summary() {
        int running = 0;
        int failed = 0;
        for (RunView run : all().values()) {
            running += isOver(run) ? 0 : 1;
            failed += hasFailed(run) ? 1 : 0;
        }
        return new Summary(running, failed);
    }

    private static boolean isOver(RunView run) {
        return read(() -> run.endedAt() != null, failure -> true);
    }

    private static boolean hasFailed(RunView run) {
        return read(
                () -> {
                    String state = run.state();
                    return run.endedAt() != null && !state.equals("succeeded") && !state.equals("degraded");
                },
                failure -> true);
    }

    /** Reads from a run. If the code of a {@link RunView} throws, neither other runs nor other screens suffer. */
    private static <T> T read(Supplier<T> value, Function<Throwable, T> otherwise) {
        try {
            return value.get();
        } catch (Throwable userCode) {
            return otherwise.apply(userCode);
        }
    }

    /** Returns the runs, the latest first. */
    Rows rows(View view) {
        Map<String, RunView> all = all();
        all.values().removeIf(run -> !isShown(run, view));
        Map<String, Object> rows = new LinkedHashMap<>();
        List.copyOf(all.entrySet()).reversed().stream()
                .limit(MOST_SHOWN)
                .forEach(entry -> rows.put(entry.getKey(), row(entry.getValue())));
        return new Rows(all.size(), List.copyOf(rows.keySet()), rows);
    }

    private static boolean isShown(RunView run, View view) {
        return read(() -> view.admits(run.name(), run.label()), failure -> true)
                && (!view.isSet("failed") || hasFailed(run));
    }

    private static Map<String, Object> row(RunView run) {
        return read(() -> RunData.row(run), failure -> RunData.rowOfUnreadable(run, failure));
    }

    /** Returns one run with its nodes, or nothing of one that is not known any more. */
    Map<String, Object> detail(View view) {
        RunView run = all().get(view.text("id"));
        Map<String, Object> nothing = Map.of("nodes", Map.of(), "edges", List.of());
        return run == null ? nothing : read(() -> RunData.of(run), failure -> RunData.ofUnreadable(run, failure));
    }
}
