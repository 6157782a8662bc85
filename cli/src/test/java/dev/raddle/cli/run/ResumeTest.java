package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.data.JsonLine;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
@ResourceLock(Session.SIGNALS)
class ResumeTest {
    private static final String FILE = """
            defaults: { limit: 1 }
            tasks:
              - { id: good, run: "echo ran >> good.txt" }
              - { id: flaky, run: "echo ran >> flaky.txt; [ -e repaired ]" }
              - { forEach: lines.txt, id: "line-${line}", run: "echo ${line}" }
            """;

    @TempDir
    private Path directory;

    private void failOnce() throws Exception {
        Files.writeString(directory.resolve("lines.txt"), "a\nb; c\n");
        assertThat(new Session(directory).run(FILE)).isEqualTo(ExitCode.FAILED);
    }

    private long times(String file) throws IOException {
        return Files.readString(directory.resolve(file)).lines().count();
    }

    @Test
    void only_unsuccessful_tasks_run_again_and_the_reports_are_merged() throws Exception {
        failOnce();
        Files.writeString(directory.resolve("repaired"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);

        assertThat(times("good.txt")).isEqualTo(1);
        assertThat(times("flaky.txt")).isEqualTo(2);
        assertThat(second.recorder().all(RunEvent.TaskEnded.class)).hasSize(1);
        JsonLine report = JsonLine.parse(Files.readString(second.out().resolve("report.json")))
                .orElseThrow();
        assertThat(report.object("totals").number("succeeded")).hasValue(4);
        assertThat(report.object("totals").number("failed")).hasValue(0);
        assertThat(report.number("succeededBefore")).hasValue(3);
    }

    @Test
    void a_failed_task_runs_again_although_no_other_task_needs_it_any_more() throws Exception {
        String file = """
                tasks:
                  - { id: bad, run: "test -e repaired" }
                  - { id: next, run: "echo ran >> next.txt", needs: bad }
                  - { id: only-next, run: "echo ran >> only-next.txt", needs: [{ after: go }] }
                  - { id: go, run: "true", needs: [{ after: bad }] }
                  - { id: both, run: "echo ran >> both.txt", needs: [next, only-next] }
                  - { id: last, run: "true", needs: [{ after: [bad, both] }] }
                """;
        assertThat(new Session(directory).run(file)).isEqualTo(ExitCode.DEGRADED);
        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.DEGRADED);
        Files.writeString(directory.resolve("repaired"), "");
        assertThat(new Session(directory).only("go").resume()).isEqualTo(ExitCode.OK);
        Session last = new Session(directory);

        assertThat(last.resume()).isEqualTo(ExitCode.OK);

        assertThat(times("both.txt")).isEqualTo(1);
    }

    @Test
    void a_task_that_is_not_selected_runs_in_the_next_resumed_run() throws Exception {
        String file = """
                tasks:
                  - { id: bad, run: "test -e repaired" }
                  - { id: last, run: "true", needs: [{ after: bad }] }
                  - { id: other, run: "true" }
                """;
        new Session(directory).run(file);
        new Session(directory).only("other").resume();

        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.DEGRADED);
    }

    @Test
    void an_alternative_that_was_never_needed_does_not_run() throws Exception {
        String file = """
                tasks:
                  - { id: a, run: "until [ -e started ]; do sleep 0.01; done" }
                  - { id: c, run: "touch c", needs: [{ after: bad }] }
                  - { id: bad, group: other, run: "touch started; until [ -e d ]; do sleep 0.01; done; test -e ok" }
                  - { id: d, run: "touch d", needs: [{ any: [a, c] }] }
                """;
        assertThat(new Session(directory).run(file)).isEqualTo(ExitCode.DEGRADED);
        Files.writeString(directory.resolve("ok"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);

        assertThat(second.recorder().result("bad").state()).isEqualTo(TaskState.SUCCEEDED);
        assertThat(second.recorder().result("c").state()).isEqualTo(TaskState.SKIPPED);
    }

    private static final String VALUES = """
            tasks:
              - { id: p, run: "echo ran >> p.txt; echo hello" }
              - { id: q, run: "echo ran >> q.txt" }
              - { id: m, run: "echo ran >> m.txt", needs: p }
              - { id: r, run: "echo got ${p.stdout}; [ -e repaired ]", needs: [m, q] }
            """;

    private Path value(String id) {
        return directory.resolve("run/values/" + id + ".out");
    }

    private void edit(UnaryOperator<String> change) throws IOException {
        Path journal = directory.resolve("run/journal.jsonl");
        Files.writeString(journal, change.apply(Files.readString(journal)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_task_whose_stored_output_is_lost_runs_again_for_a_task_that_reads_it(boolean missing) throws Exception {
        new Session(directory).run(VALUES);
        if (missing) {
            Files.delete(value("p"));
            Files.delete(value("p").getParent());
        } else {
            Files.writeString(value("p"), "hel");
        }
        Files.writeString(directory.resolve("repaired"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);

        assertThat(second.output("r.log")).endsWith("===\ngot hello\n");
        assertThat(times("p.txt")).isEqualTo(2);
        assertThat(times("m.txt")).isEqualTo(2); // it is downstream of p
        assertThat(times("q.txt")).isEqualTo(1);
    }

    @Test
    void an_old_journal_without_sizes_and_definitions_can_be_resumed() throws Exception {
        new Session(directory).run(VALUES);
        edit(text -> text.replaceAll(",\"(stored|definition)\":[^,}]+", ""));
        Files.writeString(directory.resolve("repaired"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);

        assertThat(second.output("r.log")).endsWith("===\ngot hello\n");
        assertThat(times("p.txt")).isEqualTo(1);
    }

    @Test
    void a_lost_output_that_nothing_reads_any_more_is_not_made_again_unless_it_is_a_result() throws Exception {
        new Session(directory).run("""
                results: [result]
                tasks:
                  - { id: a, run: "echo ran >> a.txt" }
                  - { id: b, run: "echo ${a.stdout}", needs: a }
                  - { id: result, run: "echo ran >> result.txt; echo hello" }
                """);
        Files.delete(value("a"));
        Files.delete(value("result"));

        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.OK);

        assertThat(times("a.txt")).isEqualTo(1);
        assertThat(times("result.txt")).isEqualTo(2);
        assertThat(value("result")).hasContent("hello");
    }

    @Test
    void a_task_that_printed_a_secret_runs_again_only_for_a_task_that_reads_its_output() throws Exception {
        Map<String, String> params = Map.of("token", "it's \"secret\"");
        String file = """
                params: { token: }
                secrets: [token]
                results: [p]
                tasks:
                  - { id: p, run: "echo ran >> p.txt; echo ${param.token}" }
                  - { id: q, run: "echo ran >> q.txt; echo plain" }
                  - id: r
                    needs: [p, q]
                    run: "test -e repaired && test ${p.stdout} = ${param.token} && echo ${q.stdout}"
                """;
        assertThat(new Session(directory).params(params).run(file)).isEqualTo(ExitCode.FAILED);
        Files.writeString(directory.resolve("repaired"), "");

        assertThat(new Session(directory).params(params).resume()).isEqualTo(ExitCode.OK);
        assertThat(new Session(directory).params(params).resume()).isEqualTo(ExitCode.OK);

        assertThat(times("p.txt")).isEqualTo(2);
        assertThat(times("q.txt")).isEqualTo(1);
        assertThat(value("p")).hasContent("***");
    }

    @Test
    void a_secret_with_a_new_value_is_no_change() throws Exception {
        String file = """
                params: { token: }
                secrets: [token]
                tasks:
                  - { id: a, run: "echo ${param.token} >> a.txt" }
                  - { id: b, run: [echo, "${param.token}"], env: { T: "${param.token}" }, when: "${param.token} != x" }
                  - { id: c, needs: b, run: "false", fallback: { value: "${param.token}" } }
                  - { id: d, needs: c, run: "false", when: "${c.state} == succeeded", \
                fallback: "touch d-${param.token}" }
                  - { id: e, run: "false" }
                """;
        new Session(directory).params(Map.of("token", "hunter22")).run(file);
        Session second = new Session(directory).params(Map.of("token", "it's \"new\""));

        second.resume(file);

        assertThat(second.recorder().all(RunEvent.AttemptStarted.class))
                .extracting(RunEvent.AttemptStarted::id)
                .containsExactly("e");
    }

    @Test
    void an_undo_that_reads_the_secret_output_of_an_earlier_run_does_not_run() throws Exception {
        Map<String, String> params = Map.of("token", "hunter2-");
        new Session(directory).params(params).run("""
                params: { token: }
                secrets: [token]
                tasks:
                  - { id: a, run: "echo ${param.token}", undo: "echo ${a.stdout} >> undone" }
                  - { id: b, run: "exit 1", needs: a }
                """);
        assertThat(directory.resolve("undone")).hasContent("hunter2-");
        Files.delete(directory.resolve("undone"));
        edit(text -> text.replaceAll("(?m)^.*\"undone\".*\\n", "")); // as if the run had been killed
        Session second = new Session(directory).params(params);

        assertThat(second.resume()).isEqualTo(ExitCode.FAILED);

        assertThat(directory.resolve("undone")).doesNotExist();
        assertThat(second.recorder().all(RunEvent.TaskUndone.class).getFirst().error())
                .isEqualTo("not started: the output of \"a\" contained a secret and was not kept");
    }

    @Test
    void an_undo_that_reads_a_lost_output_does_not_run() throws Exception {
        new Session(directory).run("""
                tasks:
                  - { id: a, run: "echo id-7", undo: "echo ${a.stdout} >> undone" }
                  - { id: b, run: "exit 1", needs: a }
                """);
        Files.delete(directory.resolve("undone"));
        edit(text -> text.replaceAll("(?m)^.*\"undone\".*\\n", "")); // as if the run had been killed
        Files.writeString(value("a"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.FAILED);

        assertThat(directory.resolve("undone")).doesNotExist();
        assertThat(second.recorder().all(RunEvent.TaskUndone.class).getFirst().error())
                .isEqualTo("not started: the output of \"a\" is incomplete or missing; restore " + value("a"));
    }

    @Test
    void the_file_and_its_data_are_those_of_the_first_run() throws Exception {
        failOnce();
        Files.writeString(directory.resolve("lines.txt"), "something else\n");
        Files.delete(directory.resolve("good.txt"));
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.FAILED);

        assertThat(second.recorder().all(RunEvent.RunStarted.class).getFirst().tasks())
                .isEqualTo(4);
        assertThat(directory.resolve("good.txt")).doesNotExist();
    }

    /** Every task writes a line into the file with its id when it runs. */
    private static final String BUILD = """
            tasks:
              - { id: a, run: "echo 1 | tee -a a" }
              - { id: b, run: "echo ${a.stdout} | tee -a b", needs: a }
              - { id: c, run: "echo 1 | tee -a c", needs: { after: b } }
              - { id: d, run: "echo 1 | tee -a d" }
              - { id: bad, run: "echo 1 >> bad; exit 1" }
            """;

    @Test
    void with_a_changed_file_changed_tasks_run_and_what_is_downstream_of_them() throws Exception {
        assertThat(new Session(directory).run(BUILD)).isEqualTo(ExitCode.FAILED);
        Session second = new Session(directory);

        assertThat(second.resume(BUILD.replace("echo 1 | tee -a a", "echo 2 | tee -a a")))
                .isEqualTo(ExitCode.FAILED);

        assertThat(directory.resolve("a")).hasContent("1\n2");
        assertThat(directory.resolve("b")).hasContent("1\n2");
        assertThat(times("c")).isEqualTo(2); // it only follows b
        assertThat(times("d")).isEqualTo(1);
        assertThat(times("bad")).isEqualTo(2);
    }

    @Test
    void with_a_changed_file_new_tasks_run_and_those_that_are_gone_are_not_in_the_report() throws Exception {
        new Session(directory).run(BUILD);
        Session second = new Session(directory);

        String changed = BUILD.lines().filter(line -> !line.contains("id: bad")).collect(Collectors.joining("\n"));
        assertThat(second.resume(changed + "\n  - { id: e, run: 'echo 1 >> e', needs: d }"))
                .isEqualTo(ExitCode.OK);

        assertThat(second.recorder().all(RunEvent.TaskEnded.class))
                .singleElement()
                .satisfies(ended -> assertThat(ended.result().id()).isEqualTo("e"));
        assertThat(Files.readString(second.out().resolve("report.json")))
                .contains("\"tasks\":5,", "\"succeeded\":5,")
                .doesNotContain("\"bad\"");
        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.OK); // with the copy of the changed file
    }

    @Test
    void a_change_of_limits_times_texts_and_order_runs_nothing_again() throws Exception {
        new Session(directory).run("tasks: [{ id: a, run: 'echo 1 >> a' }, { id: b, run: 'echo 1 >> b' }]");
        Session second = new Session(directory);

        second.resume("""
                jobs: 7
                timeout: 1h
                defaults: { retry: 2, limit: 3 }
                tasks:
                  - { id: b, run: "echo 1 >> b", desc: "Says 1", timeout: 5s, priority: 3, cost: 2, undo: "true" }
                  - { id: a, run: "echo 1 >> a", group: other, essential: true }
                """);

        assertThat(second.recorder().all(RunEvent.AttemptStarted.class)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run: 'echo ${param.p} $HOME'",
                "run: [echo, '${param.p}', '$HOME']",
                "run: [echo, '$${param.p}', '$HOME'], env: { P: '${param.p}' }",
                "run: [echo, '${param.p} $HOME']",
                "run: [echo, '${param.p}', '$HOME'], env: { A: b }",
                "run: [echo, '${param.p}', '$HOME'], dir: sub",
                "run: [echo, '${param.p}', '$HOME'], needs: first",
                "run: [echo, '${param.p}', '$HOME'], needs: { after: first }",
                "run: [echo, '${param.p}', '$HOME'], needs: { optional: first }",
                "run: [echo, '${first.stdout}', '$HOME'], needs: first",
                "run: [echo, '$${first.stdout}', '${param.p}'], needs: first",
                "run: [echo, '${param.p}', '$HOME'], when: '${param.p} == 1'",
                "run: [echo, '${param.p}', '$HOME'], when: 'not ${param.p} == 2'",
                "run: [echo, '${param.p}', '$HOME'], fallback: { value: x }",
                "run: [echo, '${param.p}', '$HOME'], fallback: { value: y }",
                "run: [echo, '${param.p}', '$HOME'], fallback: 'echo ${param.p}'",
                "run: [echo, '${param.p}', '$HOME'], fallback: 'echo \"${param.p}\"'"
            })
    void what_a_task_runs_and_reads_is_its_definition(String definition) throws Exception {
        Files.createDirectory(directory.resolve("sub"));
        String file = """
                params: { p: 1 }
                tasks:
                  - { id: first, run: "echo ${param.p}" }
                  - { id: it, %s }
                """;
        new Session(directory).run(file.formatted(definition));
        Session same = new Session(directory);
        same.resume("\n" + file.formatted(definition) + "  - { id: more, run: 'true' }");
        Session other = new Session(directory);

        other.resume(file.formatted("run: [echo, other]"));

        assertThat(same.recorder().all(RunEvent.AttemptStarted.class))
                .extracting(RunEvent.AttemptStarted::id)
                .containsExactly("more");
        assertThat(other.recorder().all(RunEvent.AttemptStarted.class))
                .extracting(RunEvent.AttemptStarted::id)
                .containsExactly("it");
    }

    @Test
    void definitions_that_differ_have_different_checksums() throws Exception {
        String file = "params: { p: 1 }\ntasks: [{ id: first, run: 'echo ${param.p}' }, { id: it, %s }]";
        List<String> all = new ArrayList<>();
        for (String definition : List.of(
                "run: 'echo ${first.stdout}', needs: first",
                "run: 'echo ${first.stdout}', needs: first, when: '${first.exit} == 0'",
                "run: 'echo ${first.stdout}', needs: first, when: '${first.exit} != 1'",
                "run: 'echo ${first.stdout}', needs: first, when: '${first.exit} == ${param.p}'",
                "run: 'echo ${first.stdout}', needs: first, when: '${first.exit} contains ${param.p}'",
                "run: 'echo ${first.exit}', needs: first",
                "run: [echo, '${first.stdout}'], needs: first",
                "run: [echo, '$${first.stdout}'], needs: first",
                "run: [echo, '${first.stdout}'], needs: { optional: first }",
                "run: [echo], needs: { optional: first }, fallback: { value: x }",
                "run: [echo], needs: { optional: first }, fallback: x",
                "run: [echo], needs: { optional: first }, fallback: [x]",
                "run: [echo], needs: { optional: first }, fallback: 'x ${first.exit}'",
                "run: [echo], needs: { optional: first }, fallback: ['x ${first.exit}']")) {
            all.add(checksum(file.formatted(definition)));
        }
        all.add(checksum(
                file.formatted("run: 'echo ${first.stdout}', needs: first").replace("p: 1", "p: 2")));

        assertThat(all).doesNotHaveDuplicates();
    }

    private String checksum(String file) throws Exception {
        Plan plan = new PlanReader("checks.yaml", directory, name -> new byte[0]).read(file);
        return Objects.requireNonNull(Definitions.of(plan).get("it"));
    }

    @Test
    void a_long_chain_has_checksums() throws Exception {
        StringBuilder chain = new StringBuilder("tasks:\n");
        for (int i = 5_000; i > 0; i--) {
            chain.append("  - { id: t")
                    .append(i)
                    .append(", run: 'true', needs: t")
                    .append(i - 1)
                    .append(" }\n");
        }
        chain.append("  - { id: t0, run: 'true' }\n");
        Plan plan = new PlanReader("checks.yaml", directory, name -> new byte[0]).read(chain.toString());

        assertThat(new HashSet<>(Definitions.of(plan).values())).hasSize(5_001);
    }

    @Test
    void a_success_that_is_to_run_again_is_explained() throws Exception {
        String file = "tasks: [{ id: a, run: 'true' }]";
        new Session(directory).run(file);
        edit(text -> text + "{\"event\":\"again\",\"id\":\"a\"}\n");
        Plan plan = new PlanReader("checks.yaml", directory, name -> new byte[0]).read(file);

        assertThat(new Explanation(plan, Journal.read(directory.resolve("run/journal.jsonl"))).of("a"))
                .startsWith("\"a\" succeeded after running for ")
                .endsWith("; it is to run again.");
        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.OK);
    }

    @Test
    void a_changed_line_of_data_is_a_changed_task() throws Exception {
        String file = "tasks: [{ forEach: lines.csv, id: 'l-${n}', run: 'echo ${v} >> ${n}' }]";
        Files.writeString(directory.resolve("lines.csv"), "v,note\n1,x\n2,x\n");
        new Session(directory).run(file);
        Files.writeString(directory.resolve("lines.csv"), "v,note\n1,y\n3,y\n4,y\n");

        new Session(directory).resume(file);

        assertThat(directory.resolve("1")).hasContent("1");
        assertThat(directory.resolve("2")).hasContent("2\n3");
        assertThat(directory.resolve("3")).hasContent("4");
        Files.writeString(directory.resolve("lines.csv"), "v,note\n");
        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.OK); // its data was kept, too
    }

    @Test
    void an_output_that_only_the_changed_file_reads_is_made_again() throws Exception {
        String file = "tasks: [{ id: a, run: 'echo 1 | tee -a a' }, { id: b, run: '%s', needs: a }]";
        new Session(directory).run(file.formatted("true"));

        new Session(directory).resume(file.formatted("echo ${a.stdout} > b"));

        assertThat(times("a")).isEqualTo(2);
        assertThat(directory.resolve("b")).hasContent("1");
    }

    @Test
    void output_of_a_task_that_runs_again_is_appended() throws Exception {
        Session first = new Session(directory);
        first.run("tasks: [{ id: a, run: 'echo hello; exit 1' }]");

        first.resume();

        assertThat(first.output("a.log")).isEqualTo("hello\n=== raddle: attempt 1, 2026-01-31T09:30:00Z ===\nhello\n");
    }

    @Test
    void a_killed_run_continues_where_its_journal_ends() throws Exception {
        failOnce();
        Path run = directory.resolve("run");
        Files.delete(run.resolve("report.json"));
        String journal = Files.readString(run.resolve("journal.jsonl"));
        int lastLine = journal.lastIndexOf('\n', journal.length() - 2);
        Files.writeString(run.resolve("journal.jsonl"), journal.substring(0, lastLine + 20)); // cut in the middle
        Session second = new Session(directory);

        second.resume();

        assertThat(second.recorder().all(RunEvent.TaskEnded.class))
                .extracting(ended -> ended.result().id())
                .containsExactly("flaky", "line-b; c");
        Set<String> ended = new HashSet<>();
        Journal.readResults(run.resolve("journal.jsonl"), result -> ended.add(result.id()));
        assertThat(ended).hasSize(4);
        assertThat(run.resolve("report.json")).exists();
    }

    @Test
    void when_all_have_succeeded_nothing_runs() throws Exception {
        Session first = new Session(directory);
        first.run("tasks: [{ id: a, run: 'true' }]");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);
        assertThat(second.recorder().all(RunEvent.AttemptStarted.class)).isEmpty();
    }

    @Test
    void processes_that_outlived_a_killed_run_are_ended_before_their_tasks_run_again() throws Exception {
        Session first = new Session(directory);
        first.run("tasks: [{ id: a, run: 'exit 1' }, { id: b, run: 'exit 1' }]");
        Process orphan = new ProcessBuilder("sleep", "600").start();
        Process stranger = new ProcessBuilder("sleep", "600").start();
        try {
            Files.writeString(
                    first.out().resolve("journal.jsonl"),
                    line("a", orphan.pid(), orphan.info().startInstant().orElseThrow())
                            + line("b", stranger.pid(), Instant.EPOCH), // it belonged to another process then
                    StandardOpenOption.APPEND);

            first.resume();

            assertThat(orphan.waitFor()).isEqualTo(143);
            assertThat(stranger.isAlive()).isTrue();
        } finally {
            orphan.destroyForcibly();
            stranger.destroyForcibly();
        }
    }

    private static String line(String id, long pid, Instant processStart) {
        return Json.text(Map.of("event", "started", "id", id, "pid", pid, "born", processStart)) + "\n";
    }

    @Test
    void a_directory_contains_only_one_run() throws Exception {
        failOnce();

        assertThatThrownBy(() -> RunDirectory.create(directory.resolve("run")))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(() -> RunDirectory.reopen(directory)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void two_runs_started_in_one_second_get_different_directories() throws Exception {
        Instant now = Instant.parse("2026-01-31T09:30:00Z");

        RunDirectory one = RunDirectory.createFresh("../odd name", now, directory);
        RunDirectory two = RunDirectory.createFresh("../odd name", now, directory);

        assertThat(one.path().getParent()).isEqualTo(directory.resolve("raddle-runs"));
        assertThat(two.path()).hasFileName(one.path().getFileName() + "-2");
    }
}
