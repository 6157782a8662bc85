package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.Console;
import dev.raddle.group.GroupExecutor;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Starts applications with a web server, and asks them as browsers and proxies do. */
@Timeout(120)
class ConsoleEndpointTest {

    private static final String TOKEN = "a-token-of-the-tests-1";
    private static final String BEARER = "Bearer " + TOKEN;
    private static final Pattern ADDRESS =
            Pattern.compile("(?:src=|href=|from |import )[\"']([\\w./-]+\\.(?:js|css|svg))[\"']");
    private static final String[] WITH_CONTROLS = {"raddle.console.controls=true", "raddle.console.token=" + TOKEN};
    private static final String LIMIT_OF_ACME =
            "{\"action\": \"setLimit\", \"executor\": \"tenants\", \"key\": \"acme\", \"value\": 7}";

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = {DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class})
    static class Application {
        /** Stands for the security of an application. */
        @Bean
        Filter knownUser() {
            return (request, response, chain) -> chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public Principal getUserPrincipal() {
                            String user = getHeader("User");
                            return user == null ? null : () -> user;
                        }
                    },
                    response);
        }
    }

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private ConfigurableApplicationContext context;
    private URI console;

    private void start(String... properties) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(Map.of(
                "server.port",
                0,
                "raddle.groups.tenants.max-concurrency",
                1,
                "raddle.console.enabled",
                true,
                "raddle.console.port",
                0,
                "raddle.redis.enabled",
                false,
                "management.endpoints.web.exposure.include",
                "raddleconsole"));
        context = application.run(Stream.of(properties).map(each -> "--" + each).toArray(String[]::new));
        int port = ((WebServerApplicationContext) context).getWebServer().getPort();
        console = URI.create("http://localhost:" + port + "/actuator/raddleconsole/");
    }

    @AfterEach
    void close() {
        http.shutdownNow();
        if (context != null) {
            context.close();
        }
    }

    private HttpResponse<String> get(String path, String... headers) throws Exception {
        return http.send(request(path, headers).build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String path, String body, String... headers) throws Exception {
        HttpRequest.Builder request = request(path, headers)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(console.resolve(path));
        return headers.length == 0 ? request : request.headers(headers);
    }

    private HttpResponse<InputStream> stream(String view, String... headers) throws Exception {
        return http.send(
                request("api/stream?view=" + view, headers).build(), HttpResponse.BodyHandlers.ofInputStream());
    }

    private static void awaitText(HttpResponse<InputStream> stream, String text) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8));
        String line = lines.readLine();
        while (line != null && !line.contains(text)) {
            line = lines.readLine();
        }
        assertThat(line).contains(text);
    }

    // Looking.

    @Test
    void the_page_and_all_that_it_loads_is_below_the_path_of_the_endpoint_and_under_its_policy() throws Exception {
        start("server.servlet.context-path=/shop");
        console = console.resolve("/shop/actuator/raddleconsole/");

        HttpResponse<String> folder = get("/shop/actuator/raddleconsole");
        assertThat(folder.statusCode()).isEqualTo(302);
        assertThat(folder.uri().resolve(folder.headers().firstValue("Location").orElseThrow()))
                .isEqualTo(console);

        Deque<URI> open = new ArrayDeque<>(List.of(console));
        Set<URI> seen = new LinkedHashSet<>(open);
        while (!open.isEmpty()) {
            HttpResponse<String> file = get(open.pop().toString());
            assertThat(file.statusCode()).as(file.uri().toString()).isEqualTo(200);
            assertThat(file.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .contains("default-src 'none'");
            for (Matcher each = ADDRESS.matcher(file.body()); each.find(); ) {
                URI address = file.uri().resolve(each.group(1));
                if (seen.add(address)) {
                    open.add(address);
                }
            }
        }
        assertThat(seen).hasSizeGreaterThan(20).allMatch(each -> each.toString().startsWith(console.toString()));
        String tag = get("page/app.js").headers().firstValue("ETag").orElseThrow();
        assertThat(get("page/app.js", "If-None-Match", tag).statusCode()).isEqualTo(304);
    }

    @Test
    void changes_arrive_in_the_stream_while_it_is_open() throws Exception {
        start();
        HttpResponse<InputStream> stream = stream("groups");
        assertThat(stream.headers().firstValue("Content-Type")).hasValue("text/event-stream;charset=utf-8");
        awaitText(stream, "\"title\"");

        context.getBean(GroupExecutor.class).submit("acme", "t1", () -> null);
        awaitText(stream, "acme");
        stream.body().close();
    }

    @Test
    void a_client_that_has_gone_makes_room_for_another_one() throws Exception {
        start("raddle.console.clients=1");
        for (int i = 0; i < 2; i++) {
            HttpResponse<InputStream> stream = stream("groups");
            while (stream.statusCode() == 503) { // the one before has not been missed yet
                stream.body().close();
                stream = stream("groups");
            }
            awaitText(stream, "\"title\"");
            stream.body().close();
        }
    }

    @Test
    void an_open_stream_does_not_delay_the_graceful_shutdown_of_the_web_server() throws Exception {
        start("spring.lifecycle.timeout-per-shutdown-phase=10m");
        HttpResponse<InputStream> stream = stream("groups");
        awaitText(stream, "\"title\"");

        context.close();

        assertThat(stream.body().readAllBytes()).isNotNull(); // has an end
    }

    // Access.

    @Test
    void the_endpoint_must_be_exposed_and_the_console_enabled() throws Exception {
        start("management.endpoints.web.exposure.include=health");
        assertThat(get("").statusCode()).isEqualTo(404);
        context.close();

        start("raddle.console.enabled=false");
        assertThat(get("").statusCode()).isEqualTo(404);
        assertThat(context.getBeansOfType(Console.class)).isEmpty();
        context.close();

        start("management.endpoint.raddleconsole.access=none");
        assertThat(get("").statusCode()).isEqualTo(404);
    }

    @Test
    void the_token_is_asked_for_and_then_a_cookie_stands_for_it() throws Exception {
        start(WITH_CONTROLS);
        assertThat(get("").statusCode()).isEqualTo(200);
        assertThat(get("api/stream?view=groups").statusCode()).isEqualTo(401);
        assertThat(get("api/stack").statusCode()).isEqualTo(401);
        assertThat(post("api/control", LIMIT_OF_ACME, "Origin", origin()).statusCode())
                .isEqualTo(401);
        assertThat(post("api/login", "{\"token\": \"another\"}").statusCode()).isEqualTo(401);

        HttpResponse<String> login = post("api/login", "{\"token\": \"" + TOKEN + "\"}");
        String cookie = login.headers().firstValue("Set-Cookie").orElseThrow();
        assertThat(cookie).contains("HttpOnly", "SameSite=Strict");

        CountDownLatch end = new CountDownLatch(1);
        GroupExecutor executor = context.getBean(GroupExecutor.class);
        executor.submit("acme", "t1", () -> {
            end.await();
            return null;
        });
        String[] page = {"Cookie", cookie.replaceFirst(";.*", ""), "Origin", origin(), "User", "operator-1"};
        HttpResponse<String> limit = post("api/control", LIMIT_OF_ACME, page);
        assertThat(limit.statusCode()).as(limit.body()).isEqualTo(200);
        assertThat(executor.groupStats("acme").orElseThrow().maxConcurrency()).isEqualTo(7);
        HttpResponse<InputStream> audit = stream("audit", page);
        awaitText(audit, "\"operator-1\"");
        audit.body().close();
        end.countDown();
    }

    private String origin() {
        return "http://" + console.getAuthority();
    }

    @Test
    void pages_of_other_sites_and_unknown_names_are_refused() throws Exception {
        start(WITH_CONTROLS);
        String[] other = {"Authorization", BEARER, "Origin", "http://example.com"};
        assertThat(post("api/control", LIMIT_OF_ACME, other).statusCode()).isEqualTo(403);
        assertThat(get("api/stream?view=groups", other).statusCode()).isEqualTo(403);
        assertThat(statusUnderName("shop.example.com")).contains(" 403 ");
        assertThat(statusUnderName("localhost")).contains(" 200 ");
        context.close();

        start("raddle.console.allowed-hosts=shop.example.com");
        assertThat(statusUnderName("shop.example.com")).contains(" 200 ");
    }

    private String statusUnderName(String host) throws IOException {
        try (Socket socket = new Socket("localhost", console.getPort())) {
            String request =
                    "GET " + console.getPath() + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
        }
    }

    @Test
    void a_read_only_endpoint_has_no_controls() throws Exception {
        start(
                "raddle.console.controls=true",
                "raddle.console.token=" + TOKEN,
                "management.endpoints.access.max-permitted=read-only");
        for (String path : List.of("api/control", "api/%63ontrol")) {
            HttpResponse<String> refused = post(path, LIMIT_OF_ACME, "Authorization", BEARER);
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.body()).contains("read-only");
        }
        assertThat(post("api/login", "{\"token\": \"" + TOKEN + "\"}").statusCode())
                .isEqualTo(200);
    }

    @Test
    void a_request_whose_address_is_no_uri_is_400() throws Exception {
        start();
        try (Socket socket = new Socket("localhost", console.getPort())) {
            String request = "GET " + console.getPath() + "api/stack?key=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            assertThat(answer.readLine()).contains(" 400 ");
        }
    }

    @Test
    void the_path_is_that_of_the_properties_at_the_port_of_the_management() throws Exception {
        start(
                "management.server.port=0",
                "management.server.base-path=/internal",
                "management.endpoints.web.base-path=/ops",
                "management.endpoints.web.path-mapping.raddleconsole=console");
        assertThat(get("").statusCode()).isEqualTo(404);

        int port = Integer.parseInt(context.getEnvironment().getProperty("local.management.port", "0"));
        console = URI.create("http://localhost:" + port + "/internal/ops/console/");
        assertThat(get("").body()).contains("<title>Raddle console</title>");
        HttpResponse<InputStream> stream = stream("groups");
        awaitText(stream, "\"title\"");
        context.close();
        assertThat(stream.body().readAllBytes()).isNotNull();
    }
}
