package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConsoleExampleTest {

    @Test
    void the_console_shows_four_groups_a_flow_and_a_pool() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0))) {
            FutureTask<Void> example = new FutureTask<>(() -> {
                ConsoleExample.run(console, end);
                return null;
            });
            Thread.ofVirtual().start(example);

            awaitText(console, "groups", "search", "payments", "mail", "reports");
            awaitText(console, "flows", "\"name\":\"order\"", "succeeded");
            awaitText(console, "pools", "\"thumbnails\"");
            awaitText(console, "failures", "java.io.IOException");
            end.countDown();
            example.get();
        }
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
