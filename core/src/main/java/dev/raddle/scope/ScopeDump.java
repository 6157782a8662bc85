package dev.raddle.scope;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Shows a tree of scopes and their threads, from code and whatever starts the threads.
 *
 * {@snippet :
 * Files.writeString(Path.of("scopes.json"), ScopeDump.json(scope));
 * }
 *
 * <p>The schema is that of {@code jcmd <pid> Thread.dump_to_file -format=json}, so that its readers read this, too. Added are,
 * for each thread of a scope, an object {@code subtask} with {@code name}, {@code state} ({@code RUNNING}, or
 * {@code WAITING} if its thread has not begun) and {@code ageMillis}; for each scope, {@code state}, what its threads are
 * started by, and an array {@code waiting} of the subtasks that have no thread yet.
 *
 * <p>A {@link ThreadScope} is shown in the same schema. {@code jcmd} knows no container for it, but shows each virtual thread
 * that runs a task of it under the name {@code SCOPE/TASK}; the thread ids are the same in both dumps.
 *
 * <p>A dump is taken while everything goes on: a subtask that ends or begins meanwhile may be missing.
 */
public final class ScopeDump {

    private final Json json = new Json();

    private ScopeDump() {}

    /**
     * Returns the tree that a scope is in, from the outermost scope around it on.
     *
     * @param scope any scope; open or not
     * @return JSON
     */
    public static String json(StructuredTaskScope<?> scope) {
        return new ScopeDump().tree(outermost(Objects.requireNonNull(scope, "scope")));
    }

    /**
     * Returns the tree that a scope is in, from the outermost scope around it on.
     *
     * @param scope any scope; open or not
     * @return JSON
     */
    public static String json(JoinedScope<?, ?> scope) {
        return json(scope.engine());
    }

    /**
     * Returns the tree that a scope is in, from the outermost {@code ThreadScope} around it on: scopes that were opened inside
     * another in the same thread, or in its tasks. Threads are those that run tasks, also cancelled ones that go on.
     *
     * @param scope any scope; open or not
     * @return JSON
     */
    public static String json(ThreadScope scope) {
        ThreadScope outermost = Objects.requireNonNull(scope, "scope");
        for (ThreadScope each = scope; each != null; each = each.parent()) {
            outermost = each;
        }
        return new ScopeDump().tree(outermost);
    }

    /**
     * Returns what starts a scope's threads: {@code JDK scope}, {@code fallback} with the reason, or {@code scheduler} and which.
     *
     * @param scope any scope
     * @return for people and for checks that nothing has degraded
     */
    public static String container(StructuredTaskScope<?> scope) {
        return scope.container().toString();
    }

    /**
     * Returns what starts a scope's threads: {@code JDK scope}, {@code fallback} with the reason, or {@code scheduler} and which.
     *
     * @param scope any scope
     * @return for people and for checks that nothing has degraded
     */
    public static String container(JoinedScope<?, ?> scope) {
        return container(scope.engine());
    }

    private static StructuredTaskScope<?> outermost(StructuredTaskScope<?> scope) {
        StructuredTaskScope<?> outermost = scope;
        for (StructuredTaskScope<?> each = scope; each != null; each = each.parent()) {
            outermost = each;
        }
        return outermost;
    }

    private String tree(StructuredTaskScope<?> top) {
        return tree(top.owner().thread(), () -> scope(top));
    }

    private String tree(ThreadScope top) {
        return tree(top.owner(), () -> scope(top));
    }

    private String tree(Thread owner, Runnable scopes) {
        json.open(null, '{');
        json.open("threadDump", '{');
        json.property("processId", ProcessHandle.current().pid());
        json.property("time", Instant.now());
        json.property("runtimeVersion", Runtime.version());
        json.open("threadContainers", '[');
        root(owner);
        scopes.run();
        json.close(']');
        json.close('}');
        json.close('}');
        return json.toString();
    }

    private void root(Thread owner) {
        json.open(null, '{');
        json.property("container", "<root>");
        json.property("parent", null);
        json.property("owner", null);
        json.open("threads", '[');
        thread(owner, () -> {});
        json.close(']');
        json.property("threadCount", 1L);
        json.close('}');
    }

    private void scope(StructuredTaskScope<?> scope) {
        List<ForkedSubtask<?>> subtasks = new ArrayList<>();
        scope.unfinished().forEach(subtasks::add);
        json.open(null, '{');
        json.property("container", identity(scope));
        StructuredTaskScope<?> parent = scope.parent();
        json.property("parent", parent == null ? "<root>" : identity(parent));
        json.property("owner", scope.owner().thread().threadId());
        json.property("state", scope.isShutdown() ? "SHUTDOWN" : "OPEN");
        json.property("startedBy", scope.container());
        json.open("threads", '[');
        List<ForkedSubtask<?>> waiting = new ArrayList<>();
        long threads = 0;
        for (ForkedSubtask<?> subtask : subtasks.reversed()) {
            Thread thread = subtask.thread;
            if (thread == null) {
                waiting.add(subtask);
            } else {
                thread(thread, () -> subtask("subtask", scope, subtask));
                threads++;
            }
        }
        json.close(']');
        json.open("waiting", '[');
        for (ForkedSubtask<?> subtask : waiting) {
            subtask(null, scope, subtask);
        }
        json.close(']');
        json.property("threadCount", threads);
        json.close('}');
        for (StructuredTaskScope<?> child : scope.children()) {
            scope(child);
        }
    }

    private void scope(ThreadScope scope) {
        List<ScopeRun<?>> waiting = new ArrayList<>();
        json.open(null, '{');
        json.property("container", identity(scope));
        ThreadScope parent = scope.parent();
        json.property("parent", parent == null ? "<root>" : identity(parent));
        json.property("owner", scope.owner().threadId());
        json.property("state", scope.token().isCancelled() ? "SHUTDOWN" : "OPEN");
        json.property("startedBy", "scheduler: " + scope.scheduler());
        json.open("threads", '[');
        long threads = 0;
        for (ScopeRun<?> run : scope.unended()) {
            Thread runner = run.lastRunner();
            if (runner == null) {
                waiting.add(run);
            } else {
                thread(runner, () -> task("subtask", scope, run, "RUNNING"));
                threads++;
            }
        }
        json.close(']');
        json.open("waiting", '[');
        waiting.forEach(run -> task(null, scope, run, "WAITING"));
        json.close(']');
        json.property("threadCount", threads);
        json.close('}');
        scope.inners().forEach(this::scope);
    }

    private void task(@Nullable String property, ThreadScope scope, ScopeRun<?> run, String state) {
        json.open(property, '{');
        json.property("name", run.name());
        json.property("state", state);
        json.property("ageMillis", Math.max(0, scope.now() - run.begunNanos()) / 1_000_000);
        json.close('}');
    }

    private void thread(Thread thread, Runnable subtask) {
        json.open(null, '{');
        json.property("tid", thread.threadId());
        json.property("time", Instant.now());
        if (thread.isVirtual()) {
            json.property("virtual", true);
        }
        json.property("name", thread.getName());
        json.property("state", thread.getState());
        subtask.run();
        json.open("stack", '[');
        for (StackTraceElement frame : thread.getStackTrace()) {
            json.property(null, frame);
        }
        json.close(']');
        json.close('}');
    }

    private void subtask(@Nullable String property, StructuredTaskScope<?> scope, ForkedSubtask<?> subtask) {
        json.open(property, '{');
        json.property("name", subtask.name());
        json.property("state", subtask.isWaiting() ? "WAITING" : "RUNNING");
        json.property("ageMillis", scope.ageMillis(subtask));
        json.close('}');
    }

    /** The JDK's name for a container: with its identity, if that is not its name. */
    private static String identity(StructuredTaskScope<?> scope) {
        return identity(scope.name(), scope);
    }

    private static String identity(ThreadScope scope) {
        return identity(scope.name(), scope);
    }

    private static String identity(String name, Object scope) {
        return name.indexOf('@') >= 0 ? name : name + "/" + Objects.toIdentityString(scope);
    }

    /** Writes JSON in the JDK's layout: numbers of type long in quotes, as it does. */
    private static final class Json {

        private final StringBuilder text = new StringBuilder();
        private int depth;
        private boolean first = true;

        void open(@Nullable String name, char bracket) {
            begin(name);
            text.append(bracket);
            depth++;
            first = true;
        }

        void close(char bracket) {
            depth--;
            if (!first) {
                newLine();
            }
            text.append(bracket);
            first = false;
        }

        void property(@Nullable String name, @Nullable Object value) {
            begin(name);
            switch (value) {
                case null -> text.append("null");
                case Boolean truth -> text.append(truth);
                default -> quote(value.toString());
            }
        }

        private void begin(@Nullable String name) {
            if (!first) {
                text.append(',');
            }
            first = false;
            if (depth > 0) {
                newLine();
            }
            if (name != null) {
                quote(name);
                text.append(": ");
            }
        }

        private void newLine() {
            text.append('\n').append("  ".repeat(depth));
        }

        private void quote(String value) {
            text.append('"');
            for (int i = 0; i < value.length(); i++) {
                char c = value.charAt(i);
                if (c == '"' || c == '\\') {
                    text.append('\\').append(c);
                } else if (c < ' ') {
                    text.append(String.format("\\u%04x", (int) c));
                } else {
                    text.append(c);
                }
            }
            text.append('"');
        }

        @Override
        public String toString() {
            return text.append('\n').toString();
        }
    }
}
