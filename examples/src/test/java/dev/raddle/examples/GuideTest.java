package dev.raddle.examples;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compiles the snippets of the guides and comparisons, and the programs of the README. */
@Timeout(120)
class GuideTest {

    private static final Path GUIDES = Path.of("..", "docs", "guide");
    private static final Path COMING_FROM = Path.of("..", "docs", "coming-from");
    private static final Path README = Path.of("..", "README.md");
    private static final Path CHANGELOG = Path.of("..", "CHANGELOG.md");
    private static final Path CHINESE_README = Path.of("..", "README.zh-CN.md");
    private static final Path ASSUMED =
            Path.of("src", "test", "resources", "guide"); // what the snippets of a guide use
    private static final Path DECLARED = ASSUMED.resolve("declared"); // of libraries that not every repository has
    private static final Pattern SNIPPET = Pattern.compile("(?s)```java\n(.*?)```");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import .*\n");
    private static final Pattern FENCE = Pattern.compile("(?s)```.*?```");
    private static final Pattern LEVEL = Pattern.compile("(?m)^(#+) ");
    private static final Pattern TARGET = Pattern.compile("\\]\\([^)]*\\)");
    private static final Pattern NUMBER = Pattern.compile("\\d[\\d,.]*\\d|\\d");

    @TempDir
    private Path directory;

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"console", "fleet", "flows", "groups", "observing", "pools", "scopes", "testing"})
    void every_snippet_of_a_guide_compiles(String guide) throws Exception {
        assertThatSnippetsCompile(GUIDES.resolve(guide + ".md"), guide);
    }

    @ParameterizedTest
    @MethodSource("comparisons")
    void the_code_of_a_comparison_compiles_on_both_sides(Path page) throws Exception {
        assertThatSnippetsCompile(page, "coming-from");
    }

    private static List<Path> comparisons() throws IOException {
        return filesIn(COMING_FROM).stream()
                .filter(page -> !page.endsWith("README.md"))
                .toList();
    }

    private static List<Path> filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }

    private void assertThatSnippetsCompile(Path page, String assumedBy) throws IOException {
        String assumed = Files.readString(ASSUMED.resolve(assumedBy + ".txt"));
        List<JavaFileObject> sources = new ArrayList<>(List.of(new Source("Assumed", assumed)));
        Matcher snippets = SNIPPET.matcher(Files.readString(page));
        while (snippets.find()) {
            String name = "Snippet" + sources.size();
            sources.add(new Source(name, unit(name, assumed, snippets.group(1))));
        }
        for (Path declared : filesIn(DECLARED)) {
            String name = declared.getFileName().toString().replace(".txt", "").replace('.', '/');
            sources.add(new Source(name, Files.readString(declared)));
        }
        assertThatTheyCompile(sources);
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void every_program_of_the_readme_compiles() throws Exception {
        List<JavaFileObject> sources = new ArrayList<>();
        Matcher programs = SNIPPET.matcher(Files.readString(README));
        while (programs.find()) {
            sources.add(new Source("Program" + sources.size(), programs.group(1)));
        }

        assertThatTheyCompile(sources);
    }

    @Test
    void the_chinese_readme_has_the_sections_code_links_and_numbers_of_the_english_one() throws IOException {
        String english = Files.readString(README);
        String chinese = Files.readString(CHINESE_README);

        assertThat(all(FENCE, chinese)).isEqualTo(all(FENCE, english)).isNotEmpty();
        assertThat(all(LEVEL, chinese)).isEqualTo(all(LEVEL, english)).isNotEmpty();
        assertThat(all(NUMBER, chinese))
                .containsExactlyInAnyOrderElementsOf(all(NUMBER, english))
                .isNotEmpty();
        assertThat(all(TARGET, chinese.replace("](README.md)", "](README.zh-CN.md)"))) // they link to each other
                .isEqualTo(all(TARGET, english))
                .isNotEmpty();
    }

    @Test
    void every_call_in_a_sentence_exists_with_that_many_parameters() throws Exception {
        List<Path> pages = new ArrayList<>(List.of(README));
        pages.addAll(filesIn(GUIDES).stream().filter(Files::isRegularFile).toList());
        pages.addAll(filesIn(COMING_FROM));
        Calls calls = Calls.ofClassPath();

        List<String> unknown = new ArrayList<>();
        for (Path page : pages) {
            calls.unknownIn(FENCE.matcher(Files.readString(page)).replaceAll(""))
                    .forEach(call -> unknown.add(page + ": " + call));
        }
        String changes = Files.readString(CHANGELOG);
        int next = changes.indexOf("\n## ", changes.indexOf("\n## ") + 1);
        calls.unknownIn(next < 0 ? changes : changes.substring(0, next))
                .forEach(call -> unknown.add(CHANGELOG + ": " + call));

        assertThat(unknown).isEmpty();
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MatchResult::group).toList();
    }

    private void assertThatTheyCompile(List<JavaFileObject> sources) {
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-nowarn",
                "-proc:none",
                "--enable-preview", // for the JDK's StructuredTaskScope
                "--release",
                String.valueOf(Runtime.version().feature()),
                "-d",
                directory.toString(),
                "-cp",
                System.getProperty("java.class.path"));
        boolean compile = ToolProvider.getSystemJavaCompiler()
                .getTask(messages, null, null, options, null, sources)
                .call();
        assertThat(sources).isNotEmpty();
        assertThat(compile).as(messages.toString()).isTrue();
    }

    /** Returns a program as it is, and another snippet as the body of a method, below its imports and its constant. */
    private static String unit(String name, String assumed, String snippet) {
        if (snippet.contains("void main(")) {
            return snippet;
        }
        String imports = IMPORT.matcher(assumed + snippet)
                .results()
                .map(MatchResult::group)
                .collect(joining());
        String body = IMPORT.matcher(snippet).replaceAll("").strip();
        int begin = body.startsWith("static ") ? body.indexOf("\n\n") : 0;
        return imports + "class " + name + " extends Assumed {\n" + body.substring(0, begin)
                + "\nObject snippet() throws Exception { if (true) {\n" + body.substring(begin)
                + "\n} return null; }\n}\n";
    }
}
