package dev.raddle.cli.file.data;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlsTest {
    @ParameterizedTest
    @CsvSource({
        "http://example.org/a, example.org",
        "https://Example.ORG, example.org",
        "http://user:secret@example.org:8080/x?y=http://other/, example.org",
        "ftp://127.0.0.2:21, 127.0.0.2",
        "http://[::1]:80/, [::1]",
        "http://example.org/a b|c{d}, example.org",
        "http://example.org#x, example.org",
        "http://evil.org#@example.org/, evil.org",
        "http://evil.org/@example.org, evil.org"
    })
    void the_host_is_the_one_to_which_a_client_would_connect(String url, String host) {
        assertThat(Urls.host(url)).isEqualTo(host);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "example.org", "/a/b", "mailto:a@b", "http:///x", "http://", "://x", "a b://c"})
    void a_text_without_a_host_has_none(String text) {
        assertThat(Urls.host(text)).isNull();
    }

    @Test
    void a_long_line_is_parsed_quickly() {
        assertThat(Urls.host("http://h/" + "a@".repeat(200_000))).isEqualTo("h");
    }
}
