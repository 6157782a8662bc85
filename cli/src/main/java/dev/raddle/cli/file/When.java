package dev.raddle.cli.file;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A condition of which only the values of other tasks are unknown.
 *
 * @param row every value that is known before the run
 */
public record When(Condition condition, Row row) {

    /** What it asks of other tasks. */
    public Set<Reference> references() {
        Set<Reference> references = new LinkedHashSet<>();
        condition.names().stream()
                .filter(name -> !row.cells().containsKey(name))
                .forEach(name ->
                        Reference.of(name).filter(found -> !found.isParam()).ifPresent(references::add));
        return references;
    }

    /**
     * Whether it holds.
     *
     * @param values by the names of the references
     * @throws UnfitRowException if a value is missing
     */
    public boolean holds(Map<String, String> values) throws UnfitRowException {
        return condition.holds(row.with(values));
    }
}
