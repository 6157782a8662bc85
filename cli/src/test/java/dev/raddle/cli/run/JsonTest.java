package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.data.JsonLine;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @Test
    void maps_lists_and_values_become_one_line() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("text", "a\n\"b\" \\ \t\u0001\u007f");
        map.put("nothing", null);
        map.put("list", Arrays.asList(1, 2L, true, null, List.of()));
        map.put("map", Map.of());
        map.put("path", Path.of("/a/b"));

        assertThat(Json.text(map))
                .isEqualTo("{\"text\":\"a\\n\\\"b\\\" \\\\ \\t\\u0001\\u007f\",\"nothing\":null,"
                        + "\"list\":[1,2,true,null,[]],\"map\":{},\"path\":\"/a/b\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "größe 日本 😀",
                "a\u2028b\u0085c",
                "\r\n\t\b\f",
                "\u0000",
                "{\"a\": [1]}",
                "# no: [comment"
            })
    void every_text_is_read_back_as_it_was(String text) {
        assertThat(JsonLine.parse(Json.text(Map.of("x", text))).orElseThrow().text("x"))
                .contains(text);
    }

    @Test
    void an_unpaired_surrogate_is_escaped() {
        assertThat(Json.text("a\uD83Db\uDE00")).isEqualTo("\"a\\ud83db\\ude00\"");
    }
}
