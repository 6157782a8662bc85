package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.value.InvalidFileException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JournalTest {
    private static final Instant NOW = Instant.parse("2026-01-31T09:30:00.123456789Z");

    @TempDir
    private Path directory;

    private static RunEvent ended(String id, TaskState state) {
        return new RunEvent.TaskEnded(
                NOW,
                new TaskResult(id, "g", "echo 'x'", state).withAttempts(2, 1).withError("exit code 1"));
    }

    private static RunEvent started(String id, int attempt) {
        return new RunEvent.AttemptStarted(NOW, id, "g", attempt, 3, 4711, NOW, null);
    }

    @Test
    void what_is_written_is_read_back() throws Exception {
        Path path = directory.resolve("journal.jsonl");
        TaskResult result = new TaskResult("a\n\"b\"", "gröup", "echo '\u0007'", TaskState.TIMED_OUT)
                .withAttempts(2, null)
                .withTimes(30, 400)
                .withError("ran out of time")
                .withUsage(new Usage(1_200, 5_000_000));
        try (Journal journal = Journal.open(path)) {
            journal.on(started("x", 1));
            journal.on(new RunEvent.TaskEnded(NOW, result));
        }

        Past past = Journal.read(path);

        assertThat(past.result("a\n\"b\"")).isEqualTo(result);
        assertThat(past.open()).containsExactly(new Past.Started("x", 4711, NOW, null));
        assertThat(past.isOpen("x")).isTrue();
    }

    @Test
    void the_last_result_of_a_task_counts_and_an_ended_task_is_not_open() throws Exception {
        Path path = directory.resolve("journal.jsonl");
        try (Journal journal = Journal.open(path)) {
            journal.on(started("a", 1));
            journal.on(ended("a", TaskState.FAILED));
        }
        try (Journal journal = Journal.open(path)) {
            journal.on(started("a", 1));
            journal.on(started("a", 2));
            journal.on(ended("a", TaskState.SUCCEEDED));
        }

        Past past = Journal.read(path);

        assertThat(past.result("a").state()).isEqualTo(TaskState.SUCCEEDED);
        assertThat(past.open()).isEmpty();
        List<TaskState> states = new ArrayList<>();
        Journal.readResults(path, result -> states.add(result.state()));
        assertThat(states).containsExactly(TaskState.FAILED, TaskState.SUCCEEDED);
    }

    @Test
    void every_line_is_in_the_file_before_the_next_event() throws Exception {
        Path path = directory.resolve("journal.jsonl");
        try (Journal journal = Journal.open(path)) {
            journal.on(ended("a", TaskState.SUCCEEDED));

            assertThat(Journal.read(path).result("a")).isNotNull();
        }
    }

    @Test
    void an_incomplete_line_is_skipped_and_does_not_affect_the_next() throws Exception {
        Path path = directory.resolve("journal.jsonl");
        try (Journal journal = Journal.open(path)) {
            journal.on(ended("a", TaskState.SUCCEEDED));
        }
        byte[] torn = {'{', '"', 'i', 'd', '"', ':', '"', (byte) 0xC3};
        Files.write(path, torn, java.nio.file.StandardOpenOption.APPEND);
        try (Journal journal = Journal.open(path)) {
            journal.on(ended("b", TaskState.SUCCEEDED));
        }

        Past past = Journal.read(path);
        assertThat(past.result("a")).isNotNull();
        assertThat(past.result("b")).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_damaged_line_is_a_problem_unless_a_process_ended_after_it(int number) throws Exception {
        Path path = directory.resolve("journal.jsonl");
        try (Journal journal = Journal.open(path)) {
            journal.on(ended("a", TaskState.SUCCEEDED));
            journal.on(ended("b", TaskState.SUCCEEDED));
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(path));
        lines.set(number - 1, lines.get(number - 1).substring(1));
        Files.write(path, lines);

        assertThatThrownBy(() -> Journal.read(path))
                .isInstanceOfSatisfying(
                        InvalidFileException.class,
                        e -> assertThat(e.problems())
                                .singleElement()
                                .hasToString(path + ":" + number
                                        + ":1: every line must be a JSON object, this one is damaged"));
    }

    @Test
    void only_one_process_may_write_a_journal_even_while_it_is_read() throws Exception {
        Path path = directory.resolve("journal.jsonl");
        try (Journal journal = Journal.open(path)) {
            Journal.read(path);

            assertThatThrownBy(() -> Journal.open(path))
                    .isInstanceOf(Journal.JournalInUseException.class)
                    .hasMessage(path + " is in use by another raddle process");
            journal.on(ended("a", TaskState.SUCCEEDED));
        }
        Journal.open(path).close();
    }

    @Test
    void a_journal_that_cannot_be_opened_is_not_in_use() throws Exception {
        Path path = directory.resolve("journal.jsonl");
        Files.createSymbolicLink(path, directory.resolve("elsewhere"));

        assertThatThrownBy(() -> Journal.open(path)).isNotInstanceOf(Journal.JournalInUseException.class);

        Files.delete(path);
        Journal.open(path).close();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void a_job_log_whose_first_line_cannot_be_written_is_not_in_use() throws Exception {
        Path full = Path.of("/dev/full");

        assertThatThrownBy(() -> new JobLog(full, false, Path::of)).isInstanceOf(UncheckedIOException.class);

        assertThatThrownBy(() -> new JobLog(full, false, Path::of)).isInstanceOf(UncheckedIOException.class);
    }
}
