package dev.raddle.examples;

import dev.raddle.console.Console;
import dev.raddle.group.GroupExecutor;
import dev.raddle.jdbc.FlowService;
import dev.raddle.micrometer.TaskMeters;
import dev.raddle.opentelemetry.TaskTracing;
import dev.raddle.redis.RedisFleet;
import dev.raddle.slf4j.LoggingSink;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The methods that sentences of the pages may call: those of the modules' public types, and of some of the JDK. */
final class Calls {

    private static final List<Class<?>> ONE_OF_EACH_MODULE = List.of(
            GroupExecutor.class,
            Console.class,
            FlowService.class,
            LoggingSink.class,
            RedisFleet.class,
            TaskMeters.class,
            TaskTracing.class);

    private static final List<Class<?>> OF_THE_JDK = List.of(
            BlockingQueue.class,
            CompletableFuture.class,
            ExecutorService.class,
            Executors.class,
            java.util.Optional.class,
            ScopedValue.class,
            Semaphore.class,
            Thread.class,
            java.sql.Connection.class,
            ThreadPoolExecutor.class);

    private static final List<String> OF_THE_JDKS_PREVIEW =
            List.of("java.util.concurrent.StructuredTaskScope", "java.util.concurrent.StructuredTaskScope$Joiner");

    /** Names of other libraries, where a page compares with them, and placeholders such as f and g. */
    private static final Set<String> FOREIGN = Set.of(
            "acquire",
            "any", // the words of the notation of flows
            "concurrent",
            "configure",
            "depend",
            "enable",
            "expand",
            "f",
            "g",
            "getResult",
            "getSubmittedCount",
            "getWorkResult",
            "ignoringRequestMatchers",
            "joiner",
            "load",
            "needCheckNextWrapperResult",
            "newHook",
            "setAwaitTerminationSeconds",
            "setWaitForTasksToCompleteOnShutdown",
            "tryConsume",
            "trySetPermits",
            "withOpenTelemetry",
            "workflowRetention");

    /** Calls of other libraries whose methods have the names of ours. */
    private static final Set<String> FOREIGN_CALLS =
            Set.of("defaultValue()", "execute(task, timeout, unit)", "submit(name, task, priority, retry, timeout)");

    private static final Pattern CODE = Pattern.compile("(?<!`)`([^`]+)`(?!`)");
    private static final Pattern CALL = Pattern.compile("(?:\\b([A-Z]\\w*)\\.)?\\b([a-z]\\w*)\\(");

    private final Map<String, List<Method>> byName = new HashMap<>();
    private final Set<String> types = new HashSet<>();

    private Calls() {}

    static Calls ofClassPath() throws Exception {
        Calls calls = new Calls();
        for (Class<?> type : ONE_OF_EACH_MODULE) {
            calls.addAll(Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI()));
        }
        OF_THE_JDK.forEach(calls::add);
        for (String name : OF_THE_JDKS_PREVIEW) {
            calls.add(Class.forName(name));
        }
        return calls;
    }

    private void addAll(Path classes) throws IOException, ClassNotFoundException {
        if (Files.isDirectory(classes)) {
            addBelow(classes);
            return;
        }
        try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + classes.toUri()), Map.of())) {
            addBelow(jar.getPath("/"));
        }
    }

    private void addBelow(Path root) throws IOException, ClassNotFoundException {
        List<String> names;
        try (Stream<Path> files = Files.walk(root)) {
            names = files.map(file -> root.relativize(file).toString())
                    .filter(file ->
                            file.startsWith("dev/raddle/") && file.endsWith(".class") && !file.contains("-info"))
                    .map(file ->
                            file.substring(0, file.length() - ".class".length()).replace('/', '.'))
                    .toList();
        }
        for (String name : names) {
            Class<?> type = Class.forName(name, false, Calls.class.getClassLoader());
            if (Modifier.isPublic(type.getModifiers()) && !name.startsWith("dev.raddle.kernel.")) {
                add(type);
            }
        }
    }

    private void add(Class<?> type) {
        types.add(type.getSimpleName());
        for (Method method : type.getMethods()) {
            byName.computeIfAbsent(method.getName(), absent -> new ArrayList<>())
                    .add(method);
        }
    }

    /** Returns the calls in the inline code of a page that no method has the name and the number of parameters for. */
    List<String> unknownIn(String page) {
        List<String> unknown = new ArrayList<>();
        Matcher codes = CODE.matcher(page);
        while (codes.find()) {
            Matcher calls = CALL.matcher(codes.group(1));
            while (calls.find()) {
                List<String> arguments = argumentsAt(codes.group(1), calls.end());
                if (arguments != null
                        && !FOREIGN_CALLS.contains(codes.group(1))
                        && !exists(calls.group(1), calls.group(2), arguments)) {
                    unknown.add(codes.group(1).replace('\n', ' '));
                }
            }
        }
        return unknown;
    }

    private boolean exists(String type, String name, List<String> arguments) {
        if (FOREIGN.contains(name) || (type != null && !types.contains(type))) {
            return true;
        }
        boolean isPart = arguments.stream().anyMatch(each -> each.contains("…") || each.equals("..."));
        return byName.getOrDefault(name, List.of()).stream()
                .filter(method -> type == null || isOf(method, type))
                .anyMatch(method -> isPart
                        || method.getParameterCount() == arguments.size()
                        || (method.isVarArgs() && method.getParameterCount() - 1 <= arguments.size()));
    }

    private static boolean isOf(Method method, String type) {
        for (Class<?> each = method.getDeclaringClass(); each != null; each = each.getSuperclass()) {
            if (each.getSimpleName().equals(type)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the arguments of a call that begin at a position, or null if it is not closed. */
    private static List<String> argumentsAt(String code, int begin) {
        List<String> arguments = new ArrayList<>();
        int depth = 0;
        int from = begin;
        boolean isQuoted = false;
        for (int i = begin; i < code.length(); i++) {
            char c = code.charAt(i);
            isQuoted ^= c == '"';
            if (isQuoted) {
                continue;
            }
            if (c == '(' || c == '[' || c == '{') {
                depth++;
            } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
                depth--;
            } else if (depth == 0 && (c == ',' || c == ')')) {
                arguments.add(code.substring(from, i).strip());
                from = i + 1;
                if (c == ')') {
                    return arguments.equals(List.of("")) ? List.of() : arguments;
                }
            }
        }
        return null;
    }
}
