package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the sources with docs/api: a published method that returns a changed copy of its object must be annotated,
 * or its type, so that a checker reports a call whose copy is dropped.
 */
class CheckReturnValueTest {

    private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
    private static final Pattern TYPE = Pattern.compile("public .*?(?:class|interface) ([\\w.$]+).*");
    private static final Pattern METHOD = Pattern.compile("  (public .*?)([\\w.$]+)(?:<.*>)? (\\w+)\\(.*");

    /** The types whose methods change their object and return it; all builders are, too. */
    private static final Set<String> CHANGED_IN_PLACE = Set.of("ThreadScope", "Node", "Channel", "PoolBuilder");

    @Test
    void a_method_that_returns_a_changed_copy_is_annotated() throws IOException {
        List<Copying> all = copying();

        assertThat(all).hasSizeGreaterThan(60).contains(new Copying("dev.raddle.flow.RunOptions", "withTimeout"));
        assertThat(all)
                .allSatisfy(method -> assertThat(method.isAnnotatedIn(source(method)))
                        .as("%s.%s has @CheckReturnValue", method.type, method.name)
                        .isTrue());
    }

    @Test
    void a_method_without_the_annotation_is_found() {
        Copying method = new Copying("a.Options$Inner", "withName");

        assertThat(method.isAnnotatedIn("class Options {\n  record Inner() {\n    Inner withName(String n) {"))
                .isFalse();
        assertThat(method.isAnnotatedIn(
                        "class Options {\n  record Inner() {\n    @CheckReturnValue\n    Inner withName(String n) {"))
                .isTrue();
        assertThat(method.isAnnotatedIn(
                        "class Options {\n  @CheckReturnValue\n  record Inner() {\n    Inner withName(String n) {"))
                .isTrue();
    }

    private record Copying(String type, String name) {
        String simpleType() {
            return type.substring(Math.max(type.lastIndexOf('.'), type.lastIndexOf('$')) + 1);
        }

        boolean isAnnotatedIn(String source) {
            String declared = "@CheckReturnValue\n[^\n]*\\b";
            return Pattern.compile(declared + "(class|interface|record) " + simpleType() + "\\b")
                            .matcher(source)
                            .find()
                    || Pattern.compile(declared + simpleType() + " " + name + "\\(")
                            .matcher(source)
                            .find();
        }
    }

    private static List<Copying> copying() throws IOException {
        List<Copying> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(REPOSITORY.resolve("docs/api"))) {
            for (Path file : files.toList()) {
                String type = "";
                for (String line : Files.readAllLines(file)) {
                    Matcher declared = TYPE.matcher(line);
                    Matcher method = METHOD.matcher(line);
                    if (declared.matches()) {
                        type = declared.group(1);
                    } else if (method.matches()
                            && method.group(2).equals(type)
                            && !method.group(1).contains(" static ")
                            && isCopied(type)) {
                        found.add(new Copying(type, method.group(3)));
                    }
                }
            }
        }
        return found;
    }

    private static boolean isCopied(String type) {
        // A StructuredTaskScope returns itself from join().
        return !type.endsWith("$Builder")
                && !type.contains("scope.StructuredTaskScope")
                && !CHANGED_IN_PLACE.contains(type.substring(type.lastIndexOf('.') + 1));
    }

    private static String source(Copying method) {
        String file = "src/main/java/" + method.type.replaceFirst("\\$.*", "").replace('.', '/') + ".java";
        try (Stream<Path> modules = Stream.concat(
                Stream.of("core", "console").map(REPOSITORY::resolve),
                Files.list(REPOSITORY.resolve("integrations")))) {
            return Files.readString(modules.map(module -> module.resolve(file))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
