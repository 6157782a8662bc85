package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.Documents;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Values;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** A JSON object that has been parsed. A field that is absent, null or of another type is empty. */
public final class JsonLine {
    private final Map<String, Values.Entry> fields;

    private JsonLine(Map<String, Values.Entry> fields) {
        this.fields = fields;
    }

    /** Parses an object; returns empty if the text is not a complete JSON object. */
    public static Optional<JsonLine> parse(String text) {
        Problems problems = new Problems();
        Node node = Documents.parse(text, "JSON", problems);
        Map<String, Values.Entry> fields = node == null ? null : new Values(problems).map(node, "the object");
        return fields == null || problems.count() > 0 ? Optional.empty() : Optional.of(new JsonLine(fields));
    }

    public Optional<String> text(String name) {
        return Optional.ofNullable(scalar(name));
    }

    public OptionalLong number(String name) {
        String text = scalar(name);
        try {
            return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns an object inside this one. */
    public JsonLine object(String name) {
        Values.Entry entry = fields.get(name);
        Map<String, Values.Entry> inner = entry == null ? null : new Values(new Problems()).map(entry.value(), name);
        return new JsonLine(inner == null ? Map.of() : inner);
    }

    /** Returns every field that is a text, a number or a boolean. */
    public Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        fields.keySet().forEach(name -> text(name).ifPresent(text -> texts.put(name, text)));
        return texts;
    }

    private @Nullable String scalar(String name) {
        Values.Entry entry = fields.get(name);
        return entry != null
                        && entry.value() instanceof ScalarNode scalar
                        && !scalar.getTag().equals(Tag.NULL)
                ? scalar.getValue()
                : null;
    }
}
