package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.testing.Jvm;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class StackRoomTest {

    private static final int STACK = 256 * 1024;
    private static final int SECTION = 20; // calls in a section, at least

    /**
     * Recurses to the end of the stack. The first frame on the way back in which the check succeeds calls the section;
     * returns whether the section returned.
     */
    @SuppressWarnings("InfiniteRecursion") // ends by StackOverflowError
    private static boolean enterAtTheEnd(Runnable check, Runnable section) {
        try {
            return enterAtTheEnd(check, section);
        } catch (StackOverflowError end) {
            check.run(); // if this overflows, the calling frame repeats it
        }
        try {
            section.run();
            return true;
        } catch (StackOverflowError inSection) {
            return false;
        }
    }

    private static int callThen(Runnable last, int calls) {
        if (calls > 0) {
            return 1 + callThen(last, calls - 1);
        }
        last.run();
        return 0;
    }

    private static boolean returnsAtTheEnd(Runnable check, Runnable section) throws Exception {
        check.run(); // initializes the class, and links the calls, while there is room
        section.run();
        FutureTask<Boolean> entering = new FutureTask<>(() -> enterAtTheEnd(check, section));
        new Thread(null, entering, "deep", STACK).start();
        return entering.get();
    }

    @Test
    void a_section_that_follows_the_check_of_the_stack_does_not_overflow() throws Exception {
        assertThat(returnsAtTheEnd(StackRoom::ensure, () -> callThen(() -> {}, SECTION)))
                .isTrue();
    }

    /**
     * A class whose initializer fails is unusable until the JVM ends. The first call of a lambda's expression links it,
     * for which no check leaves enough room.
     */
    @Test
    void no_class_links_a_lambda_when_it_is_initialized() throws Exception {
        try (Stream<Path> files = Files.walk(Jvm.classes())) {
            List<Path> classes =
                    files.filter(file -> file.toString().endsWith(".class")).toList();
            assertThat(classes).hasSizeGreaterThan(400);
            assertThat(classes)
                    .allSatisfy(file -> assertThat(initializerOf(file))
                            .as(file.toString())
                            .noneMatch(InvokeDynamicInstruction.class::isInstance));
        }
    }

    private static List<CodeElement> initializerOf(Path file) throws IOException {
        return ClassFile.of().parse(file).methods().stream()
                .filter(method -> method.methodName().equalsString("<clinit>"))
                .flatMap(method -> method.code().orElseThrow().elementStream())
                .toList();
    }

    /** What is opened, with room, before the first use at the end of a stack. */
    enum Api {
        EXECUTOR(() -> GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build())),
        SCOPE(() -> ThreadScope.open("s")),
        STRUCTURED(StructuredTaskScope::new),
        JOINED(dev.raddle.structured.StructuredTaskScope::open),
        POOL(() -> ThreadPool.builder("p").threads(1).build());

        final Callable<?> opening;

        Api(Callable<?> opening) {
            this.opening = opening;
        }
    }

    /** Uses the check for the first time at the end of a stack, and then where there is room. */
    static final class FirstUse {

        private FirstUse() {}

        @SuppressWarnings("SystemOut")
        public static void main(String[] args) throws Exception {
            Class.forName("dev.raddle.kernel.StackRoom", false, FirstUse.class.getClassLoader()); // as an AOT cache
            Api.valueOf(System.getProperty("api")).opening.call();
            Thread deep = new Thread(null, FirstUse::useAtTheEnd, "deep", STACK);
            deep.start();
            deep.join();
            StackRoom.ensure();
            System.out.println("usable");
            System.exit(0);
        }

        @SuppressWarnings("InfiniteRecursion") // ends by StackOverflowError
        private static void useAtTheEnd() {
            try {
                useAtTheEnd();
            } catch (StackOverflowError end) {
                StackRoom.ensure(); // if this overflows, the calling frame repeats it
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_check_can_be_used_later_if_its_first_use_is_at_the_end_of_a_stack(Api api) throws Exception {
        assertThat(Jvm.run(FirstUse.class, "-Dapi=" + api)).isEqualTo("usable");
    }
}
