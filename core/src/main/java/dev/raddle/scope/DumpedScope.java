package dev.raddle.scope;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A scope of either kind as a dump shows it, with the scopes inside it.
 *
 * @param container the name
 * @param parent the name of the enclosing scope
 * @param owner the owner
 * @param isOpen false after a shutdown or a cancel
 * @param startedBy the container of the threads, or the scheduler
 * @param tasks the tasks that have not ended
 * @param inside the open scopes inside it
 */
record DumpedScope(
        String container,
        String parent,
        Thread owner,
        boolean isOpen,
        Object startedBy,
        List<DumpedTask> tasks,
        List<DumpedScope> inside) {

    /** A task: its thread is null until a scheduler runs it, and may not have begun. */
    record DumpedTask(String name, @Nullable Thread thread, boolean hasBegun, long ageMillis) {}

    private static final String ROOT = "<root>";

    /** Returns the outermost scope around a scope. */
    static DumpedScope outermost(SubtaskScope scope) {
        SubtaskScope outermost = scope;
        while (outermost.parent != null) {
            outermost = outermost.parent;
        }
        return of(outermost);
    }

    /** Returns the outermost scope around a scope. */
    static DumpedScope outermost(ScopeNode scope) {
        ScopeNode outermost = scope;
        while (outermost.parent != null) {
            outermost = outermost.parent;
        }
        return of(outermost);
    }

    private static DumpedScope of(SubtaskScope scope) {
        return new DumpedScope(
                container(scope.name, scope),
                scope.parent == null ? ROOT : container(scope.parent.name, scope.parent),
                scope.owner.thread,
                scope.state == SubtaskScope.OPEN,
                scope.container,
                scope.pending.unfinished().reversed().stream()
                        .map(each -> new DumpedTask(each.name(), each.thread, !each.isWaiting(), scope.ageMillis(each)))
                        .toList(),
                scope.children().stream().map(DumpedScope::of).toList());
    }

    private static DumpedScope of(ScopeNode scope) {
        return new DumpedScope(
                container(scope),
                scope.parent == null ? ROOT : container(scope.parent),
                scope.owner,
                !scope.tasks.gate.closed,
                "scheduler: " + scope.tasks.options.all.scheduler,
                scope.tasks.pending().stream().map(DumpedScope::task).toList(),
                scope.children().stream().map(DumpedScope::of).toList());
    }

    private static DumpedTask task(ScopeRun<?> run) {
        Thread runner = run.lastRunner();
        long age = run.scope.time.nanoTime() - run.begunNanos();
        return new DumpedTask(run.name(), runner, runner != null, Math.max(0, age) / 1_000_000);
    }

    private static String container(ScopeNode scope) {
        return container(scope.tasks.name, scope.scope);
    }

    /** Returns the name of a container as in the JDK: with the identity, unless that is the name. */
    private static String container(String name, Object scope) {
        return name.indexOf('@') >= 0 ? name : name + "/" + Objects.toIdentityString(scope);
    }
}
