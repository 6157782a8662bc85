package dev.raddle.console;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Computes JSON Merge Patches.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc7396">RFC 7396</a>
 */
final class MergePatch {

    private MergePatch() {}

    /** Returns the patch that makes one object of another, neither of which has a null as a member; empty if equal. */
    static ObjectNode between(ObjectNode from, ObjectNode to) {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        for (Map.Entry<String, JsonNode> member : to.properties()) {
            JsonNode change = change(from.get(member.getKey()), member.getValue());
            if (change != null) {
                patch.set(member.getKey(), change);
            }
        }
        for (Map.Entry<String, JsonNode> member : from.properties()) {
            if (!to.has(member.getKey())) {
                patch.putNull(member.getKey());
            }
        }
        return patch;
    }

    private static @Nullable JsonNode change(@Nullable JsonNode before, JsonNode now) {
        if (before instanceof ObjectNode from && now instanceof ObjectNode to) {
            ObjectNode inside = between(from, to);
            return inside.isEmpty() ? null : inside;
        }
        return now.equals(before) ? null : now;
    }
}
