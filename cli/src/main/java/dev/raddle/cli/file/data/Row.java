package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Spelling;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The values of a line, record or item, from which one task is created.
 *
 * @param at the location of the row
 * @param number the position of the row, counted from 1
 * @param cells the values by name
 */
public record Row(Location at, long number, Map<String, Cell> cells) {
    /** The name of the single value of a row that is a line of text. */
    public static final String LINE = "line";

    private static final String NUMBER = "n";
    private static final String HOST = "host";
    private static final String HOST_OF = "." + HOST;

    /** A value, or a description of what is there instead. */
    record Cell(@Nullable String text, String otherwise) {
        static Cell of(String text) {
            return new Cell(text, "");
        }
    }

    /** Returns a row that is a line of text. */
    public static Row ofLine(Location at, long number, String line) {
        return new Row(at, number, Map.of(LINE, Cell.of(line)));
    }

    /** Returns this row with further values, which override its own. */
    public Row with(Map<String, String> values) {
        if (values.isEmpty()) {
            return this;
        }
        Map<String, Cell> all = new LinkedHashMap<>(cells);
        values.forEach((name, value) -> all.put(name, Cell.of(value)));
        return new Row(at, number, all);
    }

    /** Returns every placeholder that is valid for rows with these values. */
    public static Set<String> placeholders(Set<String> names) {
        Set<String> all = new LinkedHashSet<>(names);
        all.add(NUMBER);
        if (names.contains(LINE)) {
            all.add(HOST);
        }
        names.forEach(name -> all.add(name + HOST_OF));
        return all;
    }

    /** Returns the values of those placeholders for which this row has one. */
    public Map<String, String> values(Set<String> names) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String name : names) {
            try {
                values.put(name, value(name));
            } catch (InvalidRowException e) {
                // such as the output of another task
            }
        }
        return values;
    }

    /** Returns the value of a placeholder. */
    public String value(String name) throws InvalidRowException {
        Cell cell = cells.get(name);
        if (cell != null) {
            return text(name, cell);
        }
        if (name.equals(NUMBER)) {
            return Long.toString(number);
        }
        if (name.equals(HOST)) {
            return host(name, LINE);
        }
        if (name.endsWith(HOST_OF)) {
            return host(name, name.substring(0, name.length() - HOST_OF.length()));
        }
        throw new InvalidRowException("there is no value \"" + Printable.oneLine(name) + "\" here, which ${" + name
                + "} needs" + Spelling.hint(name, cells.keySet()));
    }

    private String host(String placeholder, String name) throws InvalidRowException {
        Cell cell = cells.get(name);
        if (cell == null) {
            throw new InvalidRowException(
                    "there is no value \"" + name + "\" here, which ${" + placeholder + "} needs");
        }
        String url = text(name, cell);
        String host = Urls.host(url);
        if (host == null) {
            throw new InvalidRowException(
                    "${" + placeholder + "} needs a URL with a host, such as http://example.org/a, was \""
                            + Printable.oneLine(url) + "\"");
        }
        return host;
    }

    private static String text(String name, Cell cell) throws InvalidRowException {
        if (cell.text == null) {
            throw new InvalidRowException(
                    "${" + name + "} must be a text, a number or a boolean, was " + cell.otherwise);
        }
        if (cell.text.indexOf('\0') >= 0) {
            throw new InvalidRowException(
                    "${" + name + "} must not contain the character NUL, was \"" + Printable.oneLine(cell.text) + "\"");
        }
        return cell.text;
    }
}
