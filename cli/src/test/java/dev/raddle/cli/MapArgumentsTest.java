package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.JobLog;
import dev.raddle.cli.run.Journal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong arguments of {@code raddle map} have exit code 2 and a hint, and nothing runs. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class MapArgumentsTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "touch FILE :::|::: must be followed by at least one argument",
                "touch ::: FILE :::|::: must be followed by at least one argument",
                "::: FILE|name a command, such as echo; or use --commands",
                "--commands touch ::: FILE|there must be no other, was \"touch\"",
                "--commands --shell ::: FILE|--commands cannot be combined with --shell",
                "touch :::: FILE|\":::: \" is not known; write -a FILE",
                "touch FILE :::+ a|write -a FILE for a file, and --link",
                "-n touch ::: FILE|was \"touch\"; to see what would run, use --dry-run",
                "-n 0 touch ::: FILE|-n must be a number from 1 or max, was \"0\"",
                "--header touch ::: FILE|--header must be followed by a colon",
                "--colsep ( touch ::: FILE|--colsep must be a regular expression, \"(\" is not valid",
                "-a none touch FILE|-a: none: there is no such file or directory",
                "-a . touch FILE|-a: .: this is a directory",
                "-j -1 touch ::: FILE|--limit must be a number of commands at once, 0 for no limit, or a percentage",
                "-j 50%% touch ::: FILE|was \"50%%\"",
                "--queue -1 touch ::: FILE|--queue must be at least 0, was -1",
                "--halt now touch ::: FILE|--halt must be now or soon, a comma,",
                "--halt now,fail=1 --fail-fast touch ::: FILE|--fail-fast cannot be combined with --halt",
                "--joblog /none/log touch ::: FILE|--joblog must name a file in a directory that can be written",
                "--resume touch ::: FILE|--resume needs a log of what has run; write --joblog FILE",
                "--resume-failed touch ::: FILE|--resume needs a log",
                "--resume --joblog /proc/version touch ::: FILE|--joblog must name a",
                "--timeout 0s touch ::: FILE|--timeout must be longer than 0",
                "--backoff x touch ::: FILE|--backoff must",
                "--group-by ${x} touch ::: FILE|--group-by has the unknown placeholder ${x}",
                "--keep-going touch ::: FILE|Unknown option: '--keep-going'",
                "--global 3 touch ::: FILE|Unknown option: '--global'",
                "-o x touch ::: FILE|Unknown option: '-o'"
            })
    void a_wrong_argument_is_refused_with_a_hint(String line, String message) {
        Path file = directory.resolve("file");
        Ended ended = Ended.raddle(("map " + line.replace("FILE", file.toString())).split(" ", -1));

        assertThat(ended.err()).contains(message.replace(":::: ", "::::"));
        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(file).doesNotExist();
    }

    @Test
    void a_directory_in_which_another_run_begins_is_refused() throws Exception {
        Path results = Files.createDirectory(directory.resolve("run"));
        Path file = directory.resolve("file");
        try (Journal other = Journal.open(results.resolve("journal.jsonl"))) {
            Ended ended = Ended.raddle("map", "--results", results.toString(), "touch", ":::", file.toString());

            assertThat(ended.err()).contains("the run directory must not be in use: ");
            assertThat(ended.exitCode()).isEqualTo(2);
        }
        assertThat(file).doesNotExist();
    }

    @Test
    void a_file_in_place_of_a_directory_for_the_results_is_refused() throws Exception {
        Path results = Files.createFile(directory.resolve("results"));
        Ended ended = Ended.raddle("map", "--results", results.toString(), "true", ":::", "a");

        assertThat(ended.err()).contains("must name a directory, was \"" + results + "\", a file; name another\n");
        assertThat(ended.exitCode()).isEqualTo(2);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void a_job_log_on_a_full_disk_is_one_line_and_nothing_runs() {
        Path file = directory.resolve("file");
        Ended ended = Ended.raddle("map", "--joblog", "/dev/full", "touch", ":::", file.toString());

        assertThat(ended.err()).isEqualTo("raddle: /dev/full cannot be written: No space left on device\n");
        assertThat(ended.exitCode()).isEqualTo(70);
        assertThat(file).doesNotExist();
    }

    @Test
    void all_problems_are_reported_at_once() {
        Ended ended =
                Ended.raddle("map", "-j", "x", "--retry", "0", "-n", "0", "--halt", "x", "--burst", "1", "echo", ":::");

        assertThat(ended.err().lines().filter(line -> line.startsWith("raddle: ")))
                .hasSize(6);
        assertThat(ended.exitCode()).isEqualTo(2);
    }

    @Test
    void a_dry_run_shows_every_command_and_runs_none() throws Exception {
        Path file = Files.writeString(directory.resolve("in"), "a b\nc\n");
        List<String> words = new ArrayList<>(List.of("map", "--dry-run", "-a", file.toString(), "touch", "{}.x"));

        assertThat(Ended.raddle(words.toArray(String[]::new)).exitCode()).isZero();
        assertThat(directory.resolve("a b.x")).doesNotExist();
    }

    @Test
    void a_placeholder_of_one_value_is_refused_where_a_command_gets_several_of_them() {
        Path file = directory.resolve("file");
        Ended ended = Ended.raddle("map", "-X", "touch", file + "{1}-{2}", ":::", "a", "b", ":::", "1", "2");

        assertThat(ended.err()).contains("has {1}, but each command gets several lines");
        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_job_log_that_another_run_writes_to_is_refused_and_keeps_its_lines() throws Exception {
        Path log = directory.resolve("log");
        Path file = directory.resolve("file");
        try (JobLog other = new JobLog(log, false, id -> file)) {
            String before = Files.readString(log);
            for (String again : new String[] {"--tag", "--resume"}) {
                Ended ended = Ended.raddle("map", "--joblog", log.toString(), again, "touch", ":::", file.toString());

                assertThat(ended.err()).contains("--joblog must name a file that no other run writes to");
                assertThat(ended.exitCode()).isEqualTo(2);
            }
            assertThat(log).hasContent(before);
        }
        assertThat(file).doesNotExist();
    }

    @Test
    void standard_input_is_named_once() {
        Ended ended = Ended.raddle("map", "-a", "-", "-a", "-", "echo");

        assertThat(ended.err()).contains("-a - must be given once");
        assertThat(ended.exitCode()).isEqualTo(2);
    }

    @Test
    void what_is_not_a_run_directory_is_described() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        Path missing = directory.resolve("missing");

        for (String[] words : new String[][] {{"run", "--resume"}, {"explain"}}) {
            assertThat(describe(words, missing))
                    .contains("such as raddle-runs/NAME-TIME; \"" + missing + "\" does not exist");
            assertThat(describe(words, file)).contains("\"" + file + "\" is a file");
            assertThat(describe(words, directory)).contains("\"" + directory + "\" has no run.json");
        }
    }

    private static String describe(String[] words, Path path) {
        List<String> all = new ArrayList<>(List.of(words));
        all.add(path.toString());
        if (words[0].equals("explain")) {
            all.add("a");
        }
        return Ended.raddle(all.toArray(String[]::new)).err();
    }
}
