package dev.raddle.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteTest {

    private static final Path REPOSITORY = Path.of("..", "..");

    @TempDir
    private Path repository;

    @TempDir
    private Path output;

    @BeforeEach
    void writeTwoPages() throws IOException {
        page("docs/index.md", "# Start\n\n[a](guide/a.md#second-thing)\n");
        page("docs/guide/a.md", "# A\n\nText.\n\n## Second `thing`!\n\n[code](../../src/Main.java)\n");
        page("src/Main.java", "void main() { if (1 < 2) {} }\n");
    }

    private void page(String name, String text) throws IOException {
        Path file = repository.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private int build() throws IOException {
        return Site.build(repository, output, Map.of("Guides", List.of("docs/guide/a.md")));
    }

    private String written(String name) throws IOException {
        return Files.readString(output.resolve(name));
    }

    @Test
    void every_link_of_this_repository_leads_to_a_page_and_a_heading() throws IOException {
        Path site = Path.of("target", "site");

        int pages = Site.build(REPOSITORY, site, Site.MENU);

        assertThat(pages).isGreaterThan(80);
        assertThat(site.resolve("index.html")).exists();
        assertThat(site.resolve("pictures/scale-tasks.svg")).exists();
    }

    @Test
    void the_landing_page_has_the_numbers_of_the_readme() throws IOException {
        String landing = Files.readString(REPOSITORY.resolve("docs/index.md"));
        String table = landing.substring(landing.indexOf("| what |"), landing.indexOf("[All measurements]"));

        assertThat(Files.readString(REPOSITORY.resolve("README.md"))).contains(table);
    }

    @Test
    void links_lead_to_pages_of_the_site_and_linked_sources_become_pages() throws IOException {
        assertThat(build()).isEqualTo(3);

        assertThat(written("index.html")).contains("<a href=\"guide/a.html#second-thing\">");
        assertThat(written("guide/a.html"))
                .contains("<h2 id=\"second-thing\">", "<a href=\"../src/Main.java.html\">", "href=\"../site.css\"");
        assertThat(written("src/Main.java.html")).contains("if (1 &lt; 2)");
    }

    @Test
    void every_link_that_leads_nowhere_is_named() throws IOException {
        page("docs/guide/a.md", "# A\n\n[x](missing.md) [y](../index.md#none)\n");

        assertThatThrownBy(this::build)
                .isInstanceOf(IOException.class)
                .hasMessage("links that lead nowhere:"
                        + " docs/index.md links guide/a.md#second-thing, and docs/guide/a.md has no heading"
                        + " \"second-thing\";"
                        + " docs/guide/a.md links missing.md, and docs/guide/missing.md does not exist;"
                        + " docs/guide/a.md links ../index.md#none, and docs/index.md has no heading \"none\"");
    }

    @Test
    void the_search_has_every_section_of_every_page() throws IOException {
        page("docs/guide/a.md", "# A\n\n## Second `thing`!\n\nSay `\"</script>\"` here.\n");

        build();

        assertThat(written("search.js"))
                .contains("[\"guide/a.html#second-thing\",\"Second thing!\",\"Say \\\"<\\/script>\\\" here.\"]");
    }

    @Test
    void the_search_finds_words_of_cells_of_tables_and_of_paragraphs() throws IOException {
        String table = "| one | two |\n|---|---|\n| three | `four` |\n";
        page("docs/guide/a.md", "# A\n\n## Second `thing`!\n\n" + table + "\n- five\n- six\n");

        build();

        assertThat(written("search.js")).contains("\"one two three four five six\"");
    }

    @Test
    void nothing_is_loaded_from_another_host() throws IOException {
        build();

        assertThat(written("guide/a.html")).doesNotContain("http:", "https:");
        assertThat(written("search.js") + written("site.css")).doesNotContain("http:", "https:", "@import");
    }

    @Test
    void code_has_its_colours_without_a_script() throws IOException {
        page("docs/guide/a.md", """
                # A

                ## Second `thing`!

                ```java
                /* one
                   comment */ @Override var s = "<b>" + 12; // end
                ```

                ```
                class of nothing
                ```
                """);

        build();

        assertThat(written("guide/a.html")).contains("""
                        <pre tabindex="0"><code class="language-java"><span class="comment">/* one</span>
                        <span class="comment">   comment */</span> <span class="name">@Override</span> \
                        <span class="word">var</span> s = \
                        <span class="string">&quot;&lt;b&gt;&quot;</span> + <span class="number">12</span>; \
                        <span class="comment">// end</span>
                        </code></pre>""", """
                        <pre tabindex="0"><code>class of nothing
                        </code></pre>""");
    }

    @Test
    void each_colour_can_be_read_on_its_background_by_day_and_night() throws IOException {
        String css = Files.readString(Path.of("src/main/resources/dev/raddle/site/site.css"));
        Map<String, MatchResult> colours = Pattern.compile("--(\\w+): light-dark\\(#(\\w{6}), #(\\w{6})\\)")
                .matcher(css)
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found));

        assertThat(List.of("text", "quiet", "link", "word", "string", "number", "name"))
                .allSatisfy(name -> assertThat(List.of(2, 3))
                        .allSatisfy(theme -> assertThat(contrast(
                                        colours.get(name).group(theme),
                                        colours.get("raised").group(theme)))
                                .isGreaterThan(4.5)));
    }

    /** Returns the contrast of two colours, as WCAG 2 defines it. */
    private static double contrast(String one, String other) {
        double a = luminance(one);
        double b = luminance(other);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }

    private static double luminance(String colour) {
        double[] linear = IntStream.of(0, 2, 4)
                .mapToDouble(at -> Integer.parseInt(colour.substring(at, at + 2), 16) / 255.0)
                .map(part -> part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4))
                .toArray();
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    }
}
