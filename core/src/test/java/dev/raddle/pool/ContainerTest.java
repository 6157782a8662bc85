package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.time.TimeSource;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The threads that an application leaves in a JVM after a container has removed it. */
class ContainerTest {

    /**
     * A container: runs an application in a thread group with a class loader and a thread-local, then inspects the JVM.
     */
    static final class Program {

        private static final InheritableThreadLocal<String> LOCAL = new InheritableThreadLocal<>();

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            ThreadGroup group = new ThreadGroup("application");
            ClassLoader loader = new URLClassLoader(new URL[0]);
            Thread application = new Thread(group, () -> run(arguments[0]), "application");
            application.setContextClassLoader(loader);
            application.start();
            application.join();

            Thread[] threads = new Thread[1000];
            int count = root(group).enumerate(threads, true);
            for (Thread thread : Arrays.copyOf(threads, count)) {
                boolean isOther = thread.isAlive() && thread != Thread.currentThread();
                if (isOther && (thread.getThreadGroup() == group || thread.getContextClassLoader() == loader)) {
                    thread.join(); // waits for threads that are ending, or the test hangs
                }
            }
            CountDownLatch fired = new CountDownLatch(1);
            TimeSource.system().after(Duration.ZERO, () -> {
                System.out.println("alarms have " + LOCAL.get() + " and "
                        + (Thread.currentThread().getContextClassLoader() == loader ? "its loader" : "no loader"));
                fired.countDown();
            });
            fired.await();
            System.out.println("done");
            System.exit(0);
        }

        private static ThreadGroup root(ThreadGroup group) {
            return group.getParent() == null ? group : root(group.getParent());
        }

        private static void run(String what) {
            LOCAL.set("a thread-local");
            try {
                switch (what) {
                    case "alarm" -> alarm();
                    case "pool" -> pool();
                    case "group" -> group();
                    default -> scope();
                }
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        }

        private static void alarm() throws InterruptedException {
            CountDownLatch fired = new CountDownLatch(1);
            TimeSource.system().after(Duration.ofMillis(1), fired::countDown);
            fired.await();
        }

        private static void pool() throws Exception {
            ThreadPool pool = ThreadPool.builder("pool")
                    .coreThreads(0)
                    .maxThreads(2)
                    .keepAlive(Duration.ofMillis(1))
                    .stuckAfter(Duration.ofMillis(1))
                    .listener(new PoolListener() {})
                    .build();
            pool.submit(() -> {
                        CountDownLatch fired = new CountDownLatch(1);
                        TimeSource.system().after(Duration.ofMillis(5), fired::countDown);
                        fired.await();
                        return null;
                    })
                    .get();
            pool.close();
        }

        private static void group() throws Exception {
            GroupPolicy policy =
                    GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                CountDownLatch ran = new CountDownLatch(1);
                executor.scheduler("a").execute(ran::countDown);
                ran.await();
            }
        }

        private static void scope() throws Exception {
            try (ThreadScope scope = ThreadScope.open("scope").withDeadline(Duration.ofHours(1))) {
                scope.submit("task", () -> {
                    Thread.sleep(1); // this starts the thread that unparks virtual threads
                    return "value";
                });
            }
        }
    }

    private static String location(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    private static List<String> threadsLeftBy(String what) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        location(ThreadPool.class) + System.getProperty("path.separator") + location(Program.class),
                        Program.class.getName(),
                        what)
                .redirectErrorStream(true);
        builder.environment().remove("JAVA_TOOL_OPTIONS"); // a JVM prints a message if it is set
        Process process = builder.start();
        try (var output = process.inputReader()) {
            return output.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"alarm", "pool", "group", "scope"})
    void a_removed_application_leaves_no_thread_in_its_group_and_none_with_its_class_loader(String what)
            throws Exception {
        assertThat(threadsLeftBy(what)).containsExactly("alarms have null and no loader", "done");
    }
}
