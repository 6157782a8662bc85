package dev.raddle.examples.reports;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the tutorial with this example, whose code the build compiles and the other tests run. */
class TutorialTest {

    private static final Path TUTORIAL = Path.of("..", "..", "docs", "guide", "tutorial.md");
    private static final Pattern SNIPPET = Pattern.compile("(?s)```(?:java|yaml)\n(.*?)```");

    @Test
    void every_snippet_of_the_tutorial_is_code_of_this_example() throws IOException {
        List<String> sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src", "main"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sources.add(withoutIndentation(Files.readString(file)));
            }
        }

        List<String> snippets = SNIPPET.matcher(Files.readString(TUTORIAL))
                .results()
                .map(MatchResult::group)
                .map(snippet -> withoutIndentation(snippet.replaceAll("```\\w*\n?", "")))
                .toList();

        assertThat(snippets)
                .hasSizeGreaterThan(6)
                .allSatisfy(snippet -> assertThat(sources)
                        .as("no file of the example has these lines:\n" + snippet)
                        .anyMatch(source -> source.contains(snippet)));
    }

    @Test
    void the_tutorial_is_short() throws IOException {
        assertThat(Files.readString(TUTORIAL).split("\\s+")).hasSizeLessThanOrEqualTo(1500);
    }

    private static String withoutIndentation(String text) {
        return text.strip().lines().map(String::strip).reduce("", (above, line) -> above + "\n" + line) + "\n";
    }
}
