package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import java.util.Map;
import java.util.Set;

/**
 * A condition in which only the values of other tasks are unknown.
 *
 * @param row the values that are known before the run
 */
public record DeferredCondition(Condition condition, Row row) {

    /** Returns the values of other tasks that it refers to. */
    public Set<Reference> references() {
        return Reference.among(condition.names(), row);
    }

    /**
     * Returns whether the condition holds.
     *
     * @param values the values by the names of the references
     * @throws InvalidRowException if a value is missing
     */
    public boolean holds(Map<String, String> values) throws InvalidRowException {
        return condition.holds(row.with(values));
    }
}
