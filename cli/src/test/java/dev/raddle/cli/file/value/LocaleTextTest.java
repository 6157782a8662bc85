package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocaleTextTest {
    @Test
    void a_text_that_the_locale_cannot_encode_is_refused() {
        assertThatThrownBy(() -> LocaleText.check(List.of("echo", "größe"), StandardCharsets.US_ASCII))
                .hasMessage("the locale's character set, US-ASCII, cannot encode \"größe\"; set LC_ALL=C.UTF-8");
        assertThatThrownBy(() -> LocaleText.check(List.of("日本"), StandardCharsets.ISO_8859_1))
                .hasMessageContaining("cannot encode \"日本\"");
    }

    @Test
    void a_text_that_the_locale_can_encode_is_accepted() {
        assertThatCode(() -> LocaleText.check(List.of("größe", "b"), StandardCharsets.ISO_8859_1))
                .doesNotThrowAnyException();
        assertThatCode(() -> LocaleText.check(List.of("日本 😀"), StandardCharsets.UTF_8))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-8", "US-ASCII", "ISO-8859-1"})
    void every_sequence_of_bytes_becomes_a_text_and_the_same_bytes_again(String name) {
        Charset charset = Charset.forName(name);
        Random random = new Random(30);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = new byte[random.nextInt(12)];
            random.nextBytes(bytes);
            assertThat(LocaleText.bytes(LocaleText.text(bytes, charset), charset))
                    .isEqualTo(bytes);
        }
        byte[] text = "größe 日本 😀".getBytes(StandardCharsets.UTF_8);
        assertThat(LocaleText.bytes(LocaleText.text(text, charset), charset)).isEqualTo(text);
    }

    @Test
    void a_byte_that_is_no_text_is_not_refused() {
        String text = LocaleText.text(new byte[] {'a', (byte) 0xE9}, StandardCharsets.US_ASCII);

        assertThat(text).isEqualTo("a\uDCE9");
        assertThatCode(() -> LocaleText.check(List.of(text), StandardCharsets.US_ASCII))
                .doesNotThrowAnyException();
    }
}
