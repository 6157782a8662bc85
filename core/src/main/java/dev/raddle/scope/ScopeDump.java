package dev.raddle.scope;

import dev.raddle.scope.DumpedScope.DumpedTask;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Dumps of a tree of scopes and their threads as JSON, whatever the container of the threads.
 *
 * {@snippet :
 * Files.writeString(Path.of("scopes.json"), ScopeDump.json(scope));
 * }
 *
 * <p>The schema is that of {@code jcmd <pid> Thread.dump_to_file -format=json}, so that tools for that format can read
 * it. Each thread of a scope has an additional object {@code subtask} with {@code name}, {@code state}
 * ({@code RUNNING}, or {@code WAITING} if its thread has not begun) and {@code ageMillis}. Each scope has the
 * additional properties {@code state} and {@code startedBy}, and an array {@code waiting} of the subtasks that have no
 * thread yet.
 *
 * <p>A {@link ThreadScope} has the same schema. {@code jcmd} shows no container for it, but each virtual thread that
 * runs one of its tasks has the name {@code SCOPE/TASK}; the thread ids are the same in both dumps.
 *
 * <p>A dump does not stop the threads. A subtask that begins or ends meanwhile may be missing.
 */
public final class ScopeDump {

    private final Json json = new Json();

    private ScopeDump() {}

    /**
     * Returns the tree of scopes that contains the given scope, starting at the outermost enclosing scope.
     *
     * @param scope any scope, open or not
     * @return the tree as JSON
     */
    public static String json(StructuredTaskScope<?> scope) {
        return new ScopeDump().tree(DumpedScope.outermost(scope));
    }

    /**
     * Returns the tree of scopes that contains the given scope, starting at the outermost enclosing
     * {@code ThreadScope}. The children of a scope are the scopes that were opened inside it, by the same thread or in
     * its tasks. The threads are those that run tasks, including cancelled tasks that still run.
     *
     * @param scope any scope, open or not
     * @return the tree as JSON
     */
    public static String json(ThreadScope scope) {
        return new ScopeDump().tree(DumpedScope.outermost(scope.node));
    }

    /**
     * Returns the kind of a scope's thread container: {@code JDK scope}, {@code fallback} with the reason, or
     * {@code scheduler} with its description. Suitable for checks that a scope does not use the fallback.
     *
     * @param scope any scope
     * @return a description of the container
     */
    public static String container(StructuredTaskScope<?> scope) {
        return scope.container.toString();
    }

    private String tree(DumpedScope outermost) {
        json.open(null, '{');
        json.open("threadDump", '{');
        json.property("processId", ProcessHandle.current().pid());
        json.property("time", Instant.now());
        json.property("runtimeVersion", Runtime.version());
        json.open("threadContainers", '[');
        root(outermost.owner());
        scope(outermost);
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
        thread(owner, null);
        json.close(']');
        json.property("threadCount", 1L);
        json.close('}');
    }

    private void scope(DumpedScope scope) {
        List<DumpedTask> waiting = new ArrayList<>();
        json.open(null, '{');
        json.property("container", scope.container());
        json.property("parent", scope.parent());
        json.property("owner", scope.owner().threadId());
        json.property("state", scope.isOpen() ? "OPEN" : "SHUTDOWN");
        json.property("startedBy", scope.startedBy());
        json.open("threads", '[');
        long threads = 0;
        for (DumpedTask task : scope.tasks()) {
            if (task.thread() == null) {
                waiting.add(task);
            } else {
                thread(task.thread(), task);
                threads++;
            }
        }
        json.close(']');
        json.open("waiting", '[');
        waiting.forEach(task -> task(null, task));
        json.close(']');
        json.property("threadCount", threads);
        json.close('}');
        scope.inside().forEach(this::scope);
    }

    private void thread(Thread thread, @Nullable DumpedTask task) {
        json.open(null, '{');
        json.property("tid", thread.threadId());
        json.property("time", Instant.now());
        if (thread.isVirtual()) {
            json.property("virtual", true);
        }
        json.property("name", thread.getName());
        json.property("state", thread.getState());
        if (task != null) {
            task("subtask", task);
        }
        json.open("stack", '[');
        for (StackTraceElement frame : thread.getStackTrace()) {
            json.property(null, frame);
        }
        json.close(']');
        json.close('}');
    }

    private void task(@Nullable String property, DumpedTask task) {
        json.open(property, '{');
        json.property("name", task.name());
        json.property("state", task.hasBegun() ? "RUNNING" : "WAITING");
        json.property("ageMillis", task.ageMillis());
        json.close('}');
    }

    /** Writes JSON in the JDK's layout, with numbers of type long in quotes. */
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
