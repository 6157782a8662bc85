import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Writes a page of docs as the overview of javadoc: without links to other files, which javadoc does not have, and with
 * the names that javadoc gives to headings.
 *
 * <p>Use: {@code java Overview.java PAGE OVERVIEW}.
 */
public class Overview {
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("\\[([^\\]]*)]\\((?!https?:)([^)]*)\\)");

    public static void main(String[] args) throws IOException {
        String page = Files.readString(Path.of(args[0]));
        Path overview = Path.of(args[1]);
        Map<String, String> headings = HEADING.matcher(page)
                .results()
                .map(heading -> heading.group(1).strip().toLowerCase(Locale.ROOT))
                .collect(Collectors.toMap(Overview::inPages, Overview::inJavadoc, (first, second) -> first));
        Files.createDirectories(overview.toAbsolutePath().getParent());
        Files.writeString(overview, LINK.matcher(page).replaceAll(link -> {
            String heading = headings.get(link.group(2));
            String text = link.group(1);
            return Matcher.quoteReplacement(heading == null ? text : "[" + text + "](" + heading + ")");
        }));
    }

    private static String inPages(String heading) {
        return "#" + heading.replaceAll("[^\\w\\s-]", "").replaceAll("\\s", "-");
    }

    private static String inJavadoc(String heading) {
        return "#" + heading.replaceAll("[^a-z0-9]+", "-") + "-heading";
    }
}
