package dev.raddle.checks;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the metadata for GraalVM's native images with what the modules look up by name. */
class NativeImageTest {

    private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
    private static final Pattern HANDLE =
            Pattern.compile("Fields\\.handle\\(MethodHandles\\.lookup\\(\\)[^,]*,\\s*\"(\\w+)\"");

    @Test
    void each_field_with_a_handle_is_in_the_metadata_of_the_core() throws IOException, ClassNotFoundException {
        Path sources = REPOSITORY.resolve("core/src/main/java");
        Map<String, TreeSet<String>> fields = new TreeMap<>();
        for (Path file : files(sources)) {
            List<String> names = HANDLE.matcher(Files.readString(file))
                    .results()
                    .map((MatchResult found) -> found.group(1))
                    .toList();
            if (!names.isEmpty()) {
                String type =
                        sources.relativize(file).toString().replace('/', '.').replaceAll("\\.java$", "");
                for (String name : names) {
                    fields.computeIfAbsent(ownerOf(type, name), owner -> new TreeSet<>())
                            .add(name);
                }
            }
        }

        assertThat(fields).hasSizeGreaterThan(15);
        assertThat(metadata("core", "raddle-core"))
                .contains(fields.entrySet().stream()
                        .map(owner -> entry(owner.getKey(), owner.getValue()))
                        .collect(joining(",\n")));
    }

    private static String entry(String owner, TreeSet<String> fields) {
        return "    { \"type\": \"" + owner + "\", \"fields\": ["
                + fields.stream()
                        .map(field -> "{ \"name\": \"" + field + "\" }")
                        .collect(joining(", ")) + "] }";
    }

    /** Returns the class of a source file, or the one inside it, that declares a field. */
    private static String ownerOf(String type, String field) throws ClassNotFoundException {
        Class<?> outer = Class.forName(type, false, NativeImageTest.class.getClassLoader());
        return Stream.concat(Stream.of(outer), Arrays.stream(outer.getDeclaredClasses()))
                .filter(each -> Arrays.stream(each.getDeclaredFields())
                        .anyMatch(declared -> declared.getName().equals(field)))
                .findFirst()
                .orElseThrow()
                .getName();
    }

    @ParameterizedTest
    @ValueSource(strings = {"console", "integrations/jdbc", "integrations/redis"})
    void each_resource_of_a_module_is_in_its_metadata(String module) throws IOException {
        String metadata = metadata(module, "raddle-" + Path.of(module).getFileName());
        List<String> globs = Pattern.compile("\"glob\": \"([^\"]+)\"")
                .matcher(metadata)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        Path resources = REPOSITORY.resolve(module).resolve("src/main/resources");

        assertThat(files(resources))
                .filteredOn(file -> !file.toString().contains("native-image"))
                .isNotEmpty()
                .allSatisfy(file -> assertThat(globs)
                        .anyMatch(glob -> FileSystems.getDefault()
                                .getPathMatcher("glob:" + glob)
                                .matches(resources.relativize(file))));
    }

    private static String metadata(String module, String artifact) throws IOException {
        return Files.readString(REPOSITORY
                .resolve(module)
                .resolve("src/main/resources/META-INF/native-image/dev.raddle")
                .resolve(artifact)
                .resolve("reachability-metadata.json"));
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
