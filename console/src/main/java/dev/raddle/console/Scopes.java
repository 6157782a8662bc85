package dev.raddle.console;

import dev.raddle.scope.ScopeTree;
import dev.raddle.scope.ThreadScope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The trees of the watched scopes. */
final class Scopes {

    private static final int MOST_ROOTS = 50;

    record TaskRow(
            String name,
            String state,
            @Nullable Long sinceAt,
            @Nullable String thread,
            @Nullable String stack) {}

    /** A scope, inside the last one before it whose depth is less: JSON must not be nested as deeply as scopes are. */
    record Row(
            int depth,
            String name,
            String state,
            String startedBy,
            @Nullable String owner,
            List<TaskRow> tasks) {}

    record Rows(List<Row> scopes) {}

    record Summary(int count) {}

    private final Watched<ThreadScope> scopes = new Watched<>(scope -> false);

    /** Adds a scope, which is forgotten when it has closed and all its tasks have ended. */
    Console.Watch add(String name, ThreadScope scope) {
        Console.Watch watch = scopes.add(name + "#" + scope.id(), scope);
        scope.defer(watch::close);
        return watch;
    }

    Summary summary() {
        return new Summary(scopes.all().size());
    }

    Rows rows(long now) {
        List<Row> rows = new ArrayList<>();
        Set<Long> shown = new HashSet<>(); // roots: two scopes of one tree have the same
        for (ThreadScope scope : scopes.all().values()) {
            if (shown.size() < MOST_ROOTS) {
                ScopeTree tree = ScopeTree.around(scope);
                if (shown.add(tree.id())) {
                    addTree(tree, 0, rows, now);
                }
            }
        }
        return new Rows(rows);
    }

    /** Adds a tree, in which a scope comes after its parent. */
    private static void addTree(ScopeTree scope, int depth, List<Row> rows, long now) {
        rows.add(new Row(
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
                thread == null ? null : stackOf(thread));
    }

    private static String stackOf(Thread thread) {
        StringBuilder stack = new StringBuilder();
        for (StackTraceElement frame : thread.getStackTrace()) {
            stack.append("    at ").append(frame).append('\n');
        }
        return stack.toString();
    }

    /** Returns a moment to a tenth of a second, so that it is mostly the same in each sample. */
    private static long toTenths(long at) {
        return (at + 50) / 100 * 100;
    }
}
