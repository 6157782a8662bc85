package dev.raddle.scope;

import dev.raddle.time.UserCode;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ThreadScope} at one moment, with the scopes inside it. Taking it stops no thread: a task that begins or ends
 * meanwhile may be missing.
 *
 * {@snippet :
 * ScopeTree.around(scope).tasks().forEach(task -> System.out.println(task.name() + " " + task.thread()));
 * }
 *
 * @param name the name
 * @param id the number of the scope, unique in this JVM
 * @param owner the owner
 * @param isOpen false when the scope was cancelled or closed
 * @param scheduler the description of the scheduler
 * @param tasks the tasks that have not ended, including cancelled ones that still run; those with a thread are first
 * @param inside the open scopes that were opened inside it, by the same thread or in its tasks
 */
public record ScopeTree(
        String name,
        long id,
        Thread owner,
        boolean isOpen,
        String scheduler,
        List<TaskEntry> tasks,
        List<ScopeTree> inside) {

    /**
     * A task that has not ended.
     *
     * @param name the name
     * @param thread the thread that runs it, or null if it waits
     * @param ageMillis the time since its start, or since its submission if it has not begun, in milliseconds
     */
    public record TaskEntry(String name, @Nullable Thread thread, long ageMillis) {}

    /**
     * Returns the tree that contains a scope, starting at the outermost enclosing scope.
     *
     * @param scope any scope, open or not
     * @return the outermost scope
     */
    public static ScopeTree around(ThreadScope scope) {
        ScopeNode outermost = scope.node;
        while (outermost.parent != null) {
            outermost = outermost.parent;
        }
        return of(outermost);
    }

    private static ScopeTree of(ScopeNode scope) {
        return new ScopeTree(
                scope.tasks.name,
                scope.scope.id(),
                scope.owner,
                !scope.tasks.pending.isClosed(),
                UserCode.textOf(scope.tasks.options.scheduler),
                scope.tasks.unfinished().stream()
                        .map(ScopeTree::task)
                        .sorted(Comparator.comparing(task -> task.thread() == null))
                        .toList(),
                scope.children().stream().map(ScopeTree::of).toList());
    }

    private static TaskEntry task(ScopeRun<?> run) {
        long age = run.scope.time.nanoTime() - run.startNanos();
        return new TaskEntry(run.name(), run.lastRunner(), Math.max(0, age) / 1_000_000);
    }
}
