package dev.raddle.console;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The runs that are watched: those that have not ended, and the last ones that have. */
final class Flows implements Subject {

    private static final long OLD = 60_000; // milliseconds
    private static final int MOST_ENDED = 50;
    private static final int MOST_SHOWN = 200;
    private static final Set<String> SUCCESSFUL = Set.of("succeeded", "degraded");
    private static final Set<String> NOT_FAILED = Set.of("succeeded", "degraded", "cancelled");

    record Rows(int total, List<String> order, Map<String, Object> rows) {}

    record Summary(int running, int failed) {}

    private final Map<String, RunView> runs = new LinkedHashMap<>(); // guarded by this; by id, in order of starts
    private long ids; // guarded by this
    private int nextSweep = MOST_ENDED; // guarded by this

    Console.Watch add(RunView run) {
        String id;
        boolean isSweepDue;
        synchronized (this) {
            id = "r" + ++ids;
            runs.put(id, run);
            isSweepDue = runs.size() >= nextSweep;
        }
        if (isSweepDue) {
            int left = all().size(); // while no client looks, too: an ended run holds its values until it is seen
            synchronized (this) {
                nextSweep = Math.max(MOST_ENDED, 2 * left);
            }
        }
        return () -> remove(Set.of(id));
    }

    private synchronized void remove(Set<String> ids) {
        runs.keySet().removeAll(ids);
    }

    private synchronized Map<String, RunView> copy() {
        return new LinkedHashMap<>(runs);
    }

    /** Returns the runs, without those that ended before the last fifty. User code runs outside the lock. */
    private Map<String, RunView> all() {
        Map<String, RunView> all = copy();
        Map<String, Instant> ends = new LinkedHashMap<>();
        all.forEach((id, run) -> {
            if (run instanceof WatchedRun watched) {
                watched.settle();
            }
            Instant end = endOf(run);
            if (end != null) {
                ends.put(id, end);
            }
        });
        Set<String> surplus = ends.entrySet().stream()
                .sorted(Map.Entry.comparingByValue())
                .limit(Math.max(0, ends.size() - MOST_ENDED))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        remove(surplus);
        all.keySet().removeAll(surplus);
        return all;
    }

    /** Returns a run of a flow; refuses another one, which cannot be controlled. */
    WatchedRun get(String id) {
        return switch (copy().get(id)) {
            case WatchedRun run -> run;
            case null -> throw new Refusal(404, "the run is not known any more");
            default -> throw new Refusal(409, "another engine executes the run, which cannot be changed here");
        };
    }

    /** Returns the runs by their ids. */
    Map<String, RunView> runs() {
        return all();
    }

    @Override
    public int watched() {
        return all().size();
    }

    /** Adds what keeps runs that began some time ago from going on. */
    @Override
    public void findWrong(long now, Findings found) {
        all().forEach((id, run) -> {
            Finding.Link link = new Finding.Link("flow", Map.of("id", id));
            Finding finding = read(() -> RunFindings.of(run, link, now - OLD), failure -> null);
            if (finding != null) {
                found.add(finding);
            }
        });
    }

    @Override
    public Summary summary(long now) {
        int running = 0;
        int failed = 0;
        for (RunView run : all().values()) {
            running += endOf(run) == null ? 1 : 0;
            failed += hasEndedWithout(NOT_FAILED, run) ? 1 : 0;
        }
        return new Summary(running, failed);
    }

    private static @Nullable Instant endOf(RunView run) {
        return read(run::endedAt, failure -> Instant.MIN); // then it is the first to be forgotten
    }

    /** Returns whether a run has ended in none of some states. */
    private static boolean hasEndedWithout(Set<String> states, RunView run) {
        return read(() -> run.endedAt() != null && !states.contains(run.state()), failure -> true);
    }

    /** Reads from a run. If the code of a {@link RunView} throws, neither other runs nor other screens suffer. */
    private static <T extends @Nullable Object> T read(Supplier<T> value, Function<Throwable, T> otherwise) {
        try {
            return value.get();
        } catch (Throwable userCode) {
            return otherwise.apply(userCode);
        }
    }

    /** Returns the runs: those that have not ended, the oldest first, and then the latest ones that have. */
    Rows rows(View view) {
        Map<String, RunView> all = all();
        all.values().removeIf(run -> !isShown(run, view));
        Map<String, Object> rows = new LinkedHashMap<>();
        Stream<Map.Entry<String, RunView>> live =
                all.entrySet().stream().filter(each -> endOf(each.getValue()) == null);
        Stream<Map.Entry<String, RunView>> ended =
                List.copyOf(all.entrySet()).reversed().stream().filter(each -> endOf(each.getValue()) != null);
        Stream.concat(live, ended).limit(MOST_SHOWN).forEach(entry -> rows.put(entry.getKey(), row(entry.getValue())));
        return new Rows(all.size(), List.copyOf(rows.keySet()), rows);
    }

    private static boolean isShown(RunView run, View view) {
        return read(() -> view.admits(run.name(), run.label()), failure -> true)
                && (!view.isSet("failed") || hasEndedWithout(SUCCESSFUL, run));
    }

    private static Map<String, Object> row(RunView run) {
        return read(() -> RunData.row(run), failure -> RunData.rowOfUnreadable(run, failure));
    }

    /** Returns one run with its nodes, or nothing of one that is not known any more. */
    Map<String, Object> detail(View view) {
        RunView run = all().get(view.text("id"));
        if (run == null) {
            return Map.of("nodes", Map.of(), "edges", List.of());
        }
        Map<String, Object> data =
                new LinkedHashMap<>(read(() -> RunData.of(run), failure -> RunData.ofUnreadable(run, failure)));
        data.put("changeable", run instanceof WatchedRun);
        return data;
    }
}
