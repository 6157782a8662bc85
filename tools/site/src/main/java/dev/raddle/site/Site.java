package dev.raddle.site;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Makes a static site of the repository's pages. It can be read from a disk, without a server.
 *
 * <p>Each page in Markdown becomes a page of the site; a source file that is linked becomes a page with its text, a
 * directory one with its files, and a picture is copied.
 */
public final class Site {

    /** The pages of the menu of this repository, by headings. */
    static final Map<String, List<String>> MENU = menu();

    private static final String START = "docs/index.md";

    private final Path repository;
    private final Path output;
    private final Map<String, List<String>> menu;
    private final Map<Path, Document> documents = new LinkedHashMap<>(); // by paths in the repository
    private final List<String> problems = new ArrayList<>();

    private Site(Path repository, Path output, Map<String, List<String>> menu) {
        this.repository = repository;
        this.output = output;
        this.menu = menu;
    }

    private static Map<String, List<String>> menu() {
        Map<String, List<String>> menu = new LinkedHashMap<>();
        menu.put(
                "Guides",
                List.of(
                        "docs/guide/tutorial.md",
                        "docs/guide/groups.md",
                        "docs/guide/scopes.md",
                        "docs/guide/flows.md",
                        "docs/guide/pools.md",
                        "docs/guide/durable.md",
                        "docs/guide/fleet.md",
                        "docs/guide/observing.md",
                        "docs/guide/console.md",
                        "docs/guide/spring-boot.md",
                        "docs/guide/kotlin.md",
                        "docs/guide/testing.md",
                        "docs/guide/cli.md",
                        "docs/guide/install.md",
                        "examples/README.md"));
        menu.put("Coming from", List.of("docs/coming-from/README.md"));
        menu.put(
                "More",
                List.of(
                        "docs/performance.md",
                        "docs/compatibility.md",
                        "docs/bug-report.md",
                        "docs/architecture.md",
                        "docs/INVARIANTS.md",
                        "docs/GLOSSARY.md",
                        "docs/adr/README.md",
                        "CHANGELOG.md",
                        "CONTRIBUTING.md"));
        return menu;
    }

    /**
     * Makes the site.
     *
     * @param args the directory of the repository, and the directory to write to
     * @throws IOException if a page cannot be read or written, or if a link leads nowhere
     */
    public static void main(String[] args) throws IOException {
        build(Path.of(args[0]), Path.of(args[1]), MENU);
    }

    /**
     * Makes the site.
     *
     * @param repository the directory of the repository
     * @param output the directory to write to
     * @param menu the pages of the menu, by headings
     * @return the number of pages
     * @throws IOException if a page cannot be read or written, or if a link leads nowhere; it names all such links
     */
    static int build(Path repository, Path output, Map<String, List<String>> menu) throws IOException {
        Site site = new Site(repository.toAbsolutePath().normalize(), output, menu);
        site.collect();
        if (!site.problems.isEmpty()) {
            throw new IOException("links that lead nowhere: " + String.join("; ", site.problems));
        }
        site.write();
        return site.documents.size();
    }

    private void collect() throws IOException {
        Deque<Path> unread = new ArrayDeque<>(otherPages());
        unread.addFirst(Path.of(START));
        menu.values().stream().flatMap(Collection::stream).map(Path::of).forEach(unread::add);
        for (Path page; (page = unread.poll()) != null; ) {
            if (!documents.containsKey(page)) {
                Document document = new Document(markdown(page));
                documents.put(page, document);
                for (String target : document.targets()) {
                    if (!isExternal(target)) {
                        unread.addAll(reached(page, target));
                    }
                }
            }
        }
        documents.forEach((page, document) -> document.targets().forEach(target -> check(page, target)));
    }

    /** Returns the pages in Markdown of the repository's directory and its docs, linked or not. */
    private List<Path> otherPages() throws IOException {
        try (Stream<Path> above = Files.list(repository);
                Stream<Path> docs = Files.walk(repository.resolve("docs"))) {
            return Stream.concat(above, docs)
                    .map(repository::relativize)
                    .filter(page -> page.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    /** Returns the file to which a link leads if it becomes a page, and nothing else. */
    private List<Path> reached(Path page, String target) {
        Path file = fileOf(page, target);
        boolean isPage = Files.exists(repository.resolve(file)) && !isPicture(file);
        return isPage ? List.of(file) : List.of();
    }

    private void check(Path page, String target) {
        if (isExternal(target)) {
            return;
        }
        Path file = fileOf(page, target);
        String anchor = target.contains("#") ? target.substring(target.indexOf('#') + 1) : "";
        Document document = documents.get(file);
        if (!Files.exists(repository.resolve(file))) {
            problems.add(page + " links " + target + ", and " + file + " does not exist");
        } else if (!anchor.isEmpty() && (document == null || !document.hasAnchor(anchor))) {
            problems.add(page + " links " + target + ", and " + file + " has no heading \"" + anchor + "\"");
        }
    }

    private static boolean isExternal(String target) {
        return target.startsWith("https:") || target.startsWith("http:") || target.startsWith("mailto:");
    }

    private static boolean isPicture(Path file) {
        return file.toString().matches(".*\\.(svg|png|webp)");
    }

    /** Returns the file to which a link leads, as a path in the repository; of a directory its README, if any. */
    private Path fileOf(Path page, String target) {
        String path = target.contains("#") ? target.substring(0, target.indexOf('#')) : target;
        if (path.isEmpty()) {
            return page;
        }
        Path file = directoryOf(page).resolve(path).normalize();
        return Files.exists(repository.resolve(file).resolve("README.md")) ? file.resolve("README.md") : file;
    }

    private static Path directoryOf(Path file) {
        return Objects.requireNonNullElse(file.getParent(), Path.of(""));
    }

    /** Returns the text of a page; of another file or a directory, a page that shows it. */
    private String markdown(Path page) throws IOException {
        Path file = repository.resolve(page);
        if (Files.isDirectory(file)) {
            try (Stream<Path> inside = Files.walk(file)) {
                return inside.filter(Files::isRegularFile)
                        .map(file::relativize)
                        .sorted()
                        .map(name -> "- [" + name + "](" + page.getFileName() + "/" + name + ")")
                        .collect(joining("\n", "# " + page + "\n\n", "\n"));
            }
        }
        String text = Files.readString(file);
        String fence = "`".repeat(8); // longer than those in the text
        return page.toString().endsWith(".md")
                ? text
                : "# " + page.getFileName() + "\n\n" + fence + "\n" + text + "\n" + fence + "\n";
    }

    /** Returns the place of a file in the site. */
    private static String placeOf(Path file) {
        String name = file.toString();
        String place = name.startsWith("docs/") ? name.substring("docs/".length()) : name;
        if (name.equals("README.md")) {
            return "readme.html"; // the landing page is index.html
        }
        if (isPicture(file)) {
            return place;
        }
        return place.replaceFirst("README\\.md$", "index.md").replaceFirst("\\.md$", "") + ".html";
    }

    private void write() throws IOException {
        String template = resource("page.html");
        for (Map.Entry<Path, Document> entry : documents.entrySet()) {
            Path page = entry.getKey();
            Document document = entry.getValue();
            String up = "../"
                    .repeat((int) placeOf(page).chars().filter(c -> c == '/').count());
            String content = document.html(target -> isExternal(target) ? target : up + urlOf(page, target));
            write(
                    placeOf(page),
                    template.replace("{{title}}", Search.escaped(document.title()))
                            .replace("{{up}}", up)
                            .replace("{{menu}}", menuFor(page, up))
                            .replace("{{content}}", content));
        }
        write("site.css", resource("site.css"));
        write("search.js", resource("search.js").replace("\"{{sections}}\"", Search.index(sections())));
    }

    private String urlOf(Path page, String target) {
        Path file = fileOf(page, target);
        if (isPicture(file)) {
            copy(file);
        }
        String anchor = target.contains("#") ? target.substring(target.indexOf('#')) : "";
        return placeOf(file) + anchor;
    }

    private void copy(Path picture) {
        try {
            Path copy = output.resolve(placeOf(picture));
            Files.createDirectories(directoryOf(copy));
            Files.copy(repository.resolve(picture), copy, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private String menuFor(Path current, String up) {
        StringBuilder html = new StringBuilder();
        menu.forEach((heading, pages) -> {
            html.append("<h2>").append(heading).append("</h2><ul>");
            for (String page : pages) {
                Path file = Path.of(page);
                html.append("<li><a href=\"").append(up).append(placeOf(file)).append('"');
                html.append(file.equals(current) ? " aria-current=\"page\">" : ">");
                Document document = Objects.requireNonNull(documents.get(file));
                html.append(Search.escaped(document.title())).append("</a></li>");
            }
            html.append("</ul>");
        });
        return html.append("<ul><li><a href=\"")
                .append(up)
                .append("javadoc/index.html\">Javadoc</a></li></ul>")
                .toString();
    }

    private Map<String, Document.Section> sections() {
        Map<String, Document.Section> sections = new LinkedHashMap<>();
        documents.forEach((page, document) -> {
            if (page.toString().endsWith(".md")) {
                document.sections().forEach(each -> sections.put(placeOf(page) + "#" + each.anchor(), each));
            }
        });
        return sections;
    }

    private void write(String place, String text) throws IOException {
        Path file = output.resolve(place);
        Files.createDirectories(directoryOf(file));
        Files.writeString(file, text);
    }

    private static String resource(String name) throws IOException {
        try (InputStream stream = Objects.requireNonNull(Site.class.getResourceAsStream(name))) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
