package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.value.Location;
import org.junit.jupiter.api.Test;

class GroupByTest {
    private static String group(String groupBy, String line) throws InvalidRowException {
        return GroupBy.parse(groupBy, Syntax.arguments(name -> null))
                .group(Row.ofLine(new Location("standard input", 1, 1), 5, line), line);
    }

    @Test
    void without_it_all_lines_are_one_group() throws InvalidRowException {
        assertThat(group(null, "x")).isEqualTo("all");
    }

    @Test
    void placeholders_are_filled() throws InvalidRowException {
        assertThat(group("${host}", "http://Example.org:80/a")).isEqualTo("example.org");
        assertThat(group("all-{}", "x")).isEqualTo("all-x");
        assertThat(group("/", "x")).isEqualTo("/");
    }

    @Test
    void the_group_is_the_first_group_of_a_regular_expression_or_else_the_whole_match() throws InvalidRowException {
        assertThat(group("/^(\\w+)\\s+(\\w+)/", "one two")).isEqualTo("one");
        assertThat(group("/[0-9]+/", "abc 123")).isEqualTo("123");
        assertThat(group("/^(a)?b/", "b")).isEmpty();
    }

    @Test
    void a_line_that_does_not_match_is_an_error() {
        assertThatThrownBy(() -> group("/^\\d/", "x\ny")).hasMessage("--group-by /^\\d/ must match, was \"x\\ny\"");
        assertThatThrownBy(() -> group("${host}", "x")).hasMessageContaining("${host} needs a URL with a host");
    }

    @Test
    void an_invalid_value_is_refused() {
        assertThatThrownBy(() -> GroupBy.parse("/(/", Syntax.arguments(name -> null)))
                .hasMessage("must be a regular expression, \"(\" is not valid: Unclosed group near index 1");
        assertThatThrownBy(() -> GroupBy.parse("${hots}", Syntax.arguments(name -> null)))
                .hasMessageContaining("has the unknown placeholder ${hots} (known: ${line}, ${n}, ${host}");
        assertThatThrownBy(() -> GroupBy.parse("${host", Syntax.arguments(name -> null)))
                .hasMessageContaining("has a placeholder without an end");
    }
}
