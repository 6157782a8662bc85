package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code raddle run --console} in a JVM of its own, and asks its console. */
@Timeout(120)
class RunConsoleTest {
    @TempDir
    private Path directory;

    @Test
    void the_console_of_a_run_has_its_tasks_and_why_its_groups_wait_and_then_its_end() throws Exception {
        Path plan = Files.writeString(directory.resolve("plan.yaml"), """
                groups: { one: { limit: 1 } }
                tasks:
                  - { id: first, group: one, run: "read line < one" }
                  - { id: second, group: one, run: "read line < two" }
                """);
        assertThat(new ProcessBuilder("mkfifo", "one", "two")
                        .directory(directory.toFile())
                        .start()
                        .waitFor())
                .isZero();
        Process raddle = new ProcessBuilder(
                        OwnJvmTest.words(List.of(), "run", "--quiet", "--console", "0", plan.toString()))
                .directory(directory.toFile())
                .start();
        try (BufferedReader said = raddle.errorReader(StandardCharsets.UTF_8)) {
            URI page = URI.create(said.readLine().replaceFirst(".* is shown at ", ""));
            try (BufferedReader groups = stream(page, "view=groups");
                    BufferedReader run = stream(page, "view=flow&id=r1")) {
                await(groups, line -> line.contains("\"waiting\":1") && line.contains("waits for a slot"));
                await(run, line -> line.contains("waits for a permit of group"));
                Files.writeString(directory.resolve("one"), "x\n"); // waits until a task reads
                Files.writeString(directory.resolve("two"), "x\n");
                await(run, "event: end"::equals);
            }
            assertThat(said.readLine()).isNull();
            assertThat(raddle.waitFor()).isZero();
        } finally {
            raddle.destroyForcibly();
        }
    }

    private static BufferedReader stream(URI page, String query) throws IOException {
        URLConnection connection = page.resolve("/api/stream?" + query).toURL().openConnection();
        return new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
    }

    private static void await(BufferedReader stream, Predicate<String> condition) throws IOException {
        for (String line = stream.readLine(); !condition.test(line); line = stream.readLine()) {
            assertThat(line).as("the stream has ended").isNotNull();
        }
    }
}
