package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.Console;
import dev.raddle.group.GroupExecutor;
import dev.raddle.jdbc.FlowService;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(60)
class ConsoleTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class, ConsoleAutoConfiguration.class))
            .withPropertyValues(
                    "raddle.groups.tenants.max-concurrency=1",
                    "raddle.pools.reports.threads=1",
                    "raddle.console.port=0");

    @Test
    void the_console_shows_the_configured_executors_and_pools_until_the_context_is_closed() {
        AtomicReference<URI> uri = new AtomicReference<>();
        runner.withPropertyValues("raddle.console.enabled=true", "spring.application.name=shop")
                .run(context -> {
                    CountDownLatch end = new CountDownLatch(1);
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    executor.submit("acme", "t1", () -> {
                        end.await();
                        return null;
                    });
                    executor.submit("acme", "t2", () -> null);
                    uri.set(context.getBean(Console.class).uri());

                    assertThat(firstState(uri.get(), "groups"))
                            .contains("\"executor\":\"tenants\"", "\"key\":\"acme\"", "\"oldestAt\":", "\"waiting\":1");
                    assertThat(firstState(uri.get(), "pools")).contains("\"reports\"", "\"title\":\"shop\"");
                    end.countDown();
                });
        Assertions.assertThatThrownBy(() -> firstState(uri.get(), "groups")).isInstanceOf(ConnectException.class);
    }

    static String firstState(URI uri, String view) throws IOException {
        URI stream = uri.resolve("api/stream?view=" + view);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(stream.toURL().openStream(), StandardCharsets.UTF_8))) {
            String line = lines.readLine();
            while (line != null && !line.startsWith("data: ")) { // comments come before, if the machine is busy
                line = lines.readLine();
            }
            return line;
        }
    }

    @Test
    void without_the_property_or_the_library_there_is_no_console() {
        runner.run(context -> assertThat(context).doesNotHaveBean(Console.class));
        runner.withPropertyValues("raddle.console.enabled=true")
                .withClassLoader(new FilteredClassLoader(Console.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("raddleConsole"));
    }

    @Test
    void the_console_needs_no_library_for_databases() {
        runner.withPropertyValues("raddle.console.enabled=true")
                .withClassLoader(new FilteredClassLoader(FlowService.class))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(Console.class));
    }

    @Test
    void the_token_of_the_properties_is_needed() {
        runner.withPropertyValues(
                        "raddle.console.enabled=true",
                        "raddle.console.controls=true",
                        "raddle.console.token=a-token-of-the-tests-1")
                .run(context -> {
                    URI stream = context.getBean(Console.class).uri().resolve("api/stream?view=groups");
                    HttpURLConnection connection =
                            (HttpURLConnection) stream.toURL().openConnection();
                    assertThat(connection.getResponseCode()).isEqualTo(401);
                });
    }

    @Test
    void wrong_properties_are_named() {
        runner.withPropertyValues("raddle.console.enabled=true", "raddle.console.controls=true")
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("needs a token"));
        runner.withPropertyValues("raddle.console.clients=0", "raddle.console.port=-1")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("raddle.console.clients must be at least 1, was 0")
                        .hasMessageContaining("raddle.console.port must be at least 0, was -1"));
    }
}
