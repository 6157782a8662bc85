package dev.raddle.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The page of measurements. Each of its tables stands between two markers that name its section; the text outside the
 * markers is edited by hand.
 *
 * @param file the Markdown file
 */
record PerformancePage(Path file) {

    static final String GROUP = "group";
    static final List<String> SECTIONS =
            List.of(GROUP, "scope", "flow", "pool", "rate", "adaptive", "late", "scale", "fleet", "durable", "console");

    /** Returns the table of a section, with its markers. */
    static String table(String section, List<Row> rows, boolean judged, String machine) {
        StringBuilder text = new StringBuilder(beginOf(section)).append('\n').append(Row.HEAD);
        Row above = null;
        for (Row row : rows) {
            text.append('\n').append(row.line(judged, above));
            above = row;
        }
        return text.append("\n\n")
                .append(machine)
                .append(".\n")
                .append(endOf(section))
                .toString();
    }

    /** Replaces the table of a section, with its markers. */
    void replace(String section, String table) throws IOException {
        String page = Files.readString(file);
        int begin = page.indexOf(beginOf(section));
        int end = page.indexOf(endOf(section));
        if (begin < 0 || end < begin) {
            throw new IOException(file + " must contain " + beginOf(section) + " before " + endOf(section));
        }
        Files.writeString(
                file,
                page.substring(0, begin)
                        + table
                        + page.substring(end + endOf(section).length()));
    }

    private static String beginOf(String section) {
        return "<!-- " + section + ":begin -->";
    }

    private static String endOf(String section) {
        return "<!-- " + section + ":end -->";
    }
}
