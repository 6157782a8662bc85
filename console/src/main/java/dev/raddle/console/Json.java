package dev.raddle.console;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Records as JSON. A component that is null is left out: in a merge patch null means that a member is removed.
 * Characters outside ASCII are escaped: UTF-8 has no form for half of a surrogate pair, which a name may contain.
 */
final class Json {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .changeDefaultPropertyInclusion(all -> all.withValueInclusion(JsonInclude.Include.NON_NULL))
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .build();

    private Json() {}

    static ObjectNode object(Object value) {
        return MAPPER.valueToTree(value);
    }

    /** Returns a record as maps, lists, texts and numbers. */
    static Map<?, ?> plain(Object value) {
        return MAPPER.convertValue(value, Map.class);
    }

    static byte[] bytes(Object value) {
        return MAPPER.writeValueAsBytes(value);
    }

    /** Returns an event of a stream, whose data is one line: no string in JSON has a line break. */
    static byte[] event(String name, ObjectNode data) {
        return ("event: " + name + "\ndata: " + MAPPER.writeValueAsString(data) + "\n\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Reads a text that was written by this JVM. */
    static JsonNode read(String text) {
        return MAPPER.readTree(text);
    }

    /** Reads an object that a client has sent. */
    static ObjectNode readObject(byte[] bytes) {
        try {
            if (MAPPER.readTree(bytes) instanceof ObjectNode object) {
                return object;
            }
        } catch (JacksonException failure) {
            // answered below: the exception quotes what was sent
        }
        throw new Refusal(400, "the body must be one JSON object");
    }
}
