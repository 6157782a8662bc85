package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

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
}
