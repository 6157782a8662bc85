package dev.raddle.checks.flow;

import java.util.List;
import java.util.Set;

/**
 * One edge of a case.
 *
 * @param from the upstream's id
 * @param to the dependant's id
 * @param kind must, optional, after, or order (must without its data)
 */
record CaseEdge(String from, String to, String kind) {

    private static final Set<String> KINDS = Set.of("must", "optional", "after", "order");

    static CaseEdge parse(Object value) {
        List<Object> parts = JsonObject.list("an edge", value);
        if (parts.size() != 2 && parts.size() != 3) {
            throw new CaseFormatException("an edge must be [from, to, kind], was " + parts);
        }
        String where = "edge " + parts;
        String kind = parts.size() == 2 ? "must" : JsonObject.text(where, parts.get(2));
        if (!KINDS.contains(kind)) {
            throw new CaseFormatException(
                    where + " has the unknown kind \"" + kind + "\"; known are must, optional, after, order");
        }
        return new CaseEdge(JsonObject.text(where, parts.get(0)), JsonObject.text(where, parts.get(1)), kind);
    }
}
