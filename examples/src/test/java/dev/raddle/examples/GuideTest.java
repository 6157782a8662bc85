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
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compiles the snippets of the guides and the programs of the README. */
@Timeout(120)
class GuideTest {

    private static final Path GUIDES = Path.of("..", "docs", "guide");
    private static final Path README = Path.of("..", "README.md");
    private static final Path ASSUMED =
            Path.of("src", "test", "resources", "guide"); // what the snippets of a guide use
    private static final Pattern SNIPPET = Pattern.compile("(?s)```java\n(.*?)```");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import .*\n");
    private static final Pattern HEADING = Pattern.compile("(?m)^##+ (.*)$");
    private static final Pattern LINK = Pattern.compile("\\]\\(#([^)]*)\\)");

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
    @ValueSource(strings = {"fleet", "flows", "groups", "observing", "pools", "scopes"})
    void every_snippet_of_a_guide_compiles(String guide) throws Exception {
        String assumed = Files.readString(ASSUMED.resolve(guide + ".txt"));
        List<JavaFileObject> sources = new ArrayList<>(List.of(new Source("Assumed", assumed)));
        Matcher snippets = SNIPPET.matcher(Files.readString(GUIDES.resolve(guide + ".md")));
        while (snippets.find()) {
            String name = "Snippet" + sources.size();
            sources.add(new Source(name, unit(name, assumed, snippets.group(1))));
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

    private void assertThatTheyCompile(List<JavaFileObject> sources) {
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-nowarn", "-proc:none", "-d", directory.toString(), "-cp", System.getProperty("java.class.path"));
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

    @ParameterizedTest
    @ValueSource(
            strings = {"cli", "durable", "fleet", "flows", "groups", "observing", "pools", "scopes", "spring-boot"})
    void every_link_inside_a_guide_leads_to_a_heading(String name) throws IOException {
        String guide = Files.readString(GUIDES.resolve(name + ".md"));
        List<String> anchors = HEADING.matcher(guide)
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^a-z0-9 -]", "")
                        .replace(' ', '-'))
                .toList();

        assertThat(LINK.matcher(guide).results().map(link -> link.group(1)).toList())
                .isNotEmpty()
                .isSubsetOf(anchors);
    }
}
