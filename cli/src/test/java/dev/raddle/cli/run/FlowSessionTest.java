package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.data.JsonLine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Runs with dependencies and real processes. */
@Timeout(120)
@ResourceLock(Session.SIGNALS)
class FlowSessionTest {
    @TempDir
    private Path directory;

    private Session session = new Session(Path.of(""));

    @BeforeEach
    void open() {
        session = new Session(directory);
    }

    private TaskState state(String id) {
        return session.recorder().result(id).state();
    }

    private String error(String id) {
        return String.valueOf(session.recorder().result(id).error());
    }

    private String explain(String id) throws Exception {
        RunDirectory run = RunDirectory.existing(session.out());
        RunDirectory.Origin origin = run.origin();
        Plan plan = new PlanReader(origin.file(), origin.directory(), origin.inputs()).read(origin.text());
        return new Explanation(plan, Journal.read(run.journal())).of(id);
    }

    private List<String> ends() {
        return session.recorder().all(RunEvent.TaskEnded.class).stream()
                .map(ended -> ended.result().id())
                .toList();
    }

    @Test
    void a_task_starts_when_its_upstreams_have_succeeded_and_reads_their_output() throws Exception {
        int exitCode = session.run("""
                params: { greeting: hello }
                tasks:
                  - { id: c, run: "echo \\"c got ${b.stdout}\\"; echo err >&2", needs: [a, b] }
                  - { id: b, run: "echo \\"<${a.stdout}> ${a.exit} ${a.state}\\"", needs: a }
                  - { id: a, run: [printf, "${param.greeting}; $(x)\\\\n\\\\n"] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(ends()).containsExactly("a", "b", "c");
        assertThat(session.output("b.log")).isEqualTo("<hello; $(x)> 0 succeeded\n");
        assertThat(session.output("c.log")).isEqualTo("c got <hello; $(x)> 0 succeeded\nerr\n");
    }

    @Test
    void output_that_is_no_text_is_passed_on_byte_by_byte() throws Exception {
        assumeTrue(ProcessStarter.limitation() == null, "only posix_spawn passes them");

        int exitCode = session.run("""
                tasks:
                  - { id: latin, run: [printf, "\\\\351t\\\\303\\\\251\\\\377\\\\n"] }
                  - { id: shell, run: "printf %s ${latin.stdout} | od -An -tx1", needs: latin }
                  - { id: words, run: [sh, -c, 'printf %s "$1" | od -An -tx1', sh, "${latin.stdout}"], needs: latin }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(session.output("shell.log")).isEqualTo(" e9 74 c3 a9 ff\n");
        assertThat(session.output("words.log")).isEqualTo(" e9 74 c3 a9 ff\n");
    }

    @Test
    void groups_limit_the_tasks_of_a_flow() throws Exception {
        int exitCode = session.run("""
                groups: { one: { limit: 1 } }
                tasks:
                  - { id: start, run: "true" }
                  - { forEach: [1, 2, 3, 4], id: "a${n}", group: one, run: "mkdir busy && sleep 0.02 && rmdir busy", \
                needs: start }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(session.recorder()
                        .all(RunEvent.RunEnded.class)
                        .getFirst()
                        .summary()
                        .groups()
                        .get("one")
                        .peakRunning())
                .isEqualTo(1);
    }

    @Test
    void a_downstream_of_a_failed_task_ends_in_the_same_state_without_being_started() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: a, run: "exit 3" }
                  - { id: b, run: "touch b", needs: a }
                  - { id: c, run: "touch c", needs: [{ any: [b] }] }
                  - { id: d, run: "echo ${a.state} ${a.exit} ${a.stdout}", needs: [{ after: a }] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(error("b")).isEqualTo("not started: it needs \"a\", which failed");
        assertThat(error("c"))
                .isEqualTo("not started: it needs any of b, which is impossible after \"b\", which failed");
        assertThat(session.output("d.log")).isEqualTo("failed 3 \n");
        assertThat(directory.resolve("b")).doesNotExist();
        assertThat(explain("c"))
                .isEqualTo("\"c\" failed: not started: it needs any of b, which is impossible after \"b\","
                        + " which failed (\"a\": exit code 3).");
    }

    @Test
    void a_task_with_only_optional_needs_names_the_last_upstream_to_fail() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: a, run: "exit 3" }
                  - { id: b, run: "touch b", needs: { optional: a } }
                  - { id: c, run: "touch c", needs: [{ optional: a }, { optional: b }] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(error("b"))
                .isEqualTo("not started: it needs any of a, which is impossible after \"a\", which failed");
        assertThat(error("c"))
                .isEqualTo("not started: it needs any of a, b, which is impossible after \"a\", which failed");
        assertThat(explain("b")).endsWith("(\"a\": exit code 3).");
    }

    @Test
    void the_report_has_the_output_of_the_requested_tasks() throws Exception {
        session.run("""
                results: [a, b, c]
                tasks:
                  - { id: a, run: "printf 'x\\ny\\n'" }
                  - { id: b, run: "exit 1", fallback: { value: nothing } }
                  - { id: c, run: "exit 1" }
                """);

        JsonLine outputs = JsonLine.parse(Files.readString(session.out().resolve("report.json")))
                .orElseThrow()
                .object("outputs");
        assertThat(outputs.texts()).isEqualTo(Map.of("a", "x\ny\n", "b", "nothing"));
    }

    @Test
    void a_failure_without_effect_on_results_degrades_the_run() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: extra, run: "exit 1" }
                  - { id: page, run: "echo [${extra.stdout}]", needs: [{ after: extra }] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.DEGRADED);
        assertThat(session.output("page.log")).isEqualTo("[]\n");
    }

    @Test
    void a_fallback_replaces_a_failed_command() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: a, run: "echo partly; exit 3", fallback: "echo cached" }
                  - { id: b, run: "exit 4", fallback: { value: "a value" } }
                  - { id: c, run: "exit 5", fallback: "exit 6" }
                  - { id: d, run: "echo ${a.stdout} ${b.stdout}", needs: [a, b] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(session.output("d.log")).isEqualTo("cached a value\n");
        assertThat(session.recorder().result("a").via()).isEqualTo(TaskResult.VIA_FALLBACK);
        assertThat(error("c")).isEqualTo("exit code 5; its fallback: exit code 6");
        assertThat(explain("a")).startsWith("\"a\" succeeded by its fallback, after exit code 3 after running for ");
    }

    @Test
    void the_first_of_several_is_sufficient_and_the_others_are_not_started() throws Exception {
        int exitCode = session.run("""
                groups: { one: { limit: 1 } }
                tasks:
                  - { id: busy, group: one, run: "until [ -e free ]; do sleep 0.01; done" }
                  - { id: go, run: "true" }
                  - { id: a, group: one, run: "exit 1", needs: go, priority: 3 }
                  - { id: b, group: one, run: "echo b", needs: go, priority: 2 }
                  - { id: c, group: one, run: "touch c", needs: go, priority: 1 }
                  - { id: free, group: other, run: "touch free", needs: go }
                  - { id: d, run: "echo got ${task.stdout}", needs: [{ any: [a, b, c] }] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.DEGRADED);
        assertThat(session.output("d.log")).isEqualTo("got b\n");
        assertThat(state("c")).isEqualTo(TaskState.SKIPPED);
        assertThat(directory.resolve("c")).doesNotExist();
        assertThat(explain("c")).isEqualTo("\"c\" was skipped: not needed, \"d\" has what it needs from \"b\".");
    }

    @Test
    void a_condition_selects_a_branch() throws Exception {
        int exitCode = session.run("""
                groups: { default: { limit: 2 } }
                tasks:
                  - { id: which, run: "echo blue" }
                  - { id: red, run: "echo r", needs: which, when: "${which.stdout} == red" }
                  - { id: blue, run: "echo b", needs: which, when: "not ${which.stdout} == red" }
                  - { id: end, run: "echo ${red.stdout}${blue.stdout}", needs: [{ any: [red, blue] }] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(state("red")).isEqualTo(TaskState.SKIPPED);
        assertThat(error("red")).isEqualTo("its condition does not hold");
        assertThat(session.output("end.log")).isEqualTo("b\n");
    }

    @Test
    void succeeded_tasks_are_undone_in_reverse_order_when_the_run_fails() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: a, run: "echo id-7", undo: "echo undo a ${a.stdout} >> undone" }
                  - { id: b, run: "true", needs: a, undo: "echo undo b >> undone" }
                  - { id: c, run: "exit 1", needs: b, undo: "echo undo c >> undone" }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(Files.readAllLines(directory.resolve("undone"))).containsExactly("undo b", "undo a id-7");
        assertThat(session.recorder().all(RunEvent.TaskUndone.class))
                .hasSize(2)
                .allMatch(undone -> undone.error() == null);
        assertThat(explain("a")).endsWith("; it was undone, because the run failed.");
    }

    @Test
    void undone_tasks_and_their_downstream_tasks_run_again_when_the_run_is_resumed() throws Exception {
        String file = """
                tasks:
                  - { id: a, run: "echo ran >> a.txt", undo: "echo undone >> a.txt" }
                  - { id: b, run: "echo ran >> b.txt", needs: a }
                  - { id: c, run: "[ -e repaired ]", needs: b }
                """;
        session.run(file);
        Files.writeString(directory.resolve("repaired"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);

        assertThat(Files.readAllLines(directory.resolve("a.txt"))).containsExactly("ran", "undone", "ran");
        assertThat(Files.readAllLines(directory.resolve("b.txt"))).containsExactly("ran", "ran");
    }

    @Test
    void a_resumed_task_reads_the_output_of_an_earlier_run() throws Exception {
        session.run("""
                tasks:
                  - { id: a, run: "echo once; echo ran >> a.txt" }
                  - { id: b, run: "echo ${a.stdout}; [ -e repaired ]", needs: a }
                """);
        Files.writeString(directory.resolve("repaired"), "");
        Session second = new Session(directory);

        assertThat(second.resume()).isEqualTo(ExitCode.OK);

        assertThat(Files.readAllLines(directory.resolve("a.txt"))).hasSize(1);
        assertThat(second.output("b.log")).endsWith("===\nonce\n");
        assertThat(second.recorder().all(RunEvent.TaskEnded.class)).hasSize(1);
    }

    @Test
    void only_a_target_and_its_upstreams_run() throws Exception {
        int exitCode = session.only("b").run("""
                tasks:
                  - { id: a, run: "true" }
                  - { id: b, run: "true", needs: a }
                  - { id: c, run: "touch c", needs: a, essential: true }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(state("b")).isEqualTo(TaskState.SUCCEEDED);
        assertThat(error("c")).isEqualTo("it was not requested");
    }

    @Test
    void fail_fast_starts_no_further_task_and_undoes_succeeded_ones() throws Exception {
        int exitCode = session.failFast().run("""
                tasks:
                  - { id: a, run: "true", undo: "touch undone" }
                  - { id: b, run: "exit 1", needs: a }
                  - { id: slow, group: other, run: "sleep 60", needs: a }
                  - { id: c, run: "touch c", needs: slow }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(directory.resolve("undone")).exists();
        assertThat(state("slow")).isEqualTo(TaskState.CANCELLED);
        assertThat(state("c")).isEqualTo(TaskState.CANCELLED);
    }

    /**
     * The compiles of a build, one of which fails; the others wait for a header that is ready only after the failure.
     */
    private static final String BUILD = """
            tasks:
              - { id: a, run: "touch failed; exit 1" }
              - { id: header, group: other, needs: [{ after: a }], run: "true" }
              - { id: b, run: "echo b", needs: header }
              - { id: c, run: "echo c", needs: [{ any: [b] }] }
              - { id: x, run: "touch x", needs: [a, b, c] }
              - { id: y, run: "touch y", needs: x }
            """;

    @Test
    void keep_going_runs_everything_that_can_run_as_make_does() throws Exception {
        int exitCode = session.keepGoing().run(BUILD);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(session.output("b.log")).isEqualTo("b\n");
        assertThat(session.output("c.log")).isEqualTo("c\n");
        assertThat(error("x")).isEqualTo("not started: it needs \"a\", which failed");
        assertThat(error("y")).isEqualTo("not started: it needs \"x\", which failed");
    }

    @Test
    void without_keep_going_tasks_that_only_failed_tasks_need_are_skipped() throws Exception {
        int exitCode = session.run(BUILD);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(state("b")).isEqualTo(TaskState.SKIPPED);
        assertThat(error("c")).isEqualTo("not needed any more: every task that needs it has been decided");
    }

    @Test
    void keep_going_runs_the_rest_of_a_resumed_run() throws Exception {
        session.run(BUILD);
        Session second = new Session(directory).keepGoing();

        assertThat(second.resume()).isEqualTo(ExitCode.FAILED);

        assertThat(second.output("c.log")).endsWith("c\n");
        assertThat(directory.resolve("x")).doesNotExist();
    }

    @Test
    void retries_and_timeouts_apply_in_flows() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: a, run: "echo x >> tries; [ $(wc -l < tries) -ge 3 ]", retry: { attempts: 3, backoff: 10ms } }
                  - { id: b, run: "sleep 60", timeout: 50ms, needs: a }
                  - { id: c, run: "true", needs: b }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.TIMED_OUT);
        assertThat(session.recorder().result("a").attempts()).isEqualTo(3);
        assertThat(state("b")).isEqualTo(TaskState.TIMED_OUT);
        assertThat(state("c")).isEqualTo(TaskState.TIMED_OUT);
        assertThat(ends()).hasSize(3);
    }

    @Test
    void priority_and_cost_apply_in_flows() throws Exception {
        int exitCode = session.run("""
                groups: { two: { limit: 2 } }
                tasks:
                  - { id: start, run: "true" }
                  - { id: heavy, group: two, cost: 2, run: "mkdir busy && sleep 0.05 && rmdir busy", needs: start }
                  - { forEach: [1, 2, 3], id: "a${n}", group: two, run: "[ ! -e busy ]", needs: start }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
    }

    @Test
    void a_task_beyond_the_queue_is_rejected_together_with_its_downstream_tasks() throws Exception {
        session.run("""
                groups: { one: { limit: 1, queue: 1 } }
                tasks:
                  - { id: start, run: "true" }
                  - { forEach: [1, 2, 3], id: "a${n}", group: one, \
                run: "until [ $(grep -c rejected run/journal.jsonl) -ge 2 ]; do sleep 0.01; done", needs: start }
                  - { forEach: [1, 2, 3], id: "b${n}", run: "true", needs: "a${n}" }
                """);

        assertThat(session.recorder().all(RunEvent.TaskEnded.class))
                .extracting(ended -> ended.result().state())
                .filteredOn(TaskState.REJECTED::equals)
                .hasSize(2);
    }

    @Test
    void output_too_large_for_a_command_is_reported_with_advice() throws Exception {
        session.run("""
                tasks:
                  - { id: a, run: "head -c 200000 /dev/zero | tr '\\\\0' x" }
                  - { id: b, run: "echo ${a.stdout}", needs: a }
                """);

        assertThat(error("b"))
                .isEqualTo("not started: the output of \"a\" must be at most 120000 bytes to be passed on, was 200000;"
                        + " write it to a file and print the file's name");
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void a_chain_of_ten_thousand_tasks_is_planned_and_skipped_without_running() throws Exception {
        StringBuilder file = new StringBuilder("tasks:\n  - { id: t0, run: 'exit 1' }\n");
        for (int i = 1; i < 10_000; i++) {
            file.append("  - { id: t")
                    .append(i)
                    .append(", run: 'true', needs: t")
                    .append(i - 1)
                    .append(" }\n");
        }

        assertThat(session.run(file.toString())).isEqualTo(ExitCode.FAILED);

        assertThat(session.recorder().all(RunEvent.TaskEnded.class)).hasSize(10_000);
        assertThat(explain("t9999")).endsWith("(\"t0\": exit code 1).");
    }

    @Test
    void what_a_stop_ends_is_reported_by_its_events_and_not_logged_as_well() throws Exception {
        Logger logger = Logger.getLogger("dev.raddle");
        List<String> logged = new CopyOnWriteArrayList<>();
        logger.setFilter(entry -> !entry.getMessage().contains("\"logs-nothing\"") || !logged.add(entry.getMessage()));
        try {
            session.failFast().run("""
                    name: logs-nothing
                    tasks:
                      - { id: a, run: "true" }
                      - { id: b, run: "exit 1", needs: a }
                      - { id: slow, group: other, run: "sleep 60", needs: a }
                    """);
        } finally {
            logger.setFilter(null);
        }

        assertThat(logged).isEmpty();
    }

    @Test
    void an_interrupted_flow_hands_back_unstarted_tasks_and_undoes_nothing() throws Throwable {
        int exitCode;
        try (DefaultSignal heard = new DefaultSignal()) {
            assertThat(heard).isNotNull();
            exitCode = session.run("""
                    tasks:
                      - { id: a, run: "true", undo: "touch undone" }
                      - { id: b, run: "kill -INT $PPID; sleep 60", needs: a }
                      - { id: c, run: "true", needs: b }
                    """);
        }

        assertThat(exitCode).isEqualTo(ExitCode.diesOf(2));
        assertThat(state("b")).isEqualTo(TaskState.CANCELLED);
        assertThat(error("c")).isEqualTo(TaskAttempts.NOT_STARTED);
        assertThat(directory.resolve("undone")).doesNotExist();
        assertThat(Set.copyOf(ends())).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void the_report_says_what_was_undone_and_why_an_undo_failed() throws Exception {
        session.run("""
                tasks:
                  - { id: a, run: "true", undo: "exit 3" }
                  - { id: b, run: "true", undo: "true", needs: a }
                  - { id: c, run: "false", undo: "true", needs: b }
                """);

        String report = Files.readString(session.out().resolve("report.json"));
        assertThat(report.lines().filter(line -> line.contains("\"id\":\"a\",") && line.contains("\"command\"")))
                .singleElement()
                .asString()
                .contains("\"undone\":false,\"undoError\":\"exit code 3\"");
        assertThat(report.lines().filter(line -> line.contains("\"id\":\"b\",") && line.contains("\"command\"")))
                .singleElement()
                .asString()
                .contains("\"undone\":true")
                .doesNotContain("undoError");
        assertThat(report.lines().filter(line -> line.contains("\"id\":\"c\",") && line.contains("\"command\"")))
                .singleElement()
                .asString()
                .doesNotContain("undone");
    }
}
