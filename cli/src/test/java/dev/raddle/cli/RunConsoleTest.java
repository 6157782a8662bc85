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
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code raddle run --console} in a JVM of its own, and asks its console. */
@Timeout(120)
class RunConsoleTest {
    @TempDir
    private Path directory;

    private void fifos(String... names) throws Exception {
        List<String> words = new ArrayList<>(List.of("mkfifo"));
        words.addAll(List.of(names));
        assertThat(new ProcessBuilder(words)
                        .directory(directory.toFile())
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Writes a line to a pipe, when a task reads it. */
    private void release(String fifo) throws IOException {
        Files.writeString(directory.resolve(fifo), "x\n");
    }

    private Process raddle(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("run", "--quiet", "--console", "0"));
        all.addAll(List.of(arguments));
        return new ProcessBuilder(OwnJvmTest.words(List.of(), all.toArray(String[]::new)))
                .directory(directory.toFile())
                .start();
    }

    private static URI addressOf(BufferedReader said) throws IOException {
        return URI.create(said.readLine().replaceFirst(".* is shown at ", ""));
    }

    @Test
    void the_console_of_a_run_has_its_tasks_and_why_its_groups_wait_and_then_its_end() throws Exception {
        Files.writeString(directory.resolve("plan.yaml"), """
                jobs: 2
                groups: { one: { limit: 1 }, rare: { limit: 1, rate: 1/1h } }
                tasks:
                  - { id: first, group: one, run: "read line < one" }
                  - { id: second, group: one, run: "read line < two" }
                  - { id: bad, group: rare, run: "echo the reason; exit 3" }
                  - { id: late, group: rare, run: "true" }
                  - { id: third, run: "read line < three" }
                  - { id: fourth, run: "true" }
                """);
        fifos("one", "two", "three");
        Process raddle = raddle("--timeout", "100s", "plan.yaml");
        try (BufferedReader said = raddle.errorReader(StandardCharsets.UTF_8)) {
            URI page = addressOf(said);
            try (BufferedReader groups = stream(page, "view=groups");
                    BufferedReader failures = stream(page, "view=failures");
                    BufferedReader run = stream(page, "view=flow&id=r1")) {
                await(groups, "\"waiting\":1", "waits for a slot");
                await(failures, "exit code 3");
                await(
                        run,
                        "\"why\":\"waits for a slot of group \\\"one\\\"\"",
                        "\"why\":\"waits for the rate of group \\\"rare\\\"\"",
                        "\"why\":\"waits for its turn among the jobs of the run\"",
                        "the reason\\n");
                raddle.toHandle().destroy(); // SIGTERM, so that nobody waits for the rate
                await(run, "event: end");
            }
        } finally {
            raddle.destroyForcibly();
        }
    }

    @Test
    void a_task_that_costs_more_slots_than_are_free_says_so() throws Exception {
        Files.writeString(directory.resolve("plan.yaml"), """
                jobs: 8
                groups: { one: { limit: 4 } }
                tasks:
                  - { id: first, group: one, run: "read line < one" }
                  - { id: dear, group: one, cost: 4, run: "true" }
                """);
        fifos("one");
        Process raddle = raddle("--timeout", "100s", "plan.yaml");
        try (BufferedReader said = raddle.errorReader(StandardCharsets.UTF_8);
                BufferedReader run = stream(addressOf(said), "view=flow&id=r1")) {
            await(run, "\"why\":\"waits for a slot of group \\\"one\\\", needs 4, 3 free\"");
            release("one");
            await(run, "event: end");
        } finally {
            raddle.destroyForcibly();
        }
    }

    @Test
    void the_page_of_a_resumed_run_has_what_succeeded_before() throws Exception {
        Files.writeString(directory.resolve("plan.yaml"), """
                tasks:
                  - { id: ready, run: "true" }
                  - { id: again, run: "read line < one", needs: ready }
                """);
        Files.writeString(directory.resolve("one"), ""); // its end comes at once, and the task fails
        Process first = raddle("--results", "run", "plan.yaml");
        assertThat(first.waitFor()).isEqualTo(1);
        Files.delete(directory.resolve("one"));
        fifos("one");
        Process second = raddle("--resume", "run");
        try (BufferedReader said = second.errorReader(StandardCharsets.UTF_8)) {
            URI page = addressOf(said);
            try (BufferedReader run = stream(page, "view=flow&id=r1");
                    BufferedReader groups = stream(page, "view=groups")) {
                await(run, "\"ready\":{\"state\":\"succeeded\"", "\"again\":{\"state\":\"running\"", "\"process\"");
                await(groups, "\"running\":1");
                release("one");
                await(run, "event: end");
                assertThat(await(groups, "event: end"))
                        .as("the page keeps the executor and its groups")
                        .doesNotContain("\"run\":null");
            }
            assertThat(second.waitFor()).isZero();
        } finally {
            second.destroyForcibly();
        }
    }

    private static BufferedReader stream(URI page, String query) throws IOException {
        URLConnection connection = page.resolve("/api/stream?" + query).toURL().openConnection();
        return new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Reads a stream until it has had all parts, and returns what it has read. */
    private static String await(BufferedReader stream, String... parts) throws IOException {
        StringBuilder seen = new StringBuilder();
        while (!Stream.of(parts).allMatch(part -> seen.indexOf(part) >= 0)) {
            String line = stream.readLine(); // at least a heartbeat each second
            assertThat(line).as("after " + seen).isNotNull();
            assertThat(Thread.interrupted())
                    .as("interrupted by the time limit after " + seen)
                    .isFalse();
            seen.append(line).append('\n');
        }
        return seen.toString();
    }
}
