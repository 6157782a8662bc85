package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads comma-separated values with a header line. Fields in double quotes may contain commas, line breaks, and doubled
 * double quotes. For one thread.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc4180">RFC 4180</a>
 */
final class CsvReader {
    private final String file;
    private final String text;
    private final Problems problems;
    private int index;
    private int line = 1;
    private int lineStart;

    CsvReader(String file, String text, Problems problems) {
        this.file = file;
        this.text = text;
        this.problems = problems;
    }

    Rows read() {
        Location top = here();
        if (text.isBlank()) {
            problems.add(top, "a CSV file must begin with a header line that names its columns, was empty");
            return Rows.NONE;
        }
        List<String> header = record();
        Set<String> names = new LinkedHashSet<>();
        for (String name : header) {
            if (name.isBlank()) {
                problems.add(
                        top,
                        "every column of a CSV file must have a name in the header line; column " + (names.size() + 1)
                                + " has none");
            } else if (!names.add(name.strip())) {
                problems.add(top, "column \"" + Printable.oneLine(name.strip()) + "\" occurs twice in the header line");
            }
        }
        List<Row> rows = new ArrayList<>();
        while (index < text.length()) {
            Location at = here();
            List<String> fields = record();
            if (fields.size() == 1 && fields.getFirst().isBlank()) {
                continue;
            }
            if (fields.size() != header.size()) {
                problems.add(
                        at,
                        "every record must have as many fields as the header line, " + header.size() + ", this one has "
                                + fields.size());
            } else {
                rows.add(new Row(at, rows.size() + 1L, cells(header, fields)));
            }
        }
        return new Rows(names, rows);
    }

    private static Map<String, Row.Cell> cells(List<String> header, List<String> fields) {
        Map<String, Row.Cell> cells = new LinkedHashMap<>();
        for (int i = 0; i < fields.size(); i++) {
            cells.put(header.get(i).strip(), Row.Cell.of(fields.get(i)));
        }
        return cells;
    }

    private Location here() {
        return new Location(file, line, index - lineStart + 1);
    }

    /** Reads one record and the line break after it. */
    private List<String> record() {
        List<String> fields = new ArrayList<>();
        while (true) {
            fields.add(isAt('"') ? quoted() : bare());
            if (isAt(',')) {
                index++;
            } else {
                endLine();
                return fields;
            }
        }
    }

    private String bare() {
        int from = index;
        while (index < text.length() && !isAt(',') && !isAtLineEnd()) {
            if (isAt('"')) {
                problems.add(
                        here(),
                        "a field that contains a double quote must be enclosed in double quotes, with"
                                + " every double quote inside written twice");
                skipLine();
                break;
            }
            index++;
        }
        return text.substring(from, index);
    }

    private String quoted() {
        Location at = here();
        StringBuilder field = new StringBuilder();
        index++;
        while (index < text.length()) {
            if (!isAt('"')) {
                character(field);
            } else if (text.startsWith("\"\"", index)) {
                field.append('"');
                index += 2;
            } else {
                index++;
                if (index < text.length() && !isAt(',') && !isAtLineEnd()) {
                    problems.add(
                            here(),
                            "the closing double quote must be followed by a comma or the end of the line, was \""
                                    + Printable.oneLine(text.substring(index, index + 1)) + "\"");
                    skipLine();
                }
                return field.toString();
            }
        }
        problems.add(at, "a field that begins with a double quote must end with one; this one has none");
        return field.toString();
    }

    private void character(StringBuilder field) {
        if (isAt('\n')) {
            line++;
            lineStart = index + 1;
        }
        field.append(text.charAt(index++));
    }

    private void skipLine() {
        while (index < text.length() && !isAtLineEnd()) {
            index++;
        }
    }

    private void endLine() {
        if (isAt('\r')) {
            index++;
        }
        if (isAt('\n')) {
            index++;
            line++;
            lineStart = index;
        }
    }

    private boolean isAt(char c) {
        return index < text.length() && text.charAt(index) == c;
    }

    private boolean isAtLineEnd() {
        return isAt('\n') || text.startsWith("\r\n", index) || (isAt('\r') && index == text.length() - 1);
    }
}
