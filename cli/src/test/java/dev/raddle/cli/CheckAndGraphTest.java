package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code raddle check} and {@code raddle graph}, from their arguments to their exit codes. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class CheckAndGraphTest {
    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final PrintStream oldOut = System.out;
    private final PrintStream oldErr = System.err;

    @BeforeEach
    void listen() {
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void leave() {
        System.setOut(oldOut);
        System.setErr(oldErr);
    }

    private String file(String text) throws Exception {
        Path file = directory.resolve("build.yaml");
        Files.writeString(file, text);
        return file.toString();
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void an_output_that_cannot_be_written_is_a_failure() throws Exception {
        String file = file("tasks: [{ id: a, run: 'true' }]");
        OutputStream full = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        };

        for (List<String> words :
                List.of(List.of("check", file), List.of("graph", file), List.of("schema"), List.of("--help"))) {
            System.setOut(new PrintStream(full, true, StandardCharsets.UTF_8));
            assertThat(Main.run(words.toArray(String[]::new)))
                    .as(words.getFirst())
                    .isEqualTo(70);
        }
    }

    @Test
    void a_valid_file_is_reported_with_its_size() throws Exception {
        String file = file("""
                params: { day: }
                tasks: [{ id: a, run: 'echo ${param.day}' }, { id: b, run: 'true', needs: a }]
                """);

        assertThat(Main.run("check", file)).as(text(err)).isEqualTo(ExitCode.OK);
        assertThat(text(out)).isEqualTo(file + " is valid: 2 tasks, 1 edge\n");
    }

    @Test
    void every_problem_of_an_invalid_file_is_reported_with_line_and_column() throws Exception {
        String file = file("""
                tasks:
                  - { id: a, run: 'true', needs: b }
                  - { id: b, run: 'true', needs: [a, c], timeout: soon }
                """);

        assertThat(Main.run("check", file)).isEqualTo(ExitCode.INVALID);
        assertThat(text(err).lines())
                .containsExactly(
                        file + ":3:51: timeout must be a number with a unit (ms, s, m or h), such as 200ms or 5s, was"
                                + " \"soon\"",
                        file + ":3:38: the needs of task \"b\" must name tasks of this file, was \"c\"",
                        file + ":3:35: the needs of tasks must not form a cycle, was a -> b -> a (each needs the next);"
                                + " remove one of these needs",
                        "raddle: 3 problems");
        assertThat(text(out)).isEmpty();
    }

    @Test
    void a_graph_is_printed_in_the_requested_format() throws Exception {
        String file = file("tasks: [{ id: a, run: 'true' }, { id: b, run: 'true', needs: a }]");

        assertThat(Main.run("graph", file)).isEqualTo(ExitCode.OK);
        assertThat(Main.run("graph", "--format", "mermaid", file)).isEqualTo(ExitCode.OK);

        assertThat(text(out))
                .startsWith("build: 2 tasks, 1 edge, 2 layers\n")
                .contains("flowchart LR\n", "b [default]  <- a");
    }

    @Test
    void values_of_params_may_contain_equals_signs_and_be_empty() throws Exception {
        String file = file("params: { a: , b: x }\ntasks: [{ id: 't-${param.a}', run: 'echo ${param.b}' }]");

        assertThat(Main.run("graph", "--param", "a=1=2", "-p", "b=", file))
                .as(text(err))
                .isEqualTo(ExitCode.OK);
        assertThat(text(out)).contains("t-1=2 [default]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "run --only a k.yaml | Unknown option: '--only'",
                "run -o b k.yaml | Unknown option: '-o'",
                "run -x 8 k.yaml | Unknown option: '-x'",
                "check a.yaml k.yaml | One argument too many: 'k.yaml'",
                "list --json --ids k.yaml | Error: --json, --ids are mutually exclusive (specify only one)",
                "check -x k.yaml | Unknown option: '-x'",
                "rnu k.yaml | There is no command 'rnu'; did you mean \"run\"?",
                "help | There is no command 'help'",
                "flows shwo | There is no command 'shwo'; did you mean \"show\"?"
            })
    void an_unknown_option_is_named_and_not_the_argument_after_it(String words, String problem) {
        assertThat(Main.run(words.split(" "))).isEqualTo(ExitCode.INVALID);

        assertThat(text(err).lines()).first().isEqualTo("raddle: " + problem);
    }

    @Test
    void an_unknown_format_is_an_invalid_argument() throws Exception {
        assertThat(Main.run("graph", "--format", "png", file("tasks: [{ id: a, run: 'true' }]")))
                .isEqualTo(ExitCode.INVALID);
        assertThat(text(err)).contains("must be mermaid, dot, svg or text, was \"png\"");
    }

    @Test
    void a_missing_file_is_an_invalid_argument() {
        assertThat(Main.run("check", directory.resolve("none.yaml").toString())).isEqualTo(ExitCode.INVALID);
        assertThat(text(err)).contains("cannot be read: there is no such file or directory");
    }
}
