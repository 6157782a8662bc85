package dev.raddle.bench;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * How long does the first task of a JVM take, from the creation of its executor to its result, beside the JDK's
 * counterpart, and how long with an AOT cache of the program (JEP 514)? Each number is of a JVM of its own: {@code
 * ./dev bench first}.
 */
public final class FirstTask {

    private static final int JVMS = 21;

    /** The APIs and their counterparts. That of the scopes is in preview, and is not among them. */
    private static final Map<String, Callable<Object>> CALLS = new LinkedHashMap<>();

    static {
        CALLS.put("GroupExecutor", FirstTask::group);
        CALLS.put("newVirtualThreadPerTaskExecutor", () -> executor(Executors.newVirtualThreadPerTaskExecutor()));
        CALLS.put("ThreadScope", FirstTask::scope);
        CALLS.put("StructuredTaskScope", FirstTask::structured);
        CALLS.put("FlowPlan", FirstTask::flow);
        CALLS.put(
                "CompletableFuture",
                () -> CompletableFuture.supplyAsync(() -> 1).get());
        CALLS.put("ThreadPool", FirstTask::pool);
        CALLS.put(
                "ThreadPoolExecutor",
                () -> executor(new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>())));
    }

    private FirstTask() {}

    private static Object group() throws Exception {
        try (GroupExecutor groups =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            return groups.submit("group", "task", () -> 1).join();
        }
    }

    private static Object scope() throws Exception {
        try (ThreadScope scope = ThreadScope.open("scope")) {
            return scope.submit("task", () -> 1).await();
        }
    }

    private static Object structured() throws Exception {
        try (StructuredTaskScope<Integer> scope = new StructuredTaskScope<>()) {
            StructuredTaskScope.Subtask<Integer> subtask = scope.fork(() -> 1);
            scope.join();
            return subtask.get();
        }
    }

    private static Object flow() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("flow");
        return f.returning(f.node("node", () -> 1)).run(null).value();
    }

    private static Object pool() throws Exception {
        try (ThreadPool pool = ThreadPool.builder("pool").threads(1).build()) {
            return pool.submit(() -> 1).get();
        }
    }

    private static Object executor(ExecutorService executor) throws Exception {
        try (executor) {
            return executor.submit(() -> 1).get();
        }
    }

    /**
     * Measures all APIs, or in a process of its own one of them.
     *
     * @param arguments the name of an API, or nothing
     * @throws Exception if a task or a process fails
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            Callable<Object> call = CALLS.get(arguments[0]);
            long begun = System.nanoTime();
            call.call();
            System.out.println(System.nanoTime() - begun);
            return;
        }
        System.out.println("| first task of a JVM, median of " + JVMS + " | range | with an AOT cache | range |");
        System.out.println("|---|---|---|---|---|");
        Path cache = Files.createTempFile("first-task", ".aot");
        try {
            for (String name : CALLS.keySet()) {
                String plain = measured(name, "-XX:AOTMode=off");
                outputOf(name, "-XX:AOTCacheOutput=" + cache);
                System.out.println(
                        "| `" + name + "` | " + plain + " | " + measured(name, "-XX:AOTCache=" + cache) + " |");
            }
        } finally {
            Files.delete(cache);
        }
    }

    private static String measured(String name, String option) throws IOException {
        double[] millis = new double[JVMS];
        for (int each = 0; each < JVMS; each++) {
            millis[each] = Long.parseLong(outputOf(name, option)) / 1e6;
        }
        Arrays.sort(millis);
        return String.format(Locale.ROOT, "%.1f ms | %.1f to %.1f", millis[JVMS / 2], millis[0], millis[JVMS - 1]);
    }

    private static String outputOf(String name, String option) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        option,
                        "-Xlog:disable", // what the JVM says of the cache
                        "-cp",
                        jars(),
                        FirstTask.class.getName(),
                        name)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    /** Returns the class path with jars only, because an AOT cache does not have classes of directories. */
    private static String jars() throws IOException {
        StringJoiner jars = new StringJoiner(File.pathSeparator);
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            jars.add(Files.isDirectory(path) ? jarBeside(path).toString() : entry);
        }
        return jars.toString();
    }

    private static Path jarBeside(Path classes) throws IOException {
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(classes.resolveSibling(""), "raddle-*.jar")) {
            return jars.iterator().next();
        }
    }
}
