package dev.raddle.cli.file.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.value.Problem;
import dev.raddle.cli.file.value.Problems;
import org.junit.jupiter.api.Test;

class CsvReaderTest {
    private final Problems problems = new Problems();

    private Rows read(String text) {
        return new CsvReader("data.csv", text, problems).read();
    }

    private static String value(Rows rows, int row, String name) throws InvalidRowException {
        return rows.rows().get(row).value(name);
    }

    @Test
    void the_header_names_the_values_of_each_record() throws InvalidRowException {
        Rows rows = read("id,url\n1,http://a/\n2,http://b/\n");

        assertThat(rows.names()).containsExactly("id", "url");
        assertThat(rows.rows()).hasSize(2);
        assertThat(value(rows, 0, "url")).isEqualTo("http://a/");
        assertThat(value(rows, 1, "id")).isEqualTo("2");
        assertThat(value(rows, 1, "n")).isEqualTo("2");
        assertThat(value(rows, 1, "url.host")).isEqualTo("b");
        assertThat(problems.list()).isEmpty();
    }

    @Test
    void a_quoted_field_may_contain_commas_quotes_and_line_breaks() throws InvalidRowException {
        Rows rows = read("a,b\r\n\"x, \"\"y\"\"\r\nz\",\"\"\r\nlast,\"line\"");

        assertThat(value(rows, 0, "a")).isEqualTo("x, \"y\"\r\nz");
        assertThat(value(rows, 0, "b")).isEmpty();
        assertThat(value(rows, 1, "a")).isEqualTo("last");
        assertThat(value(rows, 1, "b")).isEqualTo("line");
        assertThat(rows.rows().get(1).at()).hasToString("data.csv:4:1");
        assertThat(problems.list()).isEmpty();
    }

    @Test
    void spaces_are_part_of_a_field_and_empty_lines_are_not_records() throws InvalidRowException {
        Rows rows = read("a,b\n\n x , y \n\n");

        assertThat(rows.rows()).hasSize(1);
        assertThat(value(rows, 0, "a")).isEqualTo(" x ");
    }

    @Test
    void every_invalid_record_is_a_problem_with_its_location() {
        read("a,b\n1\n1,2,3\nx\"y,2\n\"open,2\n");

        assertThat(problems.list())
                .extracting(Problem::toString)
                .containsExactly(
                        "data.csv:2:1: every record must have as many fields as the header line, 2, this one has 1",
                        "data.csv:3:1: every record must have as many fields as the header line, 2, this one has 3",
                        "data.csv:4:2: a field that contains a double quote must be enclosed in double quotes, with"
                                + " every double quote inside written twice",
                        "data.csv:4:1: every record must have as many fields as the header line, 2, this one has 1",
                        "data.csv:5:1: a field that begins with a double quote must end with one; this one has none",
                        "data.csv:5:1: every record must have as many fields as the header line, 2, this one has 1");
    }

    @Test
    void text_after_a_closing_quote_is_a_problem() {
        read("a\n\"x\"y\n");

        assertThat(problems.list())
                .extracting(Problem::toString)
                .containsExactly(
                        "data.csv:2:4: the closing double quote must be followed by a comma or the end of the line,"
                                + " was \"y\"");
    }

    @Test
    void column_names_must_be_unique_and_not_empty() {
        read("a,,a\n");

        assertThat(problems.list())
                .extracting(Problem::text)
                .containsExactly(
                        "every column of a CSV file must have a name in the header line; column 2 has none",
                        "column \"a\" occurs twice in the header line");
    }

    @Test
    void an_empty_file_has_no_header() {
        assertThat(read("").rows()).isEmpty();
        assertThat(problems.list())
                .extracting(Problem::text)
                .first()
                .asString()
                .contains("must begin with a header line");
    }
}
