package dev.raddle.cli.file.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.value.Problem;
import dev.raddle.cli.file.value.Problems;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowReaderTest {
    private final Problems problems = new Problems();

    private Rows read(String file, String text) {
        return new RowReader(file, problems).read(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> values(Rows rows, String name) throws InvalidRowException {
        List<String> values = new ArrayList<>();
        for (Row row : rows.rows()) {
            values.add(row.value(name));
        }
        return values;
    }

    @Test
    void a_text_file_has_one_row_for_every_line_that_is_not_blank() throws InvalidRowException {
        Rows rows = read("urls.txt", "one\r\n\n  \ntwo words\nthree\rstill three");

        assertThat(values(rows, "line")).containsExactly("one", "two words", "three\rstill three");
        assertThat(values(rows, "n")).containsExactly("1", "2", "3");
        assertThat(rows.rows().get(1).at()).hasToString("urls.txt:4:1");
    }

    @Test
    void a_byte_order_mark_is_not_data() throws InvalidRowException {
        assertThat(values(read("urls.txt", "\uFEFFone\n"), "line")).containsExactly("one");
        assertThat(values(read("data.csv", "\uFEFFa\n1\n"), "a")).containsExactly("1");
    }

    @Test
    void bytes_that_are_not_utf_8_are_a_problem_with_their_line() {
        Rows rows = new RowReader("urls.txt", problems).read(new byte[] {'a', '\n', 'b', (byte) 0xFF, '\n'});

        assertThat(rows.rows()).isEmpty();
        assertThat(problems.list())
                .extracting(Problem::toString)
                .containsExactly("urls.txt:2:1: the file must be UTF-8, this line is not");
    }

    @Test
    void a_json_array_has_a_row_for_every_item() throws InvalidRowException {
        Rows rows =
                read("data.json", "[{\"url\": \"http://a/\", \"n2\": 1.50, \"ok\": true},\n \"\\ud83d\\ude00\\/\"]");

        assertThat(rows.rows().get(0).value("url")).isEqualTo("http://a/");
        assertThat(rows.rows().get(0).value("n2")).isEqualTo("1.50");
        assertThat(rows.rows().get(0).value("ok")).isEqualTo("true");
        assertThat(rows.rows().get(1).value("line")).isEqualTo("😀/");
        assertThat(rows.rows().get(1).at()).hasToString("data.json:2:2");
        assertThat(rows.names()).containsExactly("url", "n2", "ok", "line");
    }

    @Test
    void json_lines_have_a_row_for_every_line() throws InvalidRowException {
        Rows rows = read("data.jsonl", "{\"a\": 1}\n\n{\"a\": 2}\n");

        assertThat(values(rows, "a")).containsExactly("1", "2");
        assertThat(rows.rows().get(1).at()).hasToString("data.jsonl:3:1");
    }

    @Test
    void every_invalid_json_line_is_a_problem_with_its_location() {
        read("data.ndjson", "{\"a\": 1}\n{\"a\": \n{\"a\": 1, \"a\": 2}\n");

        assertThat(problems.list()).hasSize(2);
        assertThat(problems.list().get(0).at().line()).isEqualTo(2);
        assertThat(problems.list().get(1)).hasToString("data.ndjson:3:10: key \"a\" occurs twice in this object");
    }

    @Test
    void a_json_file_must_be_an_array() {
        read("data.json", "{\"a\": 1}");

        assertThat(problems.list())
                .extracting(Problem::toString)
                .containsExactly(
                        "data.json:1:1: a .json data file must be an array (one object a line: .jsonl), was a map");
    }

    @Test
    void only_a_text_a_number_or_a_boolean_can_be_substituted() {
        Row row = read("data.json", "[{\"a\": null, \"b\": [1], \"c\": {\"d\": 1}}]")
                .rows()
                .getFirst();

        assertThatThrownBy(() -> row.value("a")).hasMessage("${a} must be a text, a number or a boolean, was nothing");
        assertThatThrownBy(() -> row.value("b")).hasMessageContaining("was a list of 1");
        assertThatThrownBy(() -> row.value("c")).hasMessageContaining("was a map");
        assertThatThrownBy(() -> row.value("e")).hasMessageContaining("there is no value \"e\" here");
    }
}
