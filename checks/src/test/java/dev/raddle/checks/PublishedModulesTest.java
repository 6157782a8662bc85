package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Compares the lists of published modules, and the README's dependency snippet with the tested one. */
class PublishedModulesTest {

    private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
    private static final Path CONSUMER = REPOSITORY.resolve("tools/consumer");
    private static final Pattern MODULE = Pattern.compile("<module>(.*)</module>");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(raddle-.*)</artifactId>");
    private static final Pattern FENCE = Pattern.compile("```(xml|groovy)\n(.*?)```", Pattern.DOTALL);

    @Test
    void every_integration_is_published() throws IOException {
        assertThat(modules())
                .filteredOn(module -> module.startsWith("integrations/"))
                .allMatch(this::isPublished);
    }

    @Test
    void the_BOM_lists_the_published_modules() throws IOException {
        String bom = Files.readString(REPOSITORY.resolve("bom/pom.xml"));
        String managed = bom.substring(bom.indexOf("<dependencyManagement>"), bom.indexOf("</dependencyManagement>"));

        assertThat(all(ARTIFACT, managed)).containsExactlyInAnyOrderElementsOf(published());
    }

    @Test
    void the_API_of_every_published_module_is_written_down() throws IOException {
        Set<String> files;
        try (var found = Files.list(REPOSITORY.resolve("docs/api"))) {
            files = found.map(file -> file.getFileName().toString().replace(".txt", ""))
                    .collect(Collectors.toSet());
        }
        assertThat(files).containsExactlyInAnyOrderElementsOf(published());
    }

    @Test
    void the_project_that_is_built_against_a_release_needs_every_published_module() throws IOException {
        String poms = Files.readString(CONSUMER.resolve("pom.xml"))
                + Files.readString(CONSUMER.resolve("class-path/pom.xml"));

        assertThat(all(ARTIFACT, poms)).containsAll(published());
    }

    @Test
    void the_dependencies_in_the_README_are_those_of_the_project_that_is_built_against_a_release() throws IOException {
        String maven = unindented(Files.readString(CONSUMER.resolve("pom.xml")));
        String gradle = unindented(Files.readString(CONSUMER.resolve("build.gradle")));
        List<MatchResult> snippets = FENCE.matcher(Files.readString(REPOSITORY.resolve("README.md")))
                .results()
                .toList();

        assertThat(snippets).extracting(snippet -> snippet.group(1)).containsExactly("xml", "groovy");
        assertThat(maven).contains(unindented(snippets.getFirst().group(2)));
        assertThat(gradle).contains(unindented(snippets.getLast().group(2)));
    }

    private Set<String> published() throws IOException {
        Set<String> artifacts = new TreeSet<>();
        for (String module : modules()) {
            if (isPublished(module) && !module.equals("bom")) {
                String pom = pom(module);
                Matcher artifact = ARTIFACT.matcher(pom);
                assertThat(artifact.find(pom.indexOf("</parent>"))).isTrue();
                artifacts.add(artifact.group(1));
            }
        }
        assertThat(artifacts).contains("raddle-core");
        return artifacts;
    }

    private boolean isPublished(String module) {
        return pom(module).contains("<raddle.release.skip>false</raddle.release.skip>");
    }

    private static List<String> modules() throws IOException {
        return MODULE.matcher(Files.readString(REPOSITORY.resolve("pom.xml")))
                .results()
                .map(module -> module.group(1))
                .toList();
    }

    private static String pom(String module) {
        try {
            return Files.readString(REPOSITORY.resolve(module).resolve("pom.xml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).collect(Collectors.toSet());
    }

    private static String unindented(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining("\n"));
    }
}
