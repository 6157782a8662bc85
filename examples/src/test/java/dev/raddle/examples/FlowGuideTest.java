package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowPlan;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compiles the snippets of the guide to flows and the programs of the README. */
@Timeout(120)
class FlowGuideTest {

    private static final Path GUIDE = Path.of("..", "docs", "guide", "flows.md");
    private static final Path README = Path.of("..", "README.md");
    private static final Path ASSUMED = Path.of("src", "test", "resources", "guide", "flows.txt");
    private static final Pattern SNIPPET = Pattern.compile("(?s)```java\n(.*?)```");
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

    @Test
    void every_snippet_of_the_guide_compiles() throws Exception {
        String assumed = Files.readString(ASSUMED);
        String imports = assumed.substring(0, assumed.indexOf("/**"));
        List<JavaFileObject> sources = new ArrayList<>(List.of(new Source("Flows", assumed)));
        Matcher snippets = SNIPPET.matcher(Files.readString(GUIDE));
        while (snippets.find()) {
            String name = "Snippet" + sources.size();
            sources.add(new Source(name, imports + body(name, snippets.group(1))));
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

    private void assertThatTheyCompile(List<JavaFileObject> sources) throws URISyntaxException {
        StringWriter messages = new StringWriter();
        Path core = Path.of(FlowPlan.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<String> options = List.of("-nowarn", "-proc:none", "-d", directory.toString(), "-cp", core.toString());
        boolean compile = ToolProvider.getSystemJavaCompiler()
                .getTask(messages, null, null, options, null, sources)
                .call();
        assertThat(sources).isNotEmpty();
        assertThat(compile).as(messages.toString()).isTrue();
    }

    private static String body(String name, String snippet) {
        return "class " + name + " extends Flows {\n    @Override\n    void snippet() throws Exception {\n" + snippet
                + "    }\n}\n";
    }

    @Test
    void every_link_inside_the_guide_leads_to_a_heading() throws IOException {
        String guide = Files.readString(GUIDE, StandardCharsets.UTF_8);
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
