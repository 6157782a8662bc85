package dev.raddle.cli;

import static dev.raddle.cli.Ended.raddle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.run.ExitCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The file and the tasks that {@code raddle run} and {@code raddle list} name. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
@ResourceLock("the signals of this process")
class RunArgumentsTest {
    private static final String TASKS = """
            name: build
            groups: { wide: { limit: 3 } }
            tasks:
              - { id: prepare, desc: "Makes the directory", run: "true" }
              - { forEach: [1, 2], id: "test-${line}", desc: "Runs part ${line}", run: "true", needs: prepare }
              - { id: "page-http://a.org//x", group: wide, cost: 2, run: "true" }
              - { id: "odd*", run: "true" }
              - { id: oddity, run: "true" }
            """;

    private static final Pattern SUCCEEDED = Pattern.compile("\\n    \\{\"id\":\"([^\"]*)\".*\"state\":\"succeeded\"");

    @TempDir
    private Path directory;

    private String file = "";
    private int runs;

    @BeforeEach
    void write() throws IOException {
        file = Files.writeString(directory.resolve("build.yaml"), TASKS).toString();
    }

    /** Runs tasks and returns the report. */
    private String report(String... arguments) throws IOException {
        Path results = directory.resolve("run" + runs++);
        List<String> all = new ArrayList<>(List.of("run", "--quiet", "--results", results.toString()));
        all.addAll(List.of(arguments));
        raddle(all.toArray(String[]::new)).succeeded();
        return Files.readString(results.resolve("report.json"));
    }

    /** Runs tasks and returns the ids of those that have run. */
    private List<String> ran(String... arguments) throws IOException {
        return SUCCEEDED
                .matcher(report(arguments))
                .results()
                .map(task -> task.group(1))
                .toList();
    }

    private static <T> T withInput(String text, Callable<T> action) throws Exception {
        InputStream input = System.in;
        System.setIn(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
        try {
            return action.call();
        } finally {
            System.setIn(input);
        }
    }

    @Test
    void a_task_after_the_file_runs_with_its_upstream_tasks_only() throws IOException {
        assertThat(ran(file, "test-2")).containsExactly("prepare", "test-2");
        assertThat(ran(file, "page-http://a.org//x", "oddity")).containsExactly("page-http://a.org//x", "oddity");
    }

    @Test
    void a_task_may_be_a_glob_and_an_id_with_a_star_is_itself() throws IOException {
        assertThat(ran(file, "test-*", "odd?ty")).containsExactly("prepare", "test-1", "test-2", "oddity");
        assertThat(ran(file, "*")).hasSize(6);
        assertThat(ran(file, "odd*")).containsExactly("odd*");
    }

    @Test
    void every_unknown_task_is_reported_with_a_suggestion_and_nothing_runs() {
        String results = directory.resolve("run").toString();
        Ended ended = raddle("run", "--results", results, file, "prepair", "none*", "oddity");

        assertThat(ended.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(ended.err().lines())
                .containsExactly(
                        "raddle: no task of the file is \"prepair\"; did you mean \"prepare\"?",
                        "raddle: no task of the file is \"none*\"; raddle list names them (a FILE ends in .yaml, .yml"
                                + " or .json)",
                        "See: raddle run --help");
        assertThat(directory.resolve("run")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.yaml", "a.yml", "a.json"})
    void the_end_of_its_name_makes_an_argument_the_file(String name) throws IOException {
        Path named = Files.writeString(directory.resolve(name), "{\"tasks\": [{\"id\": \"x\", \"run\": \"true\"}]}");

        assertThat(ran(named.toString())).containsExactly("x");
        assertThat(raddle("run", "none-" + name).err()).startsWith("raddle: the run file \"none-" + name + "\" cannot");
    }

    @Test
    void a_dash_is_standard_input() throws Exception {
        assertThat(withInput(TASKS, () -> ran("-", "oddity"))).containsExactly("oddity");
        assertThat(withInput(TASKS, () -> raddle("list", "--ids", "-").succeeded()))
                .startsWith("prepare\n");
        assertThat(withInput("tasks: []", () -> raddle("check", "-").err()))
                .startsWith("stdin:1:8: tasks must have at least one task\n");
    }

    @Test
    void the_default_file_is_the_nearest_above_the_working_directory() throws IOException {
        Path below = Files.createDirectories(directory.resolve("a/b"));
        Files.writeString(directory.resolve("raddle.yaml"), TASKS);

        assertThat(RunFile.nearest(below, Main.commandLine())).isEqualTo(Path.of("../../raddle.yaml"));
        Files.writeString(below.resolve("raddle.yaml"), TASKS);
        assertThat(RunFile.nearest(below, Main.commandLine())).isEqualTo(Path.of("raddle.yaml"));
        assertThatThrownBy(() -> RunFile.nearest(Path.of("/"), Main.commandLine()))
                .hasMessage("there is no raddle.yaml here or in a directory above; name a FILE that ends in .yaml,"
                        + " .yml or .json, or - for standard input");
    }

    @Test
    void jobs_set_the_limit_of_groups_without_one_and_0_is_no_limit() throws IOException {
        assertThat(report("-j", "7", file)).contains("\"default\":{\"limit\":7,", "\"wide\":{\"limit\":3,");
        assertThat(report("-j0", file)).contains("\"default\":{\"limit\":2147483647,", "\"wide\":{\"limit\":3,");
    }

    @Test
    void jobs_limit_how_many_run_at_once_in_all() throws IOException {
        Files.writeString(directory.resolve("many.yaml"), """
                groups: { a: { limit: 9 }, b: { limit: 9 } }
                tasks:
                  - { forEach: [1, 2, 3], id: "a${n}", group: a, run: "mkdir busy && sleep 0.02 && rmdir busy" }
                  - { forEach: [1, 2, 3], id: "b${n}", group: b, run: "mkdir busy && sleep 0.02 && rmdir busy" }
                """);

        assertThat(ran("-j1", directory.resolve("many.yaml").toString())).hasSize(6);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-1 | raddle: --jobs must be at least 0, was -1",
                "x | raddle: Invalid value for option '--jobs': 'x' is not an int"
            })
    void an_invalid_number_of_jobs_is_an_invalid_argument(String jobs, String problem) {
        Ended ended = raddle("run", "--jobs=" + jobs, file);

        assertThat(ended.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(ended.err().lines()).first().isEqualTo(problem);
    }

    @Test
    void the_timeout_of_the_command_line_replaces_that_of_the_file_and_ends_with_124() throws IOException {
        String slow = Files.writeString(
                        directory.resolve("slow.yaml"), "timeout: 1h\ntasks: [{ id: slow, run: 'sleep 600' }]")
                .toString();
        String results = directory.resolve("timed").toString();

        assertThat(raddle("run", "-q", "--timeout", "200ms", "--results", results, slow)
                        .exitCode())
                .isEqualTo(ExitCode.TIMED_OUT);

        assertThat(raddle("run", "-q", "--timeout", "200ms", "--resume", results)
                        .exitCode())
                .isEqualTo(ExitCode.TIMED_OUT);
        assertThat(raddle("run", "--timeout", "0s", "-j-1", slow).err())
                .startsWith("raddle: --jobs must be at least 0, was -1\nraddle: --timeout must be longer than 0\n");
        assertThat(raddle("run", "--timeout", "5", slow).exitCode()).isEqualTo(ExitCode.INVALID);
    }

    @Test
    void a_report_at_a_link_is_written_into_what_it_names() throws IOException {
        Path target = Files.writeString(directory.resolve("target"), "old");
        Path link = Files.createSymbolicLink(directory.resolve("link"), target);

        String ofRun = report("--report", link.toString(), file, "oddity");
        assertThat(link).isSymbolicLink();
        assertThat(target).hasContent(ofRun);

        raddle("map", "--quiet", "--report", link.toString(), "true", ":::", "a")
                .succeeded();
        assertThat(link).isSymbolicLink();
        assertThat(target).content().contains("\"name\": \"map\"");
    }

    @Test
    void a_file_after_a_resumed_directory_replaces_its_copy() throws IOException {
        String results = directory.resolve("resumed").toString();
        String tasks = "params: { p: 1 }\ntasks: [{ id: a, run: 'true' }, { id: b, run: 'echo ${param.p}' }";
        Path changing = Files.writeString(directory.resolve("changing.yaml"), tasks + "]");
        raddle("run", "-q", "--results", results, changing.toString()).succeeded();
        Files.writeString(changing, tasks + ", { id: c, run: 'echo ${param.p}' }]");

        raddle("run", "-q", "--resume", results, changing.toString(), "-p", "p=2")
                .succeeded();
        assertThat(Path.of(results, "report.json")).content().contains("\"succeededBefore\": 1,", "\"tasks\":3,");
        raddle("run", "-q", "--resume", results).succeeded();
        assertThat(Path.of(results, "report.json")).content().contains("\"succeededBefore\": 3,");
    }

    @Test
    void a_param_or_an_invalid_file_beside_a_resumed_directory_changes_nothing() throws IOException {
        Path results = directory.resolve("unchanged");
        raddle("run", "-q", "--results", results.toString(), file, "oddity").succeeded();
        String kept = Files.readString(results.resolve("run.json"));
        String invalid = Files.writeString(directory.resolve("invalid.yaml"), "tasks: []")
                .toString();

        Ended param = raddle("run", "--resume", results.toString(), "-p", "a=b");
        Ended ended = raddle("run", "--resume", results.toString(), invalid);

        assertThat(param.err())
                .startsWith("raddle: --param needs a FILE beside --resume, except for a secret; the other values are"
                        + " those of the earlier run\n");
        assertThat(ended.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(ended.err())
                .isEqualTo(invalid + ":1:8: tasks must have at least one task\nraddle: 1 problem, nothing was run\n");
        assertThat(results.resolve("run.json")).hasContent(kept);
    }

    @Test
    void a_task_that_costs_more_than_the_jobs_is_a_problem_of_the_file() {
        assertThat(raddle("run", "-j1", file).err())
                .contains(":6:11: the cost of task \"page-http://a.org//x\" must be at most what group \"wide\" may run"
                        + " at once, 1, was 2");
    }

    @Test
    void list_prints_nothing_for_a_file_whose_data_is_empty() throws IOException {
        Files.writeString(directory.resolve("none.txt"), "");
        Path empty = Files.writeString(
                directory.resolve("empty.yaml"), "tasks: [{ forEach: none.txt, id: 'a${n}', run: 'true' }]");

        assertThat(raddle("list", empty.toString()).succeeded()).isEmpty();
    }

    @Test
    void list_names_each_task_with_its_group_and_its_description() {
        assertThat(raddle("list", file).succeeded()).isEqualTo("""
                prepare               [default]  Makes the directory
                test-1                [default]  Runs part 1
                test-2                [default]  Runs part 2
                page-http://a.org//x  [wide]
                odd*                  [default]
                oddity                [default]
                """);
        assertThat(raddle("list", "--ids", file).succeeded())
                .isEqualTo("prepare\ntest-1\ntest-2\npage-http://a.org//x\nodd*\noddity\n");
        assertThat(raddle("list", "--json", file).succeeded().lines())
                .hasSize(6)
                .contains(
                        "{\"id\":\"test-1\",\"group\":\"default\",\"desc\":\"Runs part 1\",\"needs\":[\"prepare\"]}",
                        "{\"id\":\"oddity\",\"group\":\"default\",\"desc\":null,\"needs\":[]}");
    }

    @Test
    void help_lists_the_commands_for_servers_under_a_heading_of_their_own() {
        assertThat(raddle("--help").succeeded())
                .containsSubsequence(
                        "  run ",
                        "  list ",
                        "  man ",
                        "\nFleets of JVMs and flows in databases:\n  fleet ",
                        "  flows ");
    }
}
