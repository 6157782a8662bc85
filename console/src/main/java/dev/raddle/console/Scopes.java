package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.since;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.scope.ScopeTree;
import dev.raddle.scope.ThreadScope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The trees of the watched scopes. */
final class Scopes implements Subject {

    private static final int MOST_ROOTS = 50;
    private static final int MANY = 5; // of one name
    private static final long OLD = 60_000; // milliseconds

    record TaskRow(
            String name,
            String state,
            @Nullable Long sinceAt,
            @Nullable String thread,
            @Nullable String stack) {}

    /** A scope, inside the last one before it whose depth is less: JSON must not be nested as deeply as scopes are. */
    record Row(
            long id,
            int depth,
            String name,
            String state,
            String startedBy,
            @Nullable String owner,
            List<TaskRow> tasks) {}

    /** The open scopes of one name. */
    record Open(String name, int count, long oldestAt, String place) {}

    record Rows(int total, List<Row> scopes, List<Open> byName) {}

    /** How a scope was watched. */
    private record Opening(String name, long id, long at, String place) {
        Open countedAs(int count) {
            return new Open(name, count, at, place);
        }
    }

    record Summary(int count) {}

    private final Map<String, Opening> openings = new ConcurrentHashMap<>(); // by the names in `scopes`
    private final Watched<ThreadScope> scopes = new Watched<>(scope -> false);

    /** Adds a scope, which is forgotten when it has closed and all its tasks have ended. */
    Console.Watch add(String name, ThreadScope scope) {
        String id = name + "#" + scope.id();
        String place = StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> !frame.getClassName().startsWith("dev.raddle.console.Console")
                                && !frame.getClassName().equals(Scopes.class.getName()))
                        .findFirst()
                        .map(frame -> Stack.textOf(frame.toStackTraceElement()))
                        .orElse("an unknown place"));
        openings.put(id, new Opening(name, scope.id(), System.currentTimeMillis(), place));
        Console.Watch watched = scopes.add(id, scope);
        Console.Watch watch = () -> {
            openings.remove(id);
            watched.close();
        };
        scope.defer(watch::close);
        return watch;
    }

    /** Returns the open scopes by name, the oldest first. */
    List<Open> byName() {
        openings.keySet().retainAll(scopes.all().keySet()); // those of unreachable scopes go
        Map<String, List<Opening>> all = openings.values().stream()
                .sorted(Comparator.comparingLong(Opening::at))
                .collect(Collectors.groupingBy(Opening::name));
        return all.values().stream()
                .map(same -> same.getFirst().countedAs(same.size()))
                .sorted(Comparator.comparingLong(Open::oldestAt).thenComparing(Open::name))
                .toList();
    }

    @Override
    public Summary summary(long now) {
        return new Summary(watched());
    }

    @Override
    public int watched() {
        return scopes.all().size();
    }

    /** Adds names of which many scopes are open, the oldest for long. */
    @Override
    public void findWrong(long now, Findings found) {
        Link link = Link.to("scopes");
        for (Open open : byName()) {
            if (open.count >= MANY && now - open.oldestAt >= OLD) {
                Draft draft = new Draft("scopes", Level.note, open.name, open.oldestAt, link);
                draft.say("{} named {} are open", counted(open.count, "scope"), name(open.name, link));
                draft.say(", the oldest for {}, opened in {}.", since(open.oldestAt), open.place);
                found.add(draft.done());
            }
        }
    }

    Rows rows(long now) {
        List<Row> rows = new ArrayList<>();
        Set<Long> shown = new HashSet<>(); // roots: two scopes of one tree have the same
        List<ThreadScope> oldestFirst = new ArrayList<>(scopes.all().values());
        oldestFirst.sort(Comparator.comparingLong(ThreadScope::id));
        for (ThreadScope scope : oldestFirst) {
            if (shown.size() < MOST_ROOTS) {
                ScopeTree tree = ScopeTree.around(scope);
                if (shown.add(tree.id())) {
                    addTree(tree, 0, rows, now);
                }
            }
        }
        return new Rows(oldestFirst.size(), rows, byName());
    }

    /** Adds a tree, in which a scope comes after its parent. */
    private static void addTree(ScopeTree scope, int depth, List<Row> rows, long now) {
        rows.add(new Row(
                scope.id(),
                depth,
                scope.name(),
                scope.isOpen() ? "OPEN" : "SHUTDOWN",
                "scheduler: " + scope.scheduler(),
                scope.owner().getName(),
                scope.tasks().stream().map(task -> row(task, now)).toList()));
        scope.inside().forEach(inner -> addTree(inner, depth + 1, rows, now));
    }

    private static TaskRow row(ScopeTree.TaskEntry task, long now) {
        Thread thread = task.thread();
        return new TaskRow(
                task.name(),
                thread == null ? "WAITING" : "RUNNING",
                toTenths(now - task.ageMillis()),
                thread == null ? null : thread.getName(),
                thread == null ? null : Stack.of(thread).text());
    }

    /** Returns a moment to a tenth of a second, so that it is mostly the same in each sample. */
    private static long toTenths(long at) {
        return (at + 50) / 100 * 100;
    }
}
