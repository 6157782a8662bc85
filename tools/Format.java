import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.ImportOrderer;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.RemoveUnusedImports;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Checks or rewrites the layout of every Java source below the working directory.
 *
 * <p>Use: {@code java -cp <palantir-java-format> Format.java check|write}. The build calls it, so does {@code ./dev}.
 */
public class Format {
    private static final Set<String> SKIPPED = Set.of("target", ".git");
    private static final Formatter FORMATTER = Formatter.createFormatter(JavaFormatterOptions.builder()
            .style(JavaFormatterOptions.Style.PALANTIR)
            .formatJavadoc(false)
            .build());

    public static void main(String[] args) throws IOException {
        boolean write = args[0].equals("write");
        Set<String> changed = new ConcurrentSkipListSet<>();
        Set<String> broken = new ConcurrentSkipListSet<>();
        sources().parallelStream().forEach(file -> {
            try {
                String before = Files.readString(file);
                String after = formatted(before);
                if (!after.equals(before)) {
                    changed.add(file.toString());
                    if (write) {
                        Files.writeString(file, after);
                    }
                }
            } catch (IOException | FormatterException e) {
                broken.add(file + ": " + e.getMessage());
            }
        });
        changed.forEach(file -> System.out.println((write ? "formatted " : "not formatted: ") + file));
        broken.forEach(message -> System.out.println("cannot be formatted: " + message));
        if (!broken.isEmpty() || (!write && !changed.isEmpty())) {
            System.out.println(changed.size() + " files not formatted; \"./dev format\" rewrites them");
            System.exit(1);
        }
    }

    private static String formatted(String source) throws FormatterException {
        String ordered = ImportOrderer.reorderImports(
                RemoveUnusedImports.removeUnusedImports(source), JavaFormatterOptions.Style.PALANTIR);
        return FORMATTER.formatSource(ordered);
    }

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(Path.of(""), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
                return SKIPPED.contains(dir.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".java")) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
