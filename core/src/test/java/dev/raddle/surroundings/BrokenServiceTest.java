package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.Scheduler;
import dev.raddle.task.SchedulerProvider;
import dev.raddle.testing.Jvm;
import dev.raddle.testing.WrittenLog;
import dev.raddle.time.UserCode;
import java.io.File;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Providers of services are loaded each by itself: a jar with a broken one takes nothing from an application but that
 * provider.
 */
class BrokenServiceTest {

    /** Uses everything that may need a service, in a class loader of its own. */
    public static final class Application implements Callable<List<String>> {

        private final List<String> results = new ArrayList<>();

        private void expect(String way, Callable<?> action) {
            Object result;
            try {
                result = action.call();
            } catch (Throwable failure) {
                result = failure;
            }
            results.add(way + " " + result);
        }

        @Override
        public List<String> call() {
            for (int round = 0; round < 2; round++) {
                expect("scope", () -> {
                    try (ThreadScope scope = ThreadScope.open("scope")) {
                        return scope.submit(Working::seen).await();
                    }
                });
                expect("structured scope", () -> {
                    try (var scope = new StructuredTaskScope.ShutdownOnFailure()) {
                        var subtask = scope.fork(Working::seen);
                        scope.join();
                        return subtask.get();
                    }
                });
                expect("flow", () -> {
                    var flow = FlowPlan.define("flow");
                    return flow.returning(flow.node("node", Working::seen))
                            .run(null)
                            .value();
                });
                expect("fixed", () -> onScheduler(Scheduler.fixed(1)));
                expect("priority", () -> onScheduler(Scheduler.priority(1)));
                expect("common pool", () -> onScheduler(Scheduler.commonPool()));
                expect("group", () -> {
                    try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                            GroupPolicy.builder().build())) {
                        return executor.submit("a", () -> "done").await().value();
                    }
                });
                expect("pool", () -> {
                    try (ThreadPool pool = ThreadPool.builder("pool").threads(1).build()) {
                        return pool.submit(() -> "done").get();
                    }
                });
            }
            return results;
        }

        private static String onScheduler(Scheduler scheduler) throws Exception {
            try (ThreadScope scope = ThreadScope.open("scope").withScheduler(scheduler)) {
                return scope.submit(Working::seen).await();
            }
        }
    }

    /** Propagates a number that increases with each capture. */
    public static final class Working implements ContextPropagator {
        private static final ThreadLocal<Boolean> SEEN = new ThreadLocal<>();

        /** Called by the service loader. Uses Raddle, as an agent's propagator may. */
        public Working() throws Exception {
            try (ThreadScope scope = ThreadScope.open("while it is loaded")) {
                scope.submit(() -> "value").await();
            }
        }

        static String seen() {
            return SEEN.get() == null ? "without context" : "with context";
        }

        @Override
        public Captured capture() {
            return () -> {
                SEEN.set(true);
                return SEEN::remove;
            };
        }
    }

    /** Cannot be created. */
    public static final class Throwing implements ContextPropagator {
        /** Called by the service loader. */
        public Throwing() {
            throw new IllegalStateException("not configured");
        }

        @Override
        public Captured capture() {
            throw new AssertionError();
        }
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /** Returns the folder or jar that has a resource. */
    private static URL rootOf(String resource) throws Exception {
        String text = ThreadPool.class.getClassLoader().getResource(resource).toString();
        String root = text.substring(0, text.length() - resource.length());
        return URI.create(root.startsWith("jar:") ? root.substring("jar:".length(), root.lastIndexOf("!/")) : root)
                .toURL();
    }

    private static void write(Path jar, Class<?> service, String... lines) throws Exception {
        Path file = jar.resolve("META-INF/services").resolve(service.getName());
        Files.createDirectories(file.getParent());
        Files.write(file, List.of(lines));
    }

    /** Runs the application with jars before it on the class path. */
    private static List<?> run(Path... jars) throws Exception {
        List<URL> path = new ArrayList<>();
        for (Path jar : jars) {
            path.add(jar.toUri().toURL());
        }
        path.add(location(ThreadPool.class));
        path.add(rootOf("META-INF/services/" + SchedulerProvider.class.getName()));
        path.add(Jvm.testClasses().toUri().toURL());
        for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (each.contains("jspecify")) {
                path.add(Path.of(each).toUri().toURL());
            }
        }
        // Without a parent: the loader of the platform knows the module under test.
        try (URLClassLoader loader = new URLClassLoader(path.toArray(URL[]::new), null)) {
            Class<?> application = loader.loadClass(Application.class.getName());
            return (List<?>) ((Callable<?>) application.getConstructor().newInstance()).call();
        }
    }

    private static List<String> expected(String context) {
        List<String> once = List.of(
                "scope " + context,
                "structured scope " + context,
                "flow " + context,
                "fixed " + context,
                "priority " + context,
                "common pool " + context,
                "group done",
                "pool done");
        List<String> twice = new ArrayList<>(once);
        twice.addAll(once);
        return twice;
    }

    @Test
    void a_provider_that_cannot_be_loaded_or_created_is_left_out_and_named_once_and_all_others_work(
            @TempDir Path broken, @TempDir Path malformed) throws Exception {
        byte[] withoutSuperclass = ClassFile.of()
                .build(
                        ClassDesc.of("broken.WithoutSuperclass"),
                        type -> type.withSuperclass(ClassDesc.of("broken.Absent")));
        Files.createDirectories(broken.resolve("broken"));
        Files.write(broken.resolve("broken/WithoutSuperclass.class"), withoutSuperclass);
        write(
                broken,
                ContextPropagator.class,
                "broken.Missing",
                "broken.WithoutSuperclass",
                Application.class.getName(),
                Throwing.class.getName(),
                "broken.AlsoMissing");
        write(malformed, ContextPropagator.class, "not a name", "broken.NeverRead");
        Path works = Files.createDirectory(malformed.resolve("works"));
        write(works, ContextPropagator.class, Working.class.getName());

        List<String> log = new ArrayList<>();
        List<?> results;
        try (WrittenLog written = new WrittenLog()) {
            results = run(broken, malformed, works);
            written.lines().forEach(line -> log.add(line.message() + ": " + line.thrown()));
        }

        assertThat(results).isEqualTo(expected("with context"));
        assertThat(log).hasSize(6);
        assertThat(log).anyMatch(line -> line.contains("broken.Missing"));
        assertThat(log).anyMatch(line -> line.contains("broken/Absent"));
        assertThat(log).anyMatch(line -> line.contains(Application.class.getName()));
        assertThat(log).anyMatch(line -> line.contains(Throwing.class.getName()));
        assertThat(log).anyMatch(line -> line.contains("broken.AlsoMissing"));
        assertThat(log).anyMatch(line -> line.contains("META-INF/services/dev.raddle.task.ContextPropagator:1"));
    }

    @Test
    void a_broken_provider_of_schedulers_is_left_out_and_that_of_the_pools_is_used(@TempDir Path broken)
            throws Exception {
        write(broken, SchedulerProvider.class, "broken.Missing", Application.class.getName());

        List<String> log = new ArrayList<>();
        try (WrittenLog written = new WrittenLog()) {
            assertThat(run(broken)).isEqualTo(expected("without context"));
            written.lines().forEach(line -> log.add(line.message() + ": " + line.thrown()));
        }
        assertThat(log).hasSize(2);
    }

    @Test
    void the_search_ends_if_each_look_up_throws() {
        List<Throwable> failures = List.of(
                new IllegalStateException("zip file closed"), new NoClassDefFoundError("org/server/ClosedLoader"));
        for (Throwable failure : failures) {
            ClassLoader closed = new ClassLoader(null) {
                @Override
                public Enumeration<URL> getResources(String name) {
                    if (failure instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) failure;
                }
            };
            List<Throwable> reported = new ArrayList<>();

            List<ContextPropagator> found = UserCode.services(
                    ServiceLoader.load(ContextPropagator.class, closed), (what, thrown) -> reported.add(thrown));

            assertThat(found).isEmpty();
            assertThat(reported).containsExactly(failure);
        }
    }

    @Test
    void providers_that_work_are_all_used(@TempDir Path first) throws Exception {
        write(first, ContextPropagator.class, Working.class.getName());
        assertThat(run(first)).isEqualTo(expected("with context"));
    }
}
