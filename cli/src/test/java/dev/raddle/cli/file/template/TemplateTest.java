package dev.raddle.cli.file.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.value.Location;
import org.junit.jupiter.api.Test;

class TemplateTest {
    private static final Row ROW = Row.ofLine(new Location("urls.txt", 3, 1), 7, "http://example.org/a");

    @Test
    void placeholders_are_replaced_by_values() throws InvalidRowException {
        assertThat(Template.parse("page-${n} of ${host}: ${line}", Syntax.ROWS).fill(ROW))
                .isEqualTo("page-7 of example.org: http://example.org/a");
    }

    @Test
    void braces_are_the_line_where_that_is_wanted() throws InvalidRowException {
        assertThat(Template.parse("<{}>", Syntax.arguments(name -> null)).fill(ROW))
                .isEqualTo("<http://example.org/a>");
        assertThat(Template.parse("<{}>", Syntax.ROWS).fill(ROW)).isEqualTo("<{}>");
    }

    @Test
    void two_dollars_are_an_escape_for_one() throws InvalidRowException {
        assertThat(Template.parse("$${line} $x $$", Syntax.ROWS).fill(ROW)).isEqualTo("${line} $x $$");
    }

    @Test
    void a_value_is_never_parsed_as_a_template() throws InvalidRowException {
        Row row = Row.ofLine(ROW.at(), 1, "${n} $${n} {}");

        assertThat(Template.parse("${line}", Syntax.arguments(name -> null)).fill(row))
                .isEqualTo("${n} $${n} {}");
    }

    @Test
    void names_are_in_the_order_of_their_first_use() {
        assertThat(Template.parse("${b}${a}${b}", Syntax.ROWS).names()).containsExactly("b", "a");
    }

    @Test
    void a_placeholder_without_an_end_or_a_name_is_refused() {
        assertThatThrownBy(() -> Template.parse("a ${line", Syntax.ROWS))
                .hasMessageContaining("without an end: \"${line\"");
        assertThatThrownBy(() -> Template.parse("a ${}", Syntax.ROWS)).hasMessageContaining("without a name");
    }

    @Test
    void a_line_that_is_not_a_url_has_no_host() {
        Row row = Row.ofLine(ROW.at(), 1, "plain");

        assertThatThrownBy(() -> Template.parse("${host}", Syntax.ROWS).fill(row))
                .hasMessage("${host} needs a URL with a host, such as http://example.org/a, was \"plain\"");
    }

    @Test
    void a_value_with_the_character_nul_is_refused() {
        Row row = Row.ofLine(ROW.at(), 1, "a\0b");

        assertThatThrownBy(() -> Template.parse("${line}", Syntax.ROWS).fill(row))
                .hasMessage("${line} must not contain the character NUL, was \"a\\u0000b\"");
    }
}
