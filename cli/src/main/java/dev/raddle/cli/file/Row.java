package dev.raddle.cli.file;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The values of one line, record or item, from which one task is made.
 *
 * @param at where it stands
 * @param number its place among the rows, counted from 1
 * @param cells its values by name
 */
public record Row(Location at, long number, Map<String, Cell> cells) {
    /** The name of the only value of a row that is a line of text. */
    public static final String LINE = "line";

    private static final String NUMBER = "n";
    private static final String HOST = "host";
    private static final String HOST_OF = "." + HOST;

    /** A value, or in words what stands there in its place. */
    record Cell(@Nullable String text, String otherwise) {
        static Cell of(String text) {
            return new Cell(text, "");
        }
    }

    /** A row that is one line of text. */
    public static Row ofLine(Location at, long number, String line) {
        return new Row(at, number, Map.of(LINE, Cell.of(line)));
    }

    /** This row with further values, which come before its own. */
    Row with(Map<String, String> values) {
        if (values.isEmpty()) {
            return this;
        }
        Map<String, Cell> all = new LinkedHashMap<>(cells);
        values.forEach((name, value) -> all.put(name, Cell.of(value)));
        return new Row(at, number, all);
    }

    /** Every placeholder that rows with these values understand. */
    static Set<String> placeholders(Set<String> names) {
        Set<String> all = new LinkedHashSet<>(names);
        all.add(NUMBER);
        if (names.contains(LINE)) {
            all.add(HOST);
        }
        names.forEach(name -> all.add(name + HOST_OF));
        return all;
    }

    /** The value of a placeholder. */
    String value(String name) throws UnfitRowException {
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
        throw new UnfitRowException("there is no value \"" + Printable.oneLine(name) + "\" here, which ${" + name
                + "} needs" + Spelling.hint(name, cells.keySet()));
    }

    private String host(String placeholder, String name) throws UnfitRowException {
        Cell cell = cells.get(name);
        if (cell == null) {
            throw new UnfitRowException("there is no value \"" + name + "\" here, which ${" + placeholder + "} needs");
        }
        String url = text(name, cell);
        String host = Urls.host(url);
        if (host == null) {
            throw new UnfitRowException(
                    "${" + placeholder + "} needs a URL with a host, such as http://example.org/a, was \""
                            + Printable.oneLine(url) + "\"");
        }
        return host;
    }

    private static String text(String name, Cell cell) throws UnfitRowException {
        if (cell.text == null) {
            throw new UnfitRowException("${" + name + "} must be a text, a number or a boolean, was " + cell.otherwise);
        }
        if (cell.text.indexOf('\0') >= 0) {
            throw new UnfitRowException(
                    "${" + name + "} must not contain the character NUL, was \"" + Printable.oneLine(cell.text) + "\"");
        }
        return cell.text;
    }
}
