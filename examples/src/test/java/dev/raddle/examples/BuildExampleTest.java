package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.examples.BuildExample.Build;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.ValueSource;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class BuildExampleTest {

    private static final Path PROJECT = Path.of("tiny-project");

    @TempDir
    private Path directory;

    private Path sources() {
        return directory.resolve("sources");
    }

    private Path out() {
        return directory.resolve("out");
    }

    @BeforeEach
    void copyTheProject() throws IOException {
        try (Stream<Path> all = Files.walk(PROJECT)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.copy(each, sources().resolve(PROJECT.relativize(each).toString()));
            }
        }
    }

    private FlowResult<String> build(boolean isRelease) throws Exception {
        return BuildExample.build(new Build(sources(), out(), isRelease));
    }

    private void replace(String file, String old, String changed) throws IOException {
        Path path = sources().resolve(file);
        Files.writeString(path, Files.readString(path).replace(old, changed));
    }

    @Test
    void a_build_compiles_tests_and_packages_a_program_that_runs() throws Exception {
        FlowResult<String> result = build(false);

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(BuildExample.done(result))
                .containsExactly("compile words", "compile app", "test words", "test app", "package");
        URL jar = Path.of(result.value()).toUri().toURL();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar})) {
            assertThat(loader.loadClass("app.App").getMethod("main", String[].class))
                    .isNotNull();
            assertThat(loader.loadClass("words.Words")
                            .getMethod("turned", String.class)
                            .invoke(null, "flow"))
                    .isEqualTo("wolf");
        }
    }

    @Test
    void a_second_build_of_the_same_sources_does_nothing() throws Exception {
        FlowResult<String> first = build(false);
        FlowResult<String> second = build(false);

        assertThat(BuildExample.done(second)).isEmpty();
        assertThat(second.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(second.value()).isEqualTo(first.value());
        assertThat(second.node("package").via()).isEqualTo(ValueSource.JOURNAL);
        assertThat(second.explain("package")).isEqualTo("SUCCESS: an earlier run had finished it, says the journal");
    }

    @Test
    void a_release_of_a_finished_build_only_publishes() throws Exception {
        FlowResult<String> snapshot = build(false);
        assertThat(snapshot.explain("publish")).startsWith("SKIPPED: its condition was false at +");

        FlowResult<String> release = build(true);

        assertThat(BuildExample.done(release)).containsExactly("publish");
        assertThat(out().resolve("published", "app.jar")).hasSameBinaryContentAs(out().resolve("app.jar"));
    }

    @Test
    void changed_sources_are_built_again() throws Exception {
        build(false);
        replace("app/main/app/App.java", "Prints a line", "Prints one line");

        assertThat(BuildExample.done(build(false))).hasSize(5);
    }

    @Test
    void a_failing_test_prevents_the_jar() throws Exception {
        replace("app/main/app/App.java", "\" \"", "\"-\"");

        FlowResult<String> result = build(false);

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node("package").state()).isEqualTo(NodeState.FAILED);
        assertThat(result.explain("package"))
                .startsWith("FAILED: it must have \"test app\", which is FAILED: its action threw ")
                .contains("app.AppTest failed");
        assertThat(result.explain("test app")).contains("app.AppTest failed");
        assertThat(out().resolve("app.jar")).doesNotExist();
    }

    @Test
    void after_a_failure_only_nodes_that_had_not_succeeded_run_again() throws Exception {
        Path inTheWay = Files.createDirectories(out().resolve("app.jar.part"));
        assertThat(build(false).node("package").state()).isEqualTo(NodeState.FAILED);
        Files.delete(inTheWay);

        FlowResult<String> result = build(false);

        assertThat(BuildExample.done(result)).isEqualTo(List.of("package"));
    }
}
