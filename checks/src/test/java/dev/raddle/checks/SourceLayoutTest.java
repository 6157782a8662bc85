package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks what neither the formatter nor the compiler does: long comments and strings, and links between pages. */
class SourceLayoutTest {

    private static final int COLUMNS = 120;
    private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
    private static final Set<String> NO_SOURCES = Set.of("target", ".git");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:\\s]+)(?:#[^)\\s]*)?\\)");

    @TempDir
    Path directory;

    @Test
    void no_line_of_a_java_source_is_longer_than_120_columns() throws IOException {
        assertThat(REPOSITORY.resolve("core/src/main/java/module-info.java")).exists();
        assertThat(longLines(REPOSITORY)).isEmpty();
    }

    @Test
    void a_line_of_121_columns_is_found() throws IOException {
        Path source = Files.createDirectory(directory.resolve("a")).resolve("A.java");
        Files.writeString(source, "// " + "…".repeat(117) + "\n\n// " + "…".repeat(118) + "\n");
        Files.copy(source, Files.createDirectory(directory.resolve("target")).resolve("A.java"));
        Files.copy(source, directory.resolve("a.md"));

        assertThat(longLines(directory)).containsExactly(Path.of("a", "A.java") + ":3 has 121 columns");
    }

    @Test
    void every_link_from_a_page_to_a_file_leads_to_one() throws IOException {
        assertThat(REPOSITORY.resolve("README.md")).exists();
        assertThat(brokenLinks(REPOSITORY)).isEmpty();
    }

    @Test
    void a_link_to_a_missing_file_is_found() throws IOException {
        Path page = Files.createDirectory(directory.resolve("docs")).resolve("page.md");
        Files.writeString(page, "[a](page.md#a) [b](other.md) [c](#c) [d](https://localhost/d.md) [e](../docs)");

        assertThat(brokenLinks(directory)).containsExactly(Path.of("docs", "page.md") + " links to other.md");
    }

    private static List<String> longLines(Path root) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path source : files(root, ".java")) {
            addLongLines(root, source, found);
        }
        return found;
    }

    private static List<String> brokenLinks(Path root) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path page : files(root, ".md")) {
            LINK.matcher(Files.readString(page))
                    .results()
                    .map(link -> link.group(1))
                    .forEach(target -> {
                        if (!Files.exists(page.resolveSibling(target))) {
                            found.add(root.relativize(page) + " links to " + target);
                        }
                    });
        }
        return found;
    }

    private static List<Path> files(Path root, String suffix) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
                boolean skipped = NO_SOURCES.contains(path.getFileName().toString());
                return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                if (path.toString().endsWith(suffix)) {
                    found.add(path);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }

    private static void addLongLines(Path root, Path source, List<String> found) throws IOException {
        int number = 0;
        for (String line : Files.readAllLines(source)) {
            number++;
            int columns = line.codePointCount(0, line.length());
            if (columns > COLUMNS) {
                found.add(root.relativize(source) + ":" + number + " has " + columns + " columns");
            }
        }
    }
}
