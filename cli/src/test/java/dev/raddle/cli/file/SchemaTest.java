package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Compares the published schema with the keys that the reader accepts. */
class SchemaTest {
    private Map<?, ?> schema = Map.of();

    @BeforeEach
    void read() throws IOException {
        try (InputStream input = Objects.requireNonNull(
                SchemaTest.class.getResourceAsStream("/dev/raddle/cli/raddle-file.schema.json"))) {
            String text = new String(input.readAllBytes(), StandardCharsets.UTF_8);
            schema = (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(text);
        }
    }

    private static Map<?, ?> in(Map<?, ?> map, String... path) {
        Map<?, ?> inner = map;
        for (String key : path) {
            inner = (Map<?, ?>) Objects.requireNonNull(inner.get(key), key);
        }
        return inner;
    }

    private static List<String> keys(Map<?, ?> object) {
        assertThat(object.get("additionalProperties")).isEqualTo(false);
        return in(object, "properties").keySet().stream().map(String::valueOf).toList();
    }

    @Test
    void the_schema_has_exactly_the_keys_that_the_reader_accepts() {
        Map<?, ?> retry = (Map<?, ?>) ((List<?>) in(schema, "$defs", "retry").get("oneOf")).get(1);

        assertThat(keys(schema)).containsExactlyElementsOf(Keys.FILE);
        assertThat(keys(in(schema, "properties", "total"))).containsExactlyElementsOf(Keys.TOTAL);
        assertThat(keys(in(schema, "$defs", "defaults"))).containsExactlyElementsOf(Keys.DEFAULTS);
        assertThat(keys(in(schema, "$defs", "group"))).containsExactlyElementsOf(Keys.GROUP);
        assertThat(keys(in(schema, "$defs", "task"))).containsExactlyElementsOf(Keys.TASK);
        Map<?, ?> fallback = (Map<?, ?>)
                ((List<?>) in(schema, "$defs", "task", "properties", "fallback").get("oneOf")).get(1);
        assertThat(keys(in(schema, "$defs", "need"))).containsExactlyElementsOf(Keys.NEED);
        assertThat(keys(fallback)).containsExactlyElementsOf(Keys.FALLBACK);
        assertThat(keys(retry)).containsExactlyElementsOf(Keys.RETRY);
    }

    @Test
    void the_patterns_of_durations_are_those_of_the_reader() {
        String duration = (String) in(schema, "$defs", "duration").get("pattern");
        Map<?, ?> retry = (Map<?, ?>) ((List<?>) in(schema, "$defs", "retry").get("oneOf")).get(1);
        String backoff = (String) in(retry, "properties", "backoff").get("pattern");

        assertThat(List.of("200ms", "5s", "1.5m", "1h")).allMatch(text -> text.matches(duration));
        assertThat(List.of("5", "5 s", "s", "1d")).noneMatch(text -> text.matches(duration));
        String rate = (String) in(schema, "$defs", "rate").get("pattern");
        assertThat(List.of("5/s", "300/m", "10/30s", "1/1.5h")).allMatch(text -> text.matches(rate));
        assertThat(List.of("5", "0/s", "5/", "5/d", "/s")).noneMatch(text -> text.matches(rate));
        assertThat(List.of("200ms", "200ms..5s", "1.5s..1m")).allMatch(text -> text.matches(backoff));
        assertThat(List.of("200ms..", "..5s", "1s..2s..3s")).noneMatch(text -> text.matches(backoff));
    }

    @Test
    void every_reference_in_the_schema_can_be_resolved() {
        assertThat(references(schema)).isNotEmpty().allSatisfy(reference -> {
            assertThat(reference).startsWith("#/$defs/");
            assertThat(in(schema, "$defs").get(reference.substring("#/$defs/".length())))
                    .isNotNull();
        });
    }

    private static List<String> references(Object node) {
        return switch (node) {
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .flatMap(entry -> entry.getKey().equals("$ref")
                                ? Stream.of((String) entry.getValue())
                                : references(entry.getValue()).stream())
                        .toList();
            case List<?> list ->
                list.stream().flatMap(item -> references(item).stream()).toList();
            default -> List.of();
        };
    }
}
