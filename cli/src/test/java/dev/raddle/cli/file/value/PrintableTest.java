package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTest {
    @Test
    void characters_that_move_the_cursor_are_made_visible() {
        assertThat(Printable.oneLine("a\033[2Jb\r\nc\u0007\u009b1mx"))
                .isEqualTo("a\\u001b[2Jb\\r\\nc\\u0007\\u009b1mx");
    }

    @Test
    void characters_that_reorder_a_line_are_made_visible() {
        assertThat(Printable.oneLine("a\u202Eb\u2066c")).isEqualTo("a\\u202eb\\u2066c");
    }

    @Test
    void an_unpaired_surrogate_is_made_visible() {
        assertThat(Printable.oneLine("a\uD83D")).isEqualTo("a\\ud83d");
    }

    @Test
    void letters_of_every_script_are_unchanged() {
        assertThat(Printable.oneLine("größe 日本 😀")).isEqualTo("größe 日本 😀");
    }
}
