package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobLogTest {
    private static final String HEADER = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

    @TempDir
    private Path directory;

    private static void end(JobLog jobs, String id, @Nullable Integer exitCode, TaskState state, String command) {
        jobs.on(new RunEvent.TaskEnded(
                Instant.ofEpochMilli(1_700_000_001_234L),
                new TaskResult(id, "g", command, state)
                        .withAttempts(1, exitCode)
                        .withTimes(5, 1_100)));
        jobs.printed(id);
    }

    @Test
    void it_has_the_nine_columns_of_gnu_parallel() throws Exception {
        Files.writeString(directory.resolve("2"), "four");
        Path log = Files.writeString(directory.resolve("log"), "old");
        try (JobLog jobs = new JobLog(log, false, directory::resolve)) {
            end(jobs, "2", 0, TaskState.SUCCEEDED, "echo 'a\nb' \uDCE9");
            end(jobs, "1", 255, TaskState.FAILED, "false");
            end(jobs, "3", 137, TaskState.FAILED, "sleep 9");
            end(jobs, "4", null, TaskState.TIMED_OUT, "sleep 10");
        }

        assertThat(Files.readString(log, StandardCharsets.ISO_8859_1)).isEqualTo(HEADER + """
                2\t:\t1700000000.134\t     1.100\t0\t4\t0\t0\techo 'a\0b' \u00E9
                1\t:\t1700000000.134\t     1.100\t0\t0\t255\t0\tfalse
                3\t:\t1700000000.134\t     1.100\t0\t0\t0\t9\tsleep 9
                4\t:\t1700000000.134\t     1.100\t0\t0\t-1\t0\tsleep 10
                """);
    }

    @Test
    void a_command_that_was_stopped_or_not_printed_has_no_line() throws Exception {
        Path log = directory.resolve("log");
        try (JobLog jobs = new JobLog(log, false, directory::resolve)) {
            end(jobs, "1", 143, TaskState.CANCELLED, "sleep 9");
            end(jobs, "2", null, TaskState.REJECTED, "sleep 9");
            jobs.on(new RunEvent.TaskEnded(
                    Instant.EPOCH, new TaskResult("3", "g", "echo", TaskState.SUCCEEDED).withAttempts(1, 0)));
        }

        assertThat(log).hasContent(HEADER.strip());
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "a disk is full where /dev/full is")
    void a_full_disk_is_said_with_the_name_of_the_file() throws Exception {
        Path full = Path.of("/dev/full");

        assertThatThrownBy(() -> new JobLog(full, false, directory::resolve))
                .hasMessageContaining("/dev/full cannot be written: No space left on device");

        try (FileChannel file = FileChannel.open(full, StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> Journal.write(file, directory.resolve("journal.jsonl"), new byte[1]))
                    .hasMessageContaining("journal.jsonl cannot be written: No space left on device");
        }
    }

    @Test
    void a_log_is_read_and_continued() throws Exception {
        Path log = directory.resolve("log");
        assertThat(JobLog.read(log)).isEmpty();
        try (JobLog jobs = new JobLog(log, true, directory::resolve)) {
            end(jobs, "2", 1, TaskState.FAILED, "a\nb\t\uDCE9");
        }
        Files.writeString(
                log, Files.readString(log, StandardCharsets.ISO_8859_1) + "3\t:\t17", StandardCharsets.ISO_8859_1);

        assertThat(JobLog.read(log)).containsExactly(Map.entry(2L, new JobLog.Entry("a\0b\t\uDCE9", false)));

        try (JobLog jobs = new JobLog(log, true, directory::resolve)) {
            end(jobs, "2", 0, TaskState.SUCCEEDED, "a");
            end(jobs, "1", 0, TaskState.SUCCEEDED, "b");
        }
        assertThat(JobLog.read(log))
                .containsExactly(
                        Map.entry(1L, new JobLog.Entry("b", true)), Map.entry(2L, new JobLog.Entry("a", true)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "x\n", HEADER + "x\n", HEADER + "\n", HEADER + "x\t:\t0\t1\t0\t0\t0\t0\techo\n"})
    void another_file_is_refused_and_stays_as_it_is(String text) throws Exception {
        Path log = Files.writeString(directory.resolve("log"), text);

        assertThatThrownBy(() -> JobLog.read(log))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("must name a job log, line [12] of .*log is not one of a job log; .*");
        assertThat(Files.readString(log)).isEqualTo(text);
    }
}
