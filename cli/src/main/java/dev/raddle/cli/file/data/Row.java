package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Secrets;
import dev.raddle.cli.file.value.Spelling;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The values of a line, record or item, from which one task is created.
 *
 * @param at the location of the row
 * @param number the position of the row, counted from 1
 * @param cells the values by name
 * @param values the values for which <code>{}</code> stands, or an empty list
 */
public record Row(Location at, long number, Map<String, Cell> cells, List<String> values) {
    /** The name of the single value of a row that is a line of text, and of all values of a row of arguments. */
    public static final String LINE = "line";

    private static final String NUMBER = "n";
    private static final String HOST = "host";
    private static final String HOST_OF = "." + HOST;

    /** The parts of a path that a placeholder may name after a value, longer names first. */
    private static final List<String> PARTS = List.of("/.", "//", "/", ".");

    /** Creates a row of named values. */
    public Row(Location at, long number, Map<String, Cell> cells) {
        this(at, number, cells, List.of());
    }

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

    /**
     * Returns a row of arguments, which have numbers from 1 as names.
     *
     * @param least how many numbers have a value; an empty one if there are fewer arguments
     */
    public static Row ofArguments(Location at, long number, List<String> values, int least) {
        Map<String, Cell> cells = new HashMap<>();
        for (int i = 0; i < Math.max(values.size(), least); i++) {
            cells.put(Integer.toString(i + 1), Cell.of(i < values.size() ? values.get(i) : ""));
        }
        return new Row(at, number, cells, List.copyOf(values));
    }

    /**
     * Returns the name of the placeholder that is written in braces: <code>{}</code>, <code>{#}</code>, or a number or
     * name, each with a part of a path; null for any other text.
     *
     * @param columns the function from a number or name to the number of an argument, or to null
     */
    public static @Nullable String nameInBraces(String text, Function<String, @Nullable String> columns) {
        if (text.equals("#")) {
            return NUMBER;
        }
        String part = columns.apply(text) == null ? part(text) : "";
        String value = text.substring(0, text.length() - part.length());
        String name = value.isEmpty() ? LINE : columns.apply(value);
        return name == null ? null : name + part;
    }

    private static String part(String name) {
        return PARTS.stream().filter(name::endsWith).findFirst().orElse("");
    }

    /** Returns this row, or a row for each of its values if one of these names stands for all of them. */
    public List<Row> each(Set<String> names) {
        if (values.size() < 2 || names.stream().noneMatch(name -> name.equals(LINE + part(name)))) {
            return List.of(this);
        }
        return values.stream()
                .map(value -> new Row(at, number, cells, List.of(value)))
                .toList();
    }

    /** Returns this row with further values, which override its own. */
    public Row with(Map<String, String> values) {
        if (values.isEmpty()) {
            return this;
        }
        Map<String, Cell> all = new LinkedHashMap<>(cells);
        values.forEach((name, value) -> all.put(name, Cell.of(value)));
        return new Row(at, number, all, this.values);
    }

    /** Returns this row without secrets in its values. */
    public Row masked(Secrets secrets) {
        Map<String, String> masked = new LinkedHashMap<>();
        cells.forEach((name, cell) -> {
            if (cell.text != null) {
                masked.put(name, secrets.mask(cell.text));
            }
        });
        return with(masked);
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
        Cell cell = cell(name);
        if (cell != null) {
            return text(name, cell);
        }
        String part = part(name);
        if (!part.isEmpty()) {
            return partOf(value(name.substring(0, name.length() - part.length())), part);
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

    private @Nullable Cell cell(String name) {
        boolean all = name.equals(LINE) && !values.isEmpty();
        return all ? Cell.of(String.join(" ", values)) : cells.get(name);
    }

    /** Returns a path without its extension, its last name, its directory, or its last name without extension. */
    private static String partOf(String path, String part) {
        return switch (part) {
            case "." -> path.replaceFirst("\\.[^/.]+\\z", "");
            case "/" -> path.substring(path.lastIndexOf('/') + 1);
            case "/." -> partOf(partOf(path, "/"), ".");
            default -> {
                String directory = path.replaceFirst("/*[^/]*/*\\z", "");
                yield !directory.isEmpty() ? directory : path.startsWith("/") ? "/" : ".";
            }
        };
    }

    private String host(String placeholder, String name) throws InvalidRowException {
        Cell cell = cell(name);
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
