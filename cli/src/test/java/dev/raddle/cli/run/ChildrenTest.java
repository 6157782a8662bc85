package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How processes are started, in each of the ways that a system may have. */
@Timeout(120)
class ChildrenTest {
    @TempDir
    private Path directory;

    static Stream<Children> ways() {
        return Stream.of(
                Children.of(Children.newKey()),
                Children.withoutFunctions(Children.newKey()),
                Children.plain(Children.newKey()));
    }

    private int run(Children children, List<String> words, Map<String, String> variables) throws Exception {
        Child child = children.start(words, variables, directory, out("out"), out("err"));
        try {
            return child.waitFor();
        } finally {
            child.release();
        }
    }

    private Posix.Target out(String name) {
        return new Posix.Target(directory.resolve(name), false);
    }

    private String read(String name) throws IOException {
        return Files.readString(directory.resolve(name));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_command_gets_words_variables_and_a_directory_and_prints_to_its_files(Children children) throws Exception {
        int exitCode = run(
                children,
                List.of(
                        "sh",
                        "-c",
                        "printf '%s|%s|%s' \"$1\" \"$V\" \"$PWD\"; echo oops >&2; cat; exit 7",
                        "sh",
                        "größe b\n"),
                Map.of("V", " 日本 "));

        assertThat(exitCode).isEqualTo(7);
        assertThat(read("out")).isEqualTo("größe b\n| 日本 |" + directory.toRealPath());
        assertThat(read("err")).isEqualTo("oops\n");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_command_that_dies_of_a_signal_has_its_number_and_128(Children children) throws Exception {
        assertThat(run(children, List.of("sh", "-c", "kill -KILL $$"), Map.of()))
                .isEqualTo(137);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_program_that_is_not_there_is_an_error_of_the_start(Children children) {
        assertThatThrownBy(() -> run(children, List.of("no-such-program"), Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessageMatching(".*error[:=] ?2[ ,(]+No such file.*");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_script_without_an_interpreter_is_run_by_the_shell(Children children) throws Exception {
        Path script = directory.resolve("script");
        Files.writeString(script, "echo \"hello $1\"\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));

        assertThat(run(children, List.of(script.toString(), "world"), Map.of())).isZero();
        assertThat(read("out")).isEqualTo("hello world\n");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_symbolic_link_in_the_place_of_an_output_is_not_followed(Children children) throws Exception {
        Files.writeString(directory.resolve("victim"), "untouched");
        Files.createSymbolicLink(directory.resolve("out"), directory.resolve("victim"));

        assertThatThrownBy(() -> run(children, List.of("echo", "x"), Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is a symbolic link");
        assertThat(read("victim")).isEqualTo("untouched");
    }

    @Test
    void a_command_leads_a_session_of_its_own_and_inherits_no_open_file() throws Exception {
        try (var open = Files.newOutputStream(directory.resolve("open"))) {
            open.write(1);
            String script = "cut -d' ' -f5,6 /proc/$$/stat; echo $$; ls -l /proc/$$/fd";

            assertThat(run(Children.of(Children.newKey()), List.of("sh", "-c", script), Map.of()))
                    .isZero();
        }

        List<String> lines = read("out").lines().toList();
        String pid = lines.get(1);
        assertThat(lines.getFirst()).isEqualTo(pid + " " + pid);
        assertThat(read("out")).doesNotContain(directory.resolve("open").toString());
    }

    @Test
    void variables_that_are_no_text_of_the_locale_are_inherited_byte_by_byte() throws Exception {
        // Every process has those of this one; what they are is compared as bytes.
        String script = "tr '\\000' '\\n' < /proc/$PPID/environ | grep -v '^RADDLE_TREE=' | sort > parent;"
                + " tr '\\000' '\\n' < /proc/$$/environ | grep -v '^RADDLE_TREE=' | sort > own; cmp parent own";

        assertThat(run(Children.of(Children.newKey()), List.of("sh", "-c", script), Map.of()))
                .as(read("err"))
                .isZero();
    }

    @Test
    void the_text_nul_cannot_be_handed_on() {
        assertThatThrownBy(() -> run(Children.of(Children.newKey()), List.of("echo", "a\0b"), Map.of()))
                .hasMessageContaining("may contain the character NUL");
    }

    @Test
    void nothing_is_worse_here_than_it_should_be() {
        assertThat(Children.limitation()).isNull();
    }
}
