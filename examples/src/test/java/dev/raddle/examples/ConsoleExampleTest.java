package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.core.ExecutableProvider;

@Timeout(60)
class ConsoleExampleTest {

    @TempDir
    private Path directory;

    @Test
    void the_console_shows_four_groups_a_flow_and_a_pool() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0))) {
            FutureTask<Void> example = start(console, Optional.empty(), end);

            awaitText(console, "groups", "search", "payments", "mail", "reports");
            awaitText(console, "flows", "\"name\":\"order\"", "succeeded");
            awaitText(console, "pools", "\"thumbnails\"");
            awaitText(console, "failures", "java.io.IOException");
            end.countDown();
            example.get();
        }
    }

    @Test
    void with_a_server_on_the_path_it_shows_a_fleet_of_two_and_ends_the_server_too() throws Exception {
        Path program = ExecutableProvider.newJarResourceProvider().get().toPath();
        Files.createSymbolicLink(directory.resolve("redis-server"), program);
        Optional<ExampleRedis> redis = ExampleRedis.find(Map.of("PATH", directory.toString()));
        CountDownLatch end = new CountDownLatch(1);
        try (ExampleRedis server = redis.orElseThrow();
                Console console = Console.start(ConsoleOptions.defaults().withPort(0))) {
            FutureTask<Void> example = start(console, redis, end);

            awaitText(console, "fleet", "\"shop\"", "\"branch\"", "\"payments\"", "\"limit\":4");
            end.countDown();
            example.get();
            server.close();
            assertThatThrownBy(() -> new Socket("127.0.0.1", server.uri().getPort()).close())
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void an_address_in_the_environment_is_used_and_without_a_server_there_is_none() throws Exception {
        Map<String, String> environment = Map.of("RADDLE_REDIS", "redis://redis.internal:7000");
        try (ExampleRedis server = ExampleRedis.find(environment).orElseThrow()) {
            assertThat(server.uri().getHost()).isEqualTo("redis.internal");
        }
        assertThat(ExampleRedis.find(Map.of("PATH", directory.toString()))).isEmpty();
    }

    private static FutureTask<Void> start(Console console, Optional<ExampleRedis> redis, CountDownLatch end) {
        FutureTask<Void> example = new FutureTask<>(() -> {
            ConsoleExample.run(console, redis, end);
            return null;
        });
        Thread.ofVirtual().start(example);
        return example;
    }

    /** Reads a stream until its lines have contained all texts. */
    private static void awaitText(Console console, String view, String... texts) throws Exception {
        URI stream = console.uri().resolve("api/stream?view=" + view);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(stream.toURL().openStream(), StandardCharsets.UTF_8))) {
            StringBuilder read = new StringBuilder();
            while (!List.of(texts).stream().allMatch(text -> read.indexOf(text) >= 0)) {
                read.append(lines.readLine()).append('\n');
            }
            assertThat(read).contains(texts);
        }
    }
}
