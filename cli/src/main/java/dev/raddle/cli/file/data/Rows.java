package dev.raddle.cli.file.data;

import java.util.List;
import java.util.Set;

/**
 * The rows of a data file or of an inline list.
 *
 * @param names the names of all values; each occurs in at least one row
 */
public record Rows(Set<String> names, List<Row> rows) {
    static final Rows NONE = new Rows(Set.of(), List.of());
}
