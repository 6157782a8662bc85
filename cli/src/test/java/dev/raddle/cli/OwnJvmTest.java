package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.ProcessStarter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the command in a JVM with a limit or a locale that the one of the tests does not have. */
@Timeout(120)
class OwnJvmTest {
    @TempDir
    private Path directory;

    /** Returns the words of a command that runs raddle in a JVM of its own. */
    static List<String> words(List<String> prefix, String... arguments) {
        List<String> words = new ArrayList<>(prefix);
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
        words.addAll(List.of("-Xlog:disable", "-Xlog:all=error:stderr", "--enable-native-access=ALL-UNNAMED"));
        words.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        Collections.addAll(words, arguments);
        return words;
    }

    private Ended raddle(List<String> prefix, String... arguments) throws Exception {
        Path out = directory.resolve("stdout");
        Path err = directory.resolve("stderr");
        Process process = new ProcessBuilder(words(prefix, arguments))
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

    private void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    /** Returns words before a command whose user may have so many processes and threads; root has no limit. */
    private static List<String> limited(int processes) throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can run a command as another user");
        long user = 20_000 + ProcessHandle.current().pid() % 40_000; // one without processes
        List<String> words = List.of(
                "setpriv",
                "--reuid=" + user,
                "--clear-groups",
                "--inh-caps=+dac_override",
                "--ambient-caps=+dac_override",
                "prlimit",
                "--nproc=" + processes);
        List<String> attempt = new ArrayList<>(words);
        attempt.add("true");
        assumeTrue(
                new ProcessBuilder(attempt).inheritIO().start().waitFor() == 0,
                "setpriv and prlimit of util-linux are needed, and the right to use them");
        return words;
    }

    @Test
    void a_run_that_reaches_the_limit_of_processes_ends_with_its_report() throws Exception {
        write("lines.txt", "x\n".repeat(300));
        write("checks.yaml", """
                groups: { g: { limit: 200 } }
                tasks: [{ forEach: lines.txt, id: "t${n}", group: g, run: [sleep, "0.2"] }]
                """);

        Ended ended = raddle(limited(40), "run", "--quiet", "--results", "run", "checks.yaml");

        assertThat(ended.err())
                .contains("the limit of processes and threads is reached; run fewer tasks at once")
                .doesNotContain("raddle failed to run it");
        assertThat(ended.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(Files.readString(directory.resolve("run/report.json"))).contains("\"t300\"");
    }

    @Test
    void the_commands_of_a_file_keep_their_characters_in_the_locale_c() throws Exception {
        assumeTrue(ProcessStarter.limitation() == null, "only processes that posix_spawn starts keep them");
        write("checks.yaml", """
                tasks:
                  - { id: a, run: [printf, "%s", "größe 日本"] }
                  - { id: b, run: "printf '%s %s' ü \\"$V\\"", env: { V: ö } }
                """);

        Ended ended = raddle(List.of("env", "LC_ALL=C"), "run", "--quiet", "--results", "run", "checks.yaml");

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(Files.readString(directory.resolve("run/output/a.log"))).isEqualTo("größe 日本");
        assertThat(Files.readString(directory.resolve("run/output/b.log"))).isEqualTo("ü ö");
    }

    @Test
    void the_arguments_of_map_keep_their_bytes_in_the_locale_c() throws Exception {
        assumeTrue(ProcessStarter.limitation() == null, "only processes that posix_spawn starts keep them");
        String script = "LC_ALL=C exec \"$@\" \"$(printf 'gr\\303\\266\\303\\237e')\"";

        Ended ended = raddle(List.of("sh", "-c", script, "sh"), "map", "echo", "{.}", ":::");

        assertThat(ended.out()).as(ended.err()).isEqualTo("größe\n");
    }

    @Test
    void what_the_locale_c_cannot_express_is_refused_before_anything_runs() throws Exception {
        write("checks.yaml", "tasks: [{ id: a, run: 'true', dir: größe }]");

        Ended dir = raddle(List.of("env", "LC_ALL=C"), "check", "checks.yaml");
        assertThat(dir.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(dir.err()).startsWith("checks.yaml:1:9: dir must be a path").contains("; set LC_ALL=C.UTF-8\n");

        // The shell adds the argument, because the locale of the tests may not be able to express it either.
        String script = "LC_ALL=C exec \"$@\" \"$(printf 'gr\\303\\266\\303\\237e')\"";
        Ended argument = raddle(List.of("sh", "-c", script, "sh"), "check");
        assertThat(argument.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(argument.err())
                .startsWith("raddle: The locale's character set, US-ASCII, cannot decode the argument 'gr")
                .contains("e'; set LC_ALL=C.UTF-8\n");
    }

    @ParameterizedTest
    @EnabledOnOs(OS.LINUX)
    @ValueSource(
            strings = {
                "--help",
                "--version",
                "run --help",
                "list",
                "graph",
                "check",
                "schema",
                "man",
                "version",
                "completion bash",
                "explain run a",
                "run",
                "run --output prefix",
                "run --json",
                "run --dry-run",
                "map echo ::: a",
                "map --json echo ::: a",
                "map --dry-run echo ::: a"
            })
    void a_full_disk_below_standard_output_is_a_failure_of_raddle(String arguments) throws Exception {
        write("raddle.yaml", "tasks: [{ id: a, run: 'echo printed' }]");
        raddle(List.of(), "run", "--results", "run");
        List<String> full = List.of("sh", "-c", "exec \"$@\" > /dev/full", "sh");

        Ended ended = raddle(full, arguments.split(" "));

        assertThat(ended.err()).endsWith("raddle: standard output cannot be written: No space left on device\n");
        assertThat(ended.exitCode()).isEqualTo(ExitCode.BROKEN);
    }

    @Test
    void an_incomplete_last_command_gets_an_empty_text_for_what_it_lacks() throws Exception {
        Ended words = raddle(
                List.of(), "map", "-k", "-j1", "-n", "2", "printf", "<%s|%s>", "{1}", "{2}", ":::", "a", "b", "c");
        assertThat(words.out()).as(words.err()).isEqualTo("<a|b><c|>");

        Ended script =
                raddle(List.of(), "map", "-k", "-j1", "-n", "3", "--shell", "echo {3}. {}", ":::", "a", "b", "c", "d");
        assertThat(script.out()).as(script.err()).isEqualTo("c. a b c\n. d\n");
    }

    @Test
    void a_missing_interpreter_and_a_program_beside_are_named() throws Exception {
        script("python", "#!/no/such/python\n");
        script("windows", "#!/bin/sh\r\necho\r\n");
        script("beside", "#!/bin/sh\n");

        assertThat(cannotStart("./python"))
                .contains("\"./python\": its interpreter \"/no/such/python\" does not exist\n");
        assertThat(cannotStart("./windows"))
                .contains(
                        "\"./windows\": its first line ends with a carriage return; write the file with the line ends");
        assertThat(cannotStart("./none")).contains("\"./none\": there is no such program\n");
        assertThat(cannotStart("beside"))
                .contains("there is no such program on the PATH; the one in its directory is ./beside\n");
    }

    private String cannotStart(String program) throws Exception {
        return raddle(List.of(), "map", "-q", program, ":::", "a").err();
    }

    private void script(String name, String text) throws IOException {
        write(name, text);
        assertThat(directory.resolve(name).toFile().setExecutable(true)).isTrue();
    }
}
