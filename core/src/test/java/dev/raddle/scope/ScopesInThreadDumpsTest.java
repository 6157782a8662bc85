package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Task;
import dev.raddle.testing.BlockingTask;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scopes in the thread dumps of the JDK. */
class ScopesInThreadDumpsTest {

    private final CountDownLatch opened = new CountDownLatch(2);
    private final AtomicReference<Thread> first = new AtomicReference<>();
    private final AtomicReference<Thread> second = new AtomicReference<>();

    /** One container of a dump in JSON. */
    private record Part(String text) {

        static Part of(String dump, String name) {
            for (String each : dump.split("\"container\": ")) {
                if (each.startsWith("\"" + name + "/")) {
                    return new Part(each);
                }
            }
            throw new AssertionError("no container " + name + " in " + dump);
        }

        String property(String name) {
            Matcher matcher =
                    Pattern.compile("\"" + name + "\": \"?([^\",]*)\"?").matcher(text);
            assertThat(matcher.find()).as(name + " in " + text).isTrue();
            return matcher.group(1);
        }

        void hasThread(Thread thread) {
            assertThat(text).containsPattern("\"tid\": \"?" + thread.threadId() + "\"?[,\\s]");
        }

        void isOwnedBy(Thread thread) {
            assertThat(property("owner")).isEqualTo(String.valueOf(thread.threadId()));
        }
    }

    private static String jcmd(Path directory) throws Exception {
        Path file = directory.resolve("dump.json");
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        "-J-Dsun.tools.attach.attachTimeout=240000",
                        String.valueOf(ProcessHandle.current().pid()),
                        "Thread.dump_to_file",
                        "-overwrite",
                        "-format=json",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(jcmd.getInputStream().readAllBytes());
        assertThat(jcmd.waitFor()).as(output).isZero();
        return Files.readString(file).replace("\\/", "/"); // the JDK escapes slashes
    }

    private void openChild(Kind kind, String name, AtomicReference<Thread> thread) throws InterruptedException {
        thread.set(Thread.currentThread());
        try (var child = new StructuredTaskScope<>(kind.options().withName(name))) {
            opened.countDown();
            Tasks.forever();
        }
    }

    @FunctionalInterface
    private interface DumpTaker {
        String take(StructuredTaskScope<?> scope) throws Exception;
    }

    private void treeIsShown(Kind kind, DumpTaker taker) throws Exception {
        try (var scope = new StructuredTaskScope<>(kind.options().withName("scope"))) {
            scope.fork(() -> {
                openChild(kind, "child-A", first);
                return null;
            });
            scope.fork(() -> {
                openChild(kind, "child-B", second);
                return null;
            });
            opened.await();
            String dump = taker.take(scope);
            Part top = Part.of(dump, "scope");
            Part childA = Part.of(dump, "child-A");
            Part childB = Part.of(dump, "child-B");

            assertThat(top.property("parent")).doesNotContain("scope"); // the root, or the pool that runs tests
            assertThat(childA.property("parent")).startsWith("scope/");
            assertThat(childB.property("parent")).startsWith("scope/");
            top.isOwnedBy(Thread.currentThread());
            childA.isOwnedBy(first.get());
            childB.isOwnedBy(second.get());
            top.hasThread(first.get());
            top.hasThread(second.get());
            scope.shutdown();
            scope.join();
        }
    }

    private void nestingIsShown(Kind kind, DumpTaker taker) throws Exception {
        try (var outer = new StructuredTaskScope<>(kind.options().withName("scope-A"));
                var inner = new StructuredTaskScope<>(kind.options().withName("scope-B"))) {
            outer.fork(() -> blockIn(first));
            inner.fork(() -> blockIn(second));
            opened.await();
            String dump = taker.take(inner);
            Part partA = Part.of(dump, "scope-A");
            Part partB = Part.of(dump, "scope-B");

            assertThat(partA.property("parent")).doesNotContain("scope");
            assertThat(partB.property("parent")).startsWith("scope-A/");
            partA.isOwnedBy(Thread.currentThread());
            partB.isOwnedBy(Thread.currentThread());
            partA.hasThread(first.get());
            partB.hasThread(second.get());
            outer.shutdown();
            inner.shutdown();
            inner.join();
            outer.join();
        }
    }

    private Object blockIn(AtomicReference<Thread> thread) throws InterruptedException {
        thread.set(Thread.currentThread());
        opened.countDown();
        return Tasks.forever();
    }

    @ParameterizedTest
    @EnumSource
    void the_jdks_dump_shows_the_tree(Kind kind, @TempDir Path directory) throws Exception {
        kind.needsTheJdk("the JDK's dump shows its own containers only");
        treeIsShown(kind, scope -> jcmd(directory));
    }

    @ParameterizedTest
    @EnumSource
    void the_jdks_dump_shows_scopes_nested_in_one_thread(Kind kind, @TempDir Path directory) throws Exception {
        kind.needsTheJdk("the JDK's dump shows its own containers only");
        nestingIsShown(kind, scope -> jcmd(directory));
    }

    @Test
    void the_jdks_dump_shows_the_tasks_of_a_thread_scope_by_name(@TempDir Path directory) throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open("page")) {
            Task<String> task = scope.submit("user", blocker::call);
            blocker.awaitBegun();
            assertThat(task.runner().orElseThrow().getName()).isEqualTo("page/user");
            assertThat(jcmd(directory)).contains("\"name\": \"page/user\"");
            blocker.release();
            assertThat(task.await()).isNotNull();
        }
    }

    @Test
    void the_thread_of_a_task_without_a_name_has_the_name_of_its_scope() throws Exception {
        try (ThreadScope scope = ThreadScope.open("page")) {
            assertThat(scope.submit(() -> Thread.currentThread().getName()).await())
                    .isEqualTo("page");
        }
    }

    @Test
    void a_named_thread_keeps_its_name_and_a_pooled_one_has_none_afterwards() throws Exception {
        Queue<Runnable> given = new ConcurrentLinkedQueue<>();
        List<String> names = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open("page").withScheduler(given::add)) {
            Task<String> one = scope.submit("one", () -> Thread.currentThread().getName());
            Task<String> two = scope.submit("two", () -> Thread.currentThread().getName());
            Thread.ofVirtual()
                    .start(() -> {
                        given.remove().run();
                        names.add(Thread.currentThread().getName());
                    })
                    .join();
            Thread.ofVirtual().name("mine").start(given.remove()).join();
            assertThat(one.await()).isEqualTo("page/one");
            assertThat(two.await()).isEqualTo("mine");
            assertThat(names).containsExactly("");
        }
    }
}
