package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.console.RawClient.Answer;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules by which requests are answered, with a client that sends what a browser would not. */
@Timeout(60)
class ConsoleSecurityTest {

    private static final String TOKEN = "a-token-of-the-tests-1";
    private static final String BEARER = "Authorization: Bearer " + TOKEN;
    private static final String JSON = "Content-Type: application/json";

    private final Console open = Console.start(ConsoleOptions.defaults().withPort(0));
    private final Console closed =
            Console.start(ConsoleOptions.defaults().withPort(0).withToken(TOKEN).withAllowedHosts("Ops.example"));

    @AfterEach
    void close() {
        open.close();
        closed.close();
    }

    private static String origin(URI uri) {
        return "Origin: http://localhost:" + uri.getPort();
    }

    // Names of the machine.

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "127.0.0.1", "[::1]", "LOCALHOST", "192.168.1.7"})
    void requests_for_an_address_or_for_localhost_are_answered(String host) throws IOException {
        assertThat(RawClient.get(open.uri(), "/", "Host: " + host).status()).isEqualTo(200);
        assertThat(RawClient.get(open.uri(), "/", "Host: " + host + ":1234").status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "evil.example:9090",
                "[::1",
                ""
            })
    void requests_for_another_name_are_refused(String host) throws IOException {
        assertThat(RawClient.get(open.uri(), "/", "Host: " + host).status()).isEqualTo(403);
        assertThat(RawClient.get(open.uri(), "/api/stream?view=groups", "Host: " + host)
                        .status())
                .isEqualTo(403);
    }

    @Test
    void requests_for_an_allowed_name_are_answered() throws IOException {
        assertThat(RawClient.get(closed.uri(), "/", "Host: ops.Example:80").status())
                .isEqualTo(200);
    }

    // Other sites.

    @ParameterizedTest
    @ValueSource(strings = {"cross-site", "same-site"})
    void requests_of_other_sites_are_refused_but_they_may_link_to_the_page(String site) throws IOException {
        String header = "Sec-Fetch-Site: " + site;

        assertThat(RawClient.get(open.uri(), "/", header).status()).isEqualTo(200);
        assertThat(RawClient.get(open.uri(), "/api/stream?view=groups", header).status())
                .isEqualTo(403);
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "http://evil.example", "http://localhost:1", "http://localhost"})
    void requests_of_another_origin_are_refused(String origin) throws IOException {
        assertThat(RawClient.get(open.uri(), "/api/stream?view=groups", "Origin: " + origin)
                        .status())
                .isEqualTo(403);
        assertThat(RawClient.post(closed.uri(), "/api/control", "{}", JSON, BEARER, "Origin: " + origin)
                        .status())
                .isEqualTo(403);
    }

    // The token.

    @Test
    void a_console_without_a_token_is_open_and_has_no_controls() throws IOException {
        try (RawClient stream = RawClient.stream(open.uri(), "view=groups")) {
            assertThat(stream.event().data()).contains("\"controls\":false");
        }
        Answer answer = RawClient.post(open.uri(), "/api/control", "{\"action\":\"pause\"}", JSON, origin(open.uri()));

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.problem()).contains("withControls(true)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "X-Nothing: 1",
                "Authorization: Bearer a-token-of-the-tests-2",
                "Authorization: Bearer ",
                "Authorization: Basic " + TOKEN,
                "Cookie: raddle-console=" + TOKEN,
                "X-Token: " + TOKEN
            })
    void without_the_token_only_the_page_is_answered(String header) throws IOException {
        assertThat(RawClient.get(closed.uri(), "/", header).status()).isEqualTo(200);
        assertThat(RawClient.get(closed.uri(), "/api/stream?view=groups", header)
                        .status())
                .isEqualTo(401);
        assertThat(RawClient.get(closed.uri(), "/api/stack?executor=a&key=b&task=c", header)
                        .status())
                .isEqualTo(401);
        assertThat(RawClient.post(closed.uri(), "/api/control", "{}", JSON, header)
                        .status())
                .isEqualTo(401);
    }

    @Test
    void the_token_in_the_query_is_not_accepted() throws IOException {
        assertThat(RawClient.get(closed.uri(), "/api/stream?view=groups&token=" + TOKEN)
                        .status())
                .isEqualTo(401);
    }

    @Test
    void a_client_may_send_the_token_with_each_request() throws IOException {
        try (RawClient stream = RawClient.stream(closed.uri(), "view=groups", BEARER)) {
            assertThat(stream.event().name()).isEqualTo("state");
        }
    }

    @Test
    void a_browser_sends_the_token_once_and_then_a_cookie_that_no_script_reads() throws IOException {
        Answer wrong = RawClient.post(closed.uri(), "/api/login", "{\"token\":\"not-this-token-1\"}", JSON);
        Answer right =
                RawClient.post(closed.uri(), "/api/login", "{\"token\":\"" + TOKEN + "\"}", JSON, origin(closed.uri()));

        assertThat(wrong.status()).isEqualTo(401);
        assertThat(wrong.header("Set-Cookie")).isNull();
        assertThat(right.status()).isEqualTo(200);
        String cookie = right.header("Set-Cookie");
        assertThat(cookie).contains("; HttpOnly").contains("; SameSite=Strict").doesNotContain(TOKEN);
        String sent = "Cookie: other=1; " + cookie.substring(0, cookie.indexOf(';'));
        try (RawClient stream = RawClient.stream(closed.uri(), "view=groups", sent)) {
            assertThat(stream.event().name()).isEqualTo("state");
        }
        assertThat(RawClient.get(closed.uri(), "/api/stream?view=groups", sent.substring(0, sent.length() - 1))
                        .status())
                .isEqualTo(401);
    }

    @Test
    void the_cookie_of_another_console_is_not_accepted() throws IOException {
        try (Console other = Console.start(ConsoleOptions.defaults().withPort(0).withToken(TOKEN))) {
            String cookie = RawClient.post(other.uri(), "/api/login", "{\"token\":\"" + TOKEN + "\"}", JSON)
                    .header("Set-Cookie");
            String value = cookie.substring(cookie.indexOf('=') + 1, cookie.indexOf(';'));

            assertThat(RawClient.get(
                                    closed.uri(),
                                    "/api/stream?view=groups",
                                    "Cookie: raddle-console-" + closed.uri().getPort() + "=" + value)
                            .status())
                    .isEqualTo(401);
        }
    }

    @Test
    void a_login_is_refused_in_another_form_or_from_another_site() throws IOException {
        String body = "{\"token\":\"" + TOKEN + "\"}";

        assertThat(RawClient.post(closed.uri(), "/api/login", body, "Content-Type: text/plain")
                        .status())
                .isEqualTo(415);
        assertThat(RawClient.post(closed.uri(), "/api/login", body).status()).isEqualTo(415);
        assertThat(RawClient.post(closed.uri(), "/api/login", body, JSON, "Origin: http://evil.example")
                        .status())
                .isEqualTo(403);
        assertThat(RawClient.get(closed.uri(), "/api/login").status()).isEqualTo(405);
        assertThat(RawClient.post(closed.uri(), "/api/login", "[]", JSON).status())
                .isEqualTo(400);
        assertThat(RawClient.post(closed.uri(), "/api/login", "{", JSON).status())
                .isEqualTo(400);
        assertThat(RawClient.post(open.uri(), "/api/login", body, JSON).status())
                .isEqualTo(401);
    }

    @Test
    void a_control_with_the_cookie_must_say_that_it_is_from_the_page() throws IOException {
        String cookie = RawClient.post(closed.uri(), "/api/login", "{\"token\":\"" + TOKEN + "\"}", JSON)
                .header("Set-Cookie");
        String sent = "Cookie: " + cookie.substring(0, cookie.indexOf(';'));

        Answer answer = RawClient.post(closed.uri(), "/api/control", "{}", JSON, sent);

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.problem()).contains("Origin");
    }

    @Test
    void a_body_that_is_too_long_is_refused() throws IOException {
        String body = "{\"token\":\"" + "x".repeat(64 * 1024) + "\"}";

        assertThat(RawClient.post(closed.uri(), "/api/login", body, JSON).status())
                .isEqualTo(413);
    }

    // The page.

    @Test
    void every_answer_has_a_policy_without_inline_scripts() throws IOException {
        for (String path : new String[] {"/", "/page/icon.svg", "/nothing", "/api/stream"}) {
            Answer answer = RawClient.get(open.uri(), path);

            assertThat(answer.header("Content-Security-Policy"))
                    .contains("default-src 'none'")
                    .contains("script-src 'self';")
                    .contains("style-src 'self';")
                    .contains("frame-ancestors 'none'")
                    .doesNotContain("unsafe");
            assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(answer.header("Referrer-Policy")).isEqualTo("no-referrer");
        }
    }

    @Test
    void the_page_has_no_script_and_no_style_inside() throws IOException {
        String page = RawClient.get(open.uri(), "/").body();

        assertThat(page).contains("<script type=\"module\" src=\"page/");
        assertThat(page.replaceAll("<script[^>]* src=[^>]*></script>", ""))
                .doesNotContain("<script", "<style", "style=", "onload=", "http://", "https://");
    }

    @Test
    void a_file_is_sent_again_only_if_it_has_changed() throws IOException {
        Answer first = RawClient.get(open.uri(), "/page/icon.svg");
        Answer second = RawClient.get(open.uri(), "/page/icon.svg", "If-None-Match: " + first.header("ETag"));

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("Content-Type")).isEqualTo("image/svg+xml");
        assertThat(first.header("Cache-Control")).isEqualTo("no-cache");
        assertThat(second.status()).isEqualTo(304);
        assertThat(second.body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/page/",
                "/page/Console.class",
                "/page/../Console.class",
                "/page/%2e%2e/Console.class",
                "/page/..%2fConsole.class",
                "/page/vendor",
                "/page//icon.svg",
                "/page/none.js",
                "/page/icon.svg%00.js",
                "/index.html",
                "/api/",
                "/api/none"
            })
    void nothing_but_the_files_of_the_page_is_sent(String path) throws IOException {
        assertThat(RawClient.get(open.uri(), path).status()).isEqualTo(404);
    }

    @Test
    void other_methods_are_refused() throws IOException {
        assertThat(RawClient.request(open.uri(), "PUT", "/", "{}", JSON).status())
                .isEqualTo(405);
        assertThat(RawClient.request(open.uri(), "HEAD", "/", "").status()).isEqualTo(405);
        assertThat(RawClient.request(open.uri(), "POST", "/api/stream?view=groups", "{}", JSON)
                        .status())
                .isEqualTo(405);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "view=none",
                "view=groups&page=-1",
                "view=groups&page=x",
                "view=groups&size=0",
                "view=groups&filter=%zz",
                "view=groups&page=99999999999"
            })
    void a_query_that_makes_no_sense_is_refused(String query) throws IOException {
        assertThat(RawClient.get(open.uri(), "/api/stream?" + query).status()).isEqualTo(400);
    }

    @Test
    void a_filter_that_is_too_long_is_refused() {
        assertThatThrownBy(() -> RawClient.stream(open.uri(), "view=groups&filter=" + "x".repeat(201)))
                .hasMessageContaining("400");
    }
}
