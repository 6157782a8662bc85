package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.cli.run.ProcessStarter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends signals to the command in a JVM of its own: a task sends one to its parent. */
@Timeout(120)
class SignalsTest {
    /** Prints by what the command ended, which its exit code does not say. Has the default signals. */
    private static final List<String> REPORTING = List.of(
            "perl",
            "-e",
            "$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT ALRM TERM USR1); system(@ARGV);"
                    + " print 'by signal ', $? & 127, ', code ', $? >> 8, \"\\n\"");

    @TempDir
    private Path directory;

    @BeforeEach
    void require() throws Exception {
        assumeTrue(ProcessStarter.limitation() == null, "a process ends itself by a function of the C library");
        assumeTrue(new ProcessBuilder("perl", "-e", "1").start().waitFor() == 0, "perl tells how a process has ended");
    }

    private Ended raddle(List<String> prefix, String... arguments) throws Exception {
        List<String> words = new ArrayList<>(REPORTING);
        words.addAll(OwnJvmTest.words(prefix, arguments));
        words.removeIf(word -> word.equals("-Xlog:all=error:stderr"));
        Path out = directory.resolve("stdout");
        Path err = directory.resolve("stderr");
        Process process = new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            return new Ended(process.waitFor(), Files.readString(out), Files.readString(err));
        } finally {
            process.destroyForcibly();
        }
    }

    private void assertThatNothingIsLeft() throws IOException {
        long pid = Long.parseLong(Files.readString(directory.resolve("pid")).strip());
        assertThat(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false))
                .as("the command still runs")
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"INT, 2", "ALRM, 14", "XCPU, 24", "VTALRM, 26", "PROF, 27", "IO, 29", "PWR, 30", "STKFLT, 16"})
    void a_signal_that_ends_the_command_ends_its_tasks_first_and_leaves_a_report(String name, int number)
            throws Exception {
        assumeTrue(System.getProperty("os.name").equals("Linux"), "other systems have other numbers");
        Files.writeString(
                directory.resolve("a.yaml"),
                "tasks: [{ id: a, run: 'ulimit -c 0; echo $$ > pid; kill -" + number + " $PPID; exec sleep 60' }]");
        List<String> withoutCore = List.of("sh", "-c", "ulimit -c 0; exec \"$@\"", "sh");

        Ended ended = raddle(withoutCore, "run", "--grace", "1s", "--results", "run", "a.yaml");

        assertThat(ended.out()).as(name + ended.err()).endsWith("by signal " + number + ", code 0\n");
        assertThat(Files.readString(directory.resolve("run/report.json")))
                .contains("\"exitCode\": " + (128 + number), "\"state\":\"cancelled\"");
        assertThatNothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource({"INT, 2, 0", "ALRM, 14, 0", "TERM, 0, 130", "HUP, 0, 130"})
    void map_ends_in_the_same_way(String name, int by, int code) throws Exception {
        String script = "echo $$ > pid; kill -s " + name + " $PPID; exec sleep 60; : {}";

        Ended ended = raddle(List.of(), "map", "--grace", "1s", "--results", "run", "--shell", script, ":::", "a");

        assertThat(ended.out()).as(ended.err()).endsWith("by signal " + by + ", code " + code + "\n");
        assertThat(directory.resolve("run/report.json")).exists();
        assertThatNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--quiet", "--json", "--output=prefix"})
    void USR1_lists_what_runs_and_waits_and_the_run_goes_on(String option) throws Exception {
        Files.writeString(directory.resolve("a.yaml"), """
                groups: { one: { limit: 1 } }
                tasks:
                  - { id: a, group: one, run: "until grep -q 'one: 1' stderr; do kill -USR1 $PPID; sleep 0.1; done" }
                  - { id: b, group: one, run: "true" }
                  - { id: c, group: one, run: "true", needs: b }
                """);

        Ended ended = raddle(List.of(), "run", option, "a.yaml");

        assertThat(ended.out()).endsWith("by signal 0, code 0\n");
        assertThat(ended.err())
                .contains("raddle: 1 running, 1 waiting in their groups, 1 for other tasks, 0 done\n")
                .containsPattern("  running [0-9]+ s: a \\[one\\], process [0-9]+\n  waiting in one: 1\n");
    }

    @Test
    void map_lists_as_well() throws Exception {
        String script = "until grep -q '1 running' stderr; do kill -USR1 $PPID; sleep 0.1; done; echo {}";

        Ended ended = raddle(List.of(), "map", "--shell", script, ":::", "a");

        assertThat(ended.err()).contains("raddle: 1 running, 0 waiting in their groups, 0 done\n");
        assertThat(ended.out()).isEqualTo("a\nby signal 0, code 0\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ALRM", "USR1", "INT"})
    void a_signal_that_was_ignored_at_the_start_stays_ignored(String name) throws Exception {
        List<String> ignoring = List.of("sh", "-c", "trap '' " + name + "; exec \"$@\"", "sh");

        Ended ended = raddle(ignoring, "map", "--shell", "kill -s " + name + " $PPID; echo {}", ":::", "a");

        assertThat(ended.out()).isEqualTo("a\nby signal 0, code 0\n");
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void without_a_run_an_interrupt_ends_the_command_by_the_signal() throws Exception {
        // The parser reads standard input, which is a pipe whose writer sends the signal once the reader is there.
        Process mkfifo = new ProcessBuilder("mkfifo", "pipe")
                .directory(directory.toFile())
                .start();
        assertThat(mkfifo.waitFor()).isZero();
        List<String> reading = List.of(
                "sh", "-c", "(exec 3> pipe; kill -INT $$; exec sleep 60 3>&3) > kid & exec \"$@\" < pipe", "sh");

        Ended ended = raddle(reading, "check", "-");

        assertThat(ended.out()).as(ended.err()).isEqualTo("by signal 2, code 0\n");
    }

    @Test
    void the_cursor_is_shown_while_a_terminal_has_stopped_the_command() throws Exception {
        assumeTrue(new ProcessBuilder("script", "-V").start().waitFor() == 0, "script of util-linux makes a terminal");
        String command = OwnJvmTest.words(List.of(), "map", "--shell", "cat go; : {}", ":::", "a").stream()
                .map(word -> "'" + word + "'")
                .collect(Collectors.joining(" "));
        assertThat(new ProcessBuilder("mkfifo", "go")
                        .directory(directory.toFile())
                        .start()
                        .waitFor())
                .isZero();
        ProcessBuilder builder = new ProcessBuilder("script", "-qefc", command, "/dev/null");
        builder.environment().put("TERM", "xterm");
        Process process = builder.directory(directory.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (InputStream screen = process.getInputStream();
                OutputStream keys = process.getOutputStream()) {
            readUntil(screen, "\033[?25l");
            keys.write(0x1a);
            keys.flush();
            readUntil(screen, "\033[?25h");
            // The terminal's own shell is gone, so nothing could continue the command: it has not been stopped.
            readUntil(screen, "\033[?25l");
            Files.writeString(directory.resolve("go"), "");
            readUntil(screen, "\033[?25h");
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    private static void readUntil(InputStream screen, String end) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf(end) < 0) {
            int next = screen.read();
            assertThat(next).as("after %s", text).isNotNegative();
            text.append(new String(new byte[] {(byte) next}, StandardCharsets.ISO_8859_1));
        }
    }
}
