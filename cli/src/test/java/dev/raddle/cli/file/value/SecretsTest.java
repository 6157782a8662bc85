package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsTest {
    private static Secrets of(String... values) {
        return new Secrets(Set.of("NAME"), List.of(values), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Filters a text in parts of a size. */
    private static String filtered(Secrets secrets, String text, int size) {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        Secrets.Filter filter = secrets.filter(shown);
        byte[] bytes = bytes(text);
        for (int i = 0; i < bytes.length; i += size) {
            assertThat(filter.write(bytes, i, Math.min(bytes.length, i + size))).isEqualTo(-1);
        }
        filter.end();
        return shown.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({
        "hunter22,                <hunter22>,              <***>",
        "hunter22,                hunter2 hunter22,        hunter2 ***",
        "hunter22,                hunhunter222,            hun***2",
        "hunter22,                hunter22hunter22,        ***",
        "abcdef bcde,             xbcdey abcdef abcde,     x***y *** a***",
        "abcd cdef,               abcdef,                  ***",
        "abcdX bcde,              abcde abcdX,             a*** ***",
        "aaaa,                    baaaaaab aaa,            b***b aaa",
        "abcabd,                  abcabcabdabc,            abc***abc",
        "größe,                   die größe größ,          die *** größ",
        "nothing,                 text,                    text"
    })
    void every_byte_of_a_secret_is_hidden_however_the_text_is_divided(String values, String text, String expected) {
        Secrets secrets = of(values.split(" "));

        assertThat(secrets.mask(text)).isEqualTo(expected);
        for (int size = 1; size <= text.length(); size++) {
            assertThat(filtered(secrets, text, size)).isEqualTo(expected);
        }
    }

    @Test
    void random_texts_are_hidden_as_a_simple_search_would() {
        Random random = new Random(7);
        for (int i = 0; i < 5_000; i++) {
            List<String> values = IntStream.range(0, 1 + random.nextInt(4))
                    .mapToObj(n -> word(random, 4 + random.nextInt(5)))
                    .toList();
            String text = word(random, random.nextInt(60));

            assertThat(filtered(of(values.toArray(String[]::new)), text, 1 + random.nextInt(9)))
                    .as(text + " without " + values)
                    .isEqualTo(searched(values, text));
        }
    }

    private static String word(Random random, int length) {
        return random.ints(length, 'a', 'c')
                .collect(StringBuilder::new, (word, letter) -> word.append((char) letter), StringBuilder::append)
                .toString();
    }

    private static String searched(List<String> values, String text) {
        char[] hidden = text.toCharArray();
        for (String value : values) {
            for (int at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
                Arrays.fill(hidden, at, at + value.length(), '*');
            }
        }
        return new String(hidden).replaceAll("\\*+", "***");
    }

    @Test
    void only_what_may_become_a_secret_is_held_back() {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        Secrets.Filter filter = of("hunter22", "ntel").filter(shown);

        filter.write(bytes("a line\nhunte"), 0, 12);
        assertThat(shown.toString(StandardCharsets.UTF_8)).isEqualTo("a line\n");
        filter.write(bytes("l"), 0, 1);
        assertThat(shown.toString(StandardCharsets.UTF_8)).isEqualTo("a line\nhu***");
        filter.write(bytes("hunter2"), 0, 7);
        filter.end();
        assertThat(shown.toString(StandardCharsets.UTF_8)).isEqualTo("a line\nhu***hunter2");
    }

    @Test
    void the_lines_of_a_secret_are_hidden_one_by_one_unless_they_are_short() {
        Secrets secrets = of("-----BEGIN-----\r\n  0123456789\nab\n-----END-----\n");

        assertThat(secrets.mask("> -----BEGIN-----\n> 0123456789\n> ab\n> -----END-----"))
                .isEqualTo("> ***\n> ***\n> ab\n> ***");
        assertThat(of("a\nb\nc").mask("x a\nb\nc y a\nb")).isEqualTo("x *** y a\nb");
    }

    @Test
    void the_bytes_of_another_character_set_are_hidden_as_well() {
        Secrets secrets = new Secrets(Set.of(), List.of("größe"), StandardCharsets.ISO_8859_1);
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        Secrets.Filter filter = secrets.filter(shown);
        byte[] printed = "<größe>".getBytes(StandardCharsets.ISO_8859_1);

        filter.write(printed, 0, printed.length);
        filter.end();

        assertThat(shown.toString(StandardCharsets.ISO_8859_1)).isEqualTo("<***>");
        assertThat(secrets.mask("<größe>")).isEqualTo("<***>");
    }

    @Test
    void the_mark_is_found_however_it_is_divided_and_releases_what_is_held_back() {
        byte[] mark = Secrets.mark();
        for (int split = 1; split < mark.length; split++) {
            ByteArrayOutputStream shown = new ByteArrayOutputStream();
            Secrets.Filter filter = of("hunter22").filter(shown);
            filter.write(bytes("xhunter2"), 0, 8);

            assertThat(filter.write(mark, 0, split)).isEqualTo(-1);
            assertThat(filter.write(mark, split, mark.length)).isEqualTo(mark.length);

            assertThat(shown.toString(StandardCharsets.UTF_8)).isEqualTo("xhunter2");
            filter.write(bytes("2hunter22"), 0, 9);
            assertThat(shown.toString(StandardCharsets.UTF_8)).isEqualTo("xhunter22***");
        }
    }

    @Test
    void the_line_of_the_first_secret_is_found() {
        assertThat(of("hunter22").firstLine(bytes("a\nb\nhunter22\nhunter22"))).isEqualTo(3);
        assertThat(of("hunter22").firstLine(bytes("hunter2"))).isZero();
        assertThat(Secrets.NONE.mask("text")).isEqualTo("text");
    }
}
