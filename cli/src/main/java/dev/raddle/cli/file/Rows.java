package dev.raddle.cli.file;

import java.util.List;
import java.util.Set;

/**
 * The rows of a data file or of an inline list.
 *
 * @param names the names of values that at least one row has
 */
record Rows(Set<String> names, List<Row> rows) {
    static final Rows NONE = new Rows(Set.of(), List.of());
}
