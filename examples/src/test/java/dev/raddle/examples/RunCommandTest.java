package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code raddle run} as a process: output, files and exit codes. */
@Timeout(200)
class RunCommandTest {
    private static final String BUSY = "until [ -e go ]; do sleep 0.01; done";

    @TempDir
    private Path directory;

    private Raddle.Ended raddle(String... arguments) throws Exception {
        return new Raddle(directory).run(arguments);
    }

    private void write(String name, String text) throws Exception {
        Files.writeString(directory.resolve(name), text);
    }

    @Test
    void it_prints_its_version_and_its_usage() throws Exception {
        assertThat(raddle("--version").out()).matches("(?s)raddle \\d+\\.\\d+\\.\\d+.*\nJava \\d+.*");
        assertThat(raddle("--help").out()).contains("raddle run checks.yaml", "124  some timed out");
        assertThat(raddle("run", "--help").out()).contains("--resume=DIR", "A run file:");
        assertThat(raddle("map", "--help").out()).contains("--group-by=WHAT", "'${host}'");
        assertThat(raddle("schema").out()).contains("\"jobs\"");
    }

    @Test
    void the_clients_of_servers_are_on_the_class_paths_of_their_commands_only() throws Exception {
        write("self.yaml", "tasks: [{ id: self, run: \"ps -ww -o args= -p $PPID\" }]\n");

        assertThat(raddle("run", "--results", "run", "self.yaml").exitCode()).isZero();

        String commandLine = Files.readString(directory.resolve("run/output/self.log"));
        assertThat(commandLine).contains("raddle-core").doesNotContain("netty", "postgresql");
        assertThat(raddle("fleet", "--redis", "nonsense").err()).contains("must begin with redis://");
        assertThat(raddle("flows", "list", "--db", "postgresql://127.0.0.1:1/none")
                        .err())
                .contains("the database cannot be used: Connection to 127.0.0.1:1 refused");
    }

    @Test
    void what_it_does_not_understand_has_exit_code_2_and_a_hint() throws Exception {
        Raddle.Ended misspelt = raddle("run", "--jsn", "checks.yaml");
        assertThat(misspelt.exitCode()).isEqualTo(2);
        assertThat(misspelt.err()).contains("Unknown option: '--jsn'", "--json", "See: raddle run --help");

        assertThat(raddle().exitCode()).isEqualTo(2);
        assertThat(raddle("run").err()).contains("there is no raddle.yaml here or in a directory above");
        assertThat(raddle("run", "--grace", "5", "x").err()).contains("--grace", "must be a number with a unit");
        assertThat(raddle("run", "--fail-fast", "--keep-going", "x").exitCode()).isEqualTo(2);
        assertThat(raddle("run", "none.yaml").err())
                .contains("the run file \"none.yaml\" cannot be read: there is no such file");
        Files.createDirectory(directory.resolve("dir.yaml"));
        assertThat(raddle("run", "dir.yaml").err()).contains("the run file \"dir.yaml\" cannot be read: ");
        assertThat(raddle("run", "--report", "no/such/place.json", "x").err()).contains("--report must name a file in");
        assertThat(raddle("run", "--resume", ".").err()).contains("has no run.json");
        assertThat(raddle("map").exitCode()).isEqualTo(2);
    }

    @Test
    void an_invalid_file_has_exit_code_2_and_every_problem_with_its_place() throws Exception {
        write("checks.yaml", "tasks:\n  - { id: a, rnu: x }\n  - { id: b, run: x, timeout: soon }\n");

        Raddle.Ended ended = raddle("run", "checks.yaml");

        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err().lines())
                .hasSize(4)
                .anySatisfy(line -> assertThat(line)
                        .startsWith("checks.yaml:2:14: unknown key \"rnu\" in task; did you mean \"run\"?"))
                .contains("checks.yaml:2:5: task needs the key \"run\"")
                .anySatisfy(
                        line -> assertThat(line).startsWith("checks.yaml:3:31: timeout must be a number with a unit"))
                .last()
                .isEqualTo("raddle: 3 problems, nothing was run");
        assertThat(directory.resolve("raddle-runs")).doesNotExist();
    }

    @Test
    void without_a_terminal_it_prints_a_line_for_every_event_and_the_output_of_each_task() throws Exception {
        write("checks.yaml", """
                name: nightly
                defaults: { limit: 1 }
                tasks:
                  - { id: good, run: "echo fine" }
                  - { id: bad, run: "echo sorry; exit 9" }
                """);

        Raddle.Ended ended = raddle("run", "checks.yaml");

        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.out()).doesNotContain("\033");
        List<String> lines = ended.lines();
        assertThat(lines).hasSize(8);
        assertThat(lines.get(0)).matches("nightly: 2 tasks in 1 group; output in raddle-runs/nightly-\\d{8}-\\d{6}");
        Path run = directory.resolve(lines.get(0).replaceFirst(".* in ", ""));
        assertThat(lines.get(1)).isEqualTo("start     good [default]");
        assertThat(lines.get(2)).matches("ok        good \\[default], \\d.*");
        assertThat(lines.get(3)).isEqualTo("fine");
        assertThat(lines.get(5))
                .matches("failed    bad \\[default]: exit code 9, .* s; output in raddle-runs/.*/output/bad.log");
        assertThat(lines.get(6)).isEqualTo("sorry");
        assertThat(lines.get(7))
                .matches("done      2 tasks: 1 succeeded, 1 failed, .* s; report in raddle-runs/.*/report.json");
        assertThat(run.resolve("output/good.log")).hasContent("fine");
        assertThat(Raddle.tasks(Raddle.report(run))).containsOnlyKeys("good", "bad");
    }

    @Test
    void paths_are_relative_to_the_directory_of_the_file() throws Exception {
        Files.createDirectories(directory.resolve("sub/work"));
        write("sub/lines.txt", "x\n");
        write("sub/checks.yaml", """
                tasks:
                  - { forEach: lines.txt, id: "a-${line}", run: "pwd" }
                  - { id: b, run: "pwd", dir: work }
                """);

        assertThat(raddle("run", "--results", "run", "sub/checks.yaml").exitCode())
                .isZero();

        Path real = directory.toRealPath();
        assertThat(directory.resolve("run/output/a-x.log"))
                .hasContent(real.resolve("sub").toString());
        assertThat(directory.resolve("run/output/b.log"))
                .hasContent(real.resolve("sub/work").toString());
    }

    @Test
    void without_a_file_it_runs_tasks_of_the_nearest_raddle_yaml_above() throws Exception {
        Files.createDirectories(directory.resolve("sub/below"));
        write("sub/raddle.yaml", "tasks: [{ id: here, run: pwd }, { id: bad, run: 'exit 1' }]");

        Raddle.Ended ended = new Raddle(directory.resolve("sub/below")).run("run", "--results", "run", "her?");

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(directory.resolve("sub/below/run/output/here.log"))
                .hasContent(directory.toRealPath().resolve("sub").toString());
    }

    @Test
    void a_run_file_may_come_from_standard_input() throws Exception {
        Raddle.Ended ended =
                new Raddle(directory).feed("tasks: [{ id: a, run: 'cat; pwd' }]", "run", "--results", "run", "-");

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(ended.out()).startsWith("stdin: 1 task in 1 group");
        assertThat(directory.resolve("run/output/a.log"))
                .hasContent(directory.toRealPath().toString());
    }

    @Test
    void rejected_has_exit_code_3_and_timed_out_124() throws Exception {
        write("full.yaml", """
                groups: { small: { limit: 1, queue: 0 } }
                tasks:
                  - { id: runs, group: small, run: "%s" }
                  - { id: too-many, group: small, run: "true" }
                  - { id: opener, run: "touch go" }
                """.formatted(BUSY));
        write("slow.yaml", "tasks: [{ id: slow, run: 'sleep 600', timeout: 100ms }]");

        Raddle.Ended full = raddle("run", "full.yaml");
        Raddle.Ended slow = raddle("run", "slow.yaml");

        assertThat(full.exitCode()).isEqualTo(3);
        assertThat(full.out()).containsPattern("rejected  too-many \\[small]: rejected, .*1 of 1 running");
        assertThat(slow.exitCode()).isEqualTo(124);
        assertThat(slow.out()).contains("timed-out slow [default]: ran out of time after 100 ms (its timeout)");
    }

    @Test
    void json_prints_a_line_for_every_event_and_nothing_else() throws Exception {
        write("checks.yaml", """
                tasks:
                  - { id: a, run: "echo hi; [ $RADDLE_ATTEMPT = 2 ]", retry: { attempts: 2, backoff: 1ms } }
                """);

        Raddle.Ended ended = raddle("run", "--json", "--report", "copy.json", "checks.yaml");

        assertThat(ended.exitCode()).isZero();
        List<Map<?, ?>> events =
                ended.lines().stream().<Map<?, ?>>map(Raddle::json).toList();
        assertThat(events)
                .extracting(event -> (Object) event.get("event"))
                .containsExactly(
                        "run-started", "task-started", "task-retrying", "task-started", "task-ended", "run-ended");
        assertThat(events.get(4).get("state")).isEqualTo("succeeded");
        assertThat(events.get(4).get("attempts")).isEqualTo(2);
        assertThat(events.get(5).get("exitCode")).isEqualTo(0);
        Path run = Path.of(String.valueOf(events.get(0).get("directory")));
        assertThat(directory.resolve("copy.json")).hasSameTextualContentAs(run.resolve("report.json"));
        assertThat(String.valueOf(events.get(4).get("output")))
                .isEqualTo(run.resolve("output/a.log").toString());
    }

    @Test
    void quiet_prints_only_failures() throws Exception {
        write("good.yaml", "tasks: [{ id: a, run: 'echo x' }]");
        write("bad.yaml", "tasks: [{ id: a, run: 'exit 1' }, { id: b, run: 'true' }]");

        Raddle.Ended good = raddle("run", "--quiet", "good.yaml");
        Raddle.Ended bad = raddle("run", "-q", "bad.yaml");

        assertThat(good.exitCode()).isZero();
        assertThat(good.out() + good.err()).isEmpty();
        assertThat(bad.out()).isEmpty();
        assertThat(bad.err().lines()).hasSize(2).first().asString().startsWith("failed    a [default]: exit code 1");
    }

    @Test
    void a_dry_run_prints_the_commands_and_runs_nothing() throws Exception {
        write("urls.txt", "http://a.org/x y\nhttp://b.org/$(touch ran)\n");
        write("checks.yaml", """
                groups: { a.org: { limit: 3 }, b.org: { limit: 1 } }
                tasks:
                  - { forEach: urls.txt, id: "page-${n}", group: "${host}", run: "touch ran; curl ${line}" }
                """);

        Raddle.Ended ended = raddle("run", "--dry-run", "checks.yaml");

        assertThat(ended.exitCode()).isZero();
        assertThat(ended.out()).isEqualTo("""
                checks: 2 tasks in 2 groups, at most 256 at once
                a.org (limit 3): 1 task
                  page-1  touch ran; curl 'http://a.org/x y'
                b.org (limit 1): 1 task
                  page-2  touch ran; curl 'http://b.org/$(touch ran)'
                """);
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("urls.txt", "checks.yaml");
    }

    @Test
    void a_dry_run_whose_output_is_closed_stops_silently() throws Exception {
        write("lines.txt", "line\n".repeat(100_000));
        write("many.yaml", """
                tasks:
                  - { forEach: lines.txt, id: "t-${n}", run: "true" }
                """);
        Raddle.Ended ended = new Raddle(directory).through("head -n 1").run("run", "--dry-run", "many.yaml");

        assertThat(ended.exitCode()).as(ended.err()).isEqualTo(141);
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void no_line_of_data_becomes_code() throws Exception {
        write(
                "data.txt",
                "a; touch pwned\n$(touch pwned)\n`touch pwned`\n' || touch pwned #\n\" || touch pwned #\n-rf /\n*\n");
        write("data.csv", "name,note\n\"x\"\"; touch pwned\",\"two\nlines; touch pwned\"\n");
        write("data.json", "[{\"v\": \"\\u0027; touch pwned; \\u0027\"}, {\"v\": \"größe 😀\"}]");
        write("checks.yaml", """
                groups: { g: { limit: 8 } }
                tasks:
                  - { forEach: data.txt, id: "t-${n}", group: g, run: "printf '%s|' ${line} \\"${line}\\" ${line}" }
                  - { forEach: data.csv, id: "c-${n}", group: g, run: "printf '%s|' ${name} \\"${note}\\"" }
                  - { forEach: data.json, id: "j-${n}", group: g, run: [printf, "%s|", "${v}"] }
                """);

        Raddle.Ended ended = raddle("run", "--results", "run", "checks.yaml");

        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(directory.resolve("pwned")).doesNotExist();
        Path output = directory.resolve("run/output");
        assertThat(output.resolve("t-2.log")).content().isEqualTo("$(touch pwned)|".repeat(3));
        assertThat(output.resolve("t-6.log")).content().isEqualTo("-rf /|".repeat(3));
        assertThat(output.resolve("t-7.log")).content().isEqualTo("*|".repeat(3));
        assertThat(output.resolve("c-1.log")).content().isEqualTo("x\"; touch pwned|two\nlines; touch pwned|");
        assertThat(output.resolve("j-2.log")).content().isEqualTo("größe 😀|");
    }

    @Test
    void fail_fast_ends_the_run_with_the_first_failure() throws Exception {
        write("checks.yaml", """
                defaults: { limit: 1 }
                tasks:
                  - { id: bad, run: "exit 4" }
                  - { id: later, run: "touch ran" }
                """);

        Raddle.Ended ended = raddle("run", "--fail-fast", "--results", "run", "checks.yaml");

        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.out()).contains("stop      a task did not succeed");
        assertThat(directory.resolve("ran")).doesNotExist();
        assertThat(Raddle.tasks(Raddle.report(directory.resolve("run")))
                        .get("later")
                        .get("state"))
                .isEqualTo("cancelled");
    }

    @Test
    void fail_fast_ends_running_tasks_with_their_whole_process_trees() throws Exception {
        write("checks.yaml", """
                tasks:
                  - { id: long, group: a, run: "sleep 600 & echo $! > pid; mv pid ready; wait" }
                  - { id: bad, group: b, run: "until [ -e ready ]; do sleep 0.01; done; exit 4" }
                """);

        Raddle.Ended ended = raddle("run", "--fail-fast", "--results", "run", "checks.yaml");

        assertThat(ended.exitCode()).isEqualTo(1);
        String pid = Files.readString(directory.resolve("ready")).strip();
        assertThat(Raddle.isAlive(Long.parseLong(pid))).isFalse();
        Map<String, Map<?, ?>> tasks = Raddle.tasks(Raddle.report(directory.resolve("run")));
        assertThat(tasks.get("long").get("state")).isEqualTo("cancelled");
        assertThat(tasks.get("bad").get("exitCode")).isEqualTo(4);
    }

    @Test
    void keep_going_runs_everything_whatever_fails() throws Exception {
        write("checks.yaml", """
                tasks:
                  - { id: bad, run: "exit 4" }
                  - { id: later, run: "touch ran" }
                """);

        assertThat(raddle("run", "--keep-going", "checks.yaml").exitCode()).isEqualTo(1);

        assertThat(directory.resolve("ran")).exists();
    }

    @Test
    void a_run_directory_is_not_used_twice() throws Exception {
        write("checks.yaml", "tasks: [{ id: a, run: 'true' }]");
        raddle("run", "--results", "run", "checks.yaml");

        Raddle.Ended again = raddle("run", "--results", "run", "checks.yaml");

        assertThat(again.exitCode()).isEqualTo(2);
        assertThat(again.err()).contains("--results must name a directory that contains no run yet, was \"run\"");
    }

    @Test
    void resume_runs_only_tasks_that_have_not_succeeded() throws Exception {
        write("checks.yaml", """
                tasks:
                  - { id: good, run: "echo x >> good.txt" }
                  - { id: flaky, run: "[ -e repaired ]" }
                """);
        assertThat(raddle("run", "--results", "run", "checks.yaml").exitCode()).isEqualTo(1);
        write("repaired", "");
        write("checks.yaml", "this file is no longer needed");

        Raddle.Ended dry = raddle("run", "--dry-run", "--resume", "run");
        Raddle.Ended resumed = raddle("run", "--resume", "run");
        Raddle.Ended nothing = raddle("run", "--resume", "run");

        assertThat(dry.out())
                .contains("1 task in 1 group", "1 succeeded before", "flaky")
                .doesNotContain("good.txt");
        assertThat(resumed.exitCode()).isZero();
        assertThat(resumed.lines().getFirst()).contains("2 tasks in 1 group, 1 succeeded before");
        assertThat(nothing.exitCode()).isZero();
        assertThat(directory.resolve("good.txt")).hasContent("x");
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(((Map<?, ?>) report.get("totals")).get("succeeded")).isEqualTo(2);
    }
}
