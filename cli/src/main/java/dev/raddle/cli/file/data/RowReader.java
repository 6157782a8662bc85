package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.FileSize;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Utf8;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Reads data files. The extension determines the format: {@code .csv}, {@code .json}, {@code .jsonl} or
 * {@code .ndjson}; any other file is text with one row per line. Empty and blank lines are skipped.
 */
final class RowReader {
    private final String file;
    private final Problems problems;

    RowReader(String file, Problems problems) {
        this.file = file;
        this.problems = problems;
    }

    Rows read(byte[] bytes) {
        String name = file.toLowerCase(Locale.ROOT);
        FileSize most = name.endsWith(".json") ? FileSize.PARSED : FileSize.LINES;
        String text = most.allows(bytes, file, problems) ? Utf8.decoded(file, bytes, problems) : null;
        if (text == null) {
            return Rows.NONE;
        }
        if (name.endsWith(".csv")) {
            return new CsvReader(file, text, problems).read();
        }
        if (name.endsWith(".json")) {
            return new JsonRows(file, problems).array(text);
        }
        return name.endsWith(".jsonl") || name.endsWith(".ndjson")
                ? new JsonRows(file, problems).lines(text)
                : lines(text);
    }

    private Rows lines(String text) {
        List<Row> rows = new ArrayList<>();
        Lines lines = new Lines(text);
        while (lines.next()) {
            if (!lines.line().isBlank()) {
                rows.add(Row.ofLine(new Location(file, lines.number(), 1), rows.size() + 1L, lines.line()));
            }
        }
        return new Rows(Set.of(Row.LINE), rows);
    }

    /**
     * The lines of a text. Only a line feed ends a line, with or without a preceding carriage return: a lone carriage
     * return is data. For one thread.
     */
    static final class Lines {
        private final String text;
        private int index;
        private int number;
        private String line = "";

        Lines(String text) {
            this.text = text;
        }

        boolean next() {
            if (index >= text.length()) {
                return false;
            }
            int feed = text.indexOf('\n', index);
            int end = feed < 0 ? text.length() : feed;
            line = text.substring(index, end > index && text.charAt(end - 1) == '\r' ? end - 1 : end);
            index = end + 1;
            number++;
            return true;
        }

        String line() {
            return line;
        }

        int number() {
            return number;
        }
    }
}
