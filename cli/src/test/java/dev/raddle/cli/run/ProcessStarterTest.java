package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.cli.file.value.LocaleText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Starts processes in each of the ways that a system may offer. */
@Timeout(120)
class ProcessStarterTest {
    @TempDir
    private Path directory;

    static Stream<ProcessStarter> ways() {
        return Stream.of(
                ProcessStarter.of(ProcessStarter.newKey()),
                ProcessStarter.withoutFunctions(ProcessStarter.newKey()),
                ProcessStarter.plain(ProcessStarter.newKey()));
    }

    private int run(ProcessStarter starter, List<String> words, Map<String, String> variables) throws Exception {
        ChildProcess child = starter.start(words, variables, directory, out("out"), out("err"));
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
    void a_command_receives_words_variables_and_a_directory_and_prints_to_its_files(ProcessStarter starter)
            throws Exception {
        boolean isNative = starter.toString().equals("posix_spawn");
        boolean hasAllLetters = (isNative ? ProcessStarter.charset() : LocaleText.CHARSET)
                .newEncoder()
                .canEncode("größe 日本"); // not in the locale C, except natively
        String word = hasAllLetters ? "größe b\n" : "grosse b\n";
        String value = hasAllLetters ? " 日本 " : " Japan ";
        int exitCode = run(
                starter,
                List.of("sh", "-c", "printf '%s|%s|%s' \"$1\" \"$V\" \"$PWD\"; echo oops >&2; cat; exit 7", "sh", word),
                Map.of("V", value));

        assertThat(exitCode).isEqualTo(7);
        assertThat(read("out")).isEqualTo(word + "|" + value + "|" + directory.toRealPath());
        assertThat(read("err")).isEqualTo("oops\n");
    }

    @Test
    void the_cpu_time_of_a_command_is_what_its_shell_counts() throws Exception {
        Usage usage = usage("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; times");

        double seconds = Pattern.compile("0m([0-9.]+)s")
                .matcher(read("out"))
                .results()
                .mapToDouble(time -> Double.parseDouble(time.group(1)))
                .sum();
        assertThat(seconds).isPositive();
        assertThat(usage.cpuMillis()).isBetween((long) (seconds * 1_000) - 40, (long) (seconds * 1_000) + 200);
    }

    @Test
    void the_memory_of_a_command_is_the_most_that_one_of_its_processes_had() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/status")), "only Linux tells what a process has used");
        String ownPeak = Files.readString(Path.of("/proc/self/status")).replaceFirst("(?s).*VmHWM:\\s*(\\d+).*", "$1");
        long bytes = Long.parseLong(ownPeak) * 1_024 + 200_000_000;

        Usage usage = usage("head -c " + 2 * bytes + " /dev/zero | tail -c " + bytes + " | wc -c");

        assertThat(usage.peakBytes()).isBetween(bytes, bytes + bytes / 2);
    }

    @Test
    void the_memory_of_a_small_command_is_unknown_and_not_that_of_raddle() throws Exception {
        assertThat(usage("true").peakBytes()).isZero();
    }

    private Usage usage(String command) throws Exception {
        ProcessStarter starter = ProcessStarter.of(ProcessStarter.newKey());
        assumeTrue(System.getProperty("os.name").equals("Linux"), "only Linux tells what a process has used");
        ChildProcess child = starter.start(List.of("sh", "-c", command), Map.of(), directory, out("out"), out("err"));
        try {
            return Objects.requireNonNull(child.awaitExit().usage());
        } finally {
            child.release();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void the_exit_code_of_a_command_killed_by_a_signal_is_128_plus_its_number(ProcessStarter starter) throws Exception {
        assertThat(run(starter, List.of("sh", "-c", "kill -KILL $$"), Map.of())).isEqualTo(137);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_missing_program_is_an_error_of_the_start(ProcessStarter starter) {
        assertThatThrownBy(() -> run(starter, List.of("no-such-program"), Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessageMatching(".*error[:=] ?2[ ,(]+No such file.*");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_script_without_an_interpreter_is_run_by_the_shell(ProcessStarter starter) throws Exception {
        Path script = directory.resolve("script");
        Files.writeString(script, "echo \"hello $1\"\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));

        assertThat(run(starter, List.of(script.toString(), "world"), Map.of())).isZero();
        assertThat(read("out")).isEqualTo("hello world\n");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_symbolic_link_at_the_path_of_an_output_is_not_followed(ProcessStarter starter) throws Exception {
        Files.writeString(directory.resolve("victim"), "untouched");
        Files.createSymbolicLink(directory.resolve("out"), directory.resolve("victim"));

        assertThatThrownBy(() -> run(starter, List.of("echo", "x"), Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is a symbolic link");
        assertThat(read("victim")).isEqualTo("untouched");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void an_output_in_a_directory_that_is_a_symbolic_link_is_not_created(ProcessStarter starter) throws Exception {
        Path real = Files.createDirectory(directory.resolve("real"));
        Files.createSymbolicLink(directory.resolve("link"), real);

        assertThatThrownBy(() -> starter.start(List.of("true"), Map.of(), directory, out("link/out"), out("err")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is a symbolic link");
        assertThatThrownBy(() -> starter.start(List.of("true"), Map.of(), directory, out("out"), out("link/err")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is a symbolic link");
        assertThat(real).isEmptyDirectory();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void an_output_that_cannot_be_created_is_named_by_the_error(ProcessStarter starter) {
        assertThatThrownBy(() -> starter.start(List.of("true"), Map.of(), directory, out("out"), out("missing/err")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("missing/err");
    }

    @Test
    void a_command_leads_a_new_session_and_inherits_no_open_file() throws Exception {
        try (var open = Files.newOutputStream(directory.resolve("open"))) {
            open.write(1);
            String script = "cut -d' ' -f5,6 /proc/$$/stat; echo $$; ls -l /proc/$$/fd";

            assertThat(run(ProcessStarter.of(ProcessStarter.newKey()), List.of("sh", "-c", script), Map.of()))
                    .isZero();
        }

        List<String> lines = read("out").lines().toList();
        String pid = lines.get(1);
        assertThat(lines.getFirst()).isEqualTo(pid + " " + pid);
        assertThat(read("out")).doesNotContain(directory.resolve("open").toString());
    }

    @Test
    void variables_that_the_locale_cannot_decode_are_inherited_unchanged() throws Exception {
        // Every process inherits the variables of this one; their values are compared as bytes.
        String script = "tr '\\000' '\\n' < /proc/$PPID/environ | grep -v '^RADDLE_TREE=' | sort > parent;"
                + " tr '\\000' '\\n' < /proc/$$/environ | grep -v '^RADDLE_TREE=' | sort > own; cmp parent own";

        assertThat(run(ProcessStarter.of(ProcessStarter.newKey()), List.of("sh", "-c", script), Map.of()))
                .as(read("err"))
                .isZero();
    }

    @Test
    void the_character_nul_cannot_be_passed() {
        assertThatThrownBy(() -> run(ProcessStarter.of(ProcessStarter.newKey()), List.of("echo", "a\0b"), Map.of()))
                .hasMessageContaining("may contain the character NUL");
    }

    @Test
    void this_system_has_no_limitation() {
        assertThat(ProcessStarter.limitation()).isNull();
    }
}
