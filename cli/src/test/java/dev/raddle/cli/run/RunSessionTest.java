package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.cli.file.data.JsonLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Runs with real processes. */
@Timeout(120)
@ResourceLock(Session.SIGNALS)
class RunSessionTest {
    @TempDir
    private Path directory;

    private Session session = new Session(Path.of(""));

    @BeforeEach
    void open() {
        session = new Session(directory);
    }

    @Test
    void every_task_runs_and_has_its_own_output_file() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - { id: a, run: "echo out; echo err >&2" }
                  - { id: "b/../c", run: [echo, "x  y", "$HOME"] }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(session.output("a.log")).isEqualTo("out\nerr\n");
        TaskResult odd = session.recorder().result("b/../c");
        assertThat(Path.of(String.valueOf(odd.output())).getParent())
                .isEqualTo(session.out().resolve("output"));
        assertThat(Files.readString(Path.of(String.valueOf(odd.output())))).isEqualTo("x  y $HOME\n");
    }

    @Test
    void a_report_that_cannot_be_written_is_neither_announced_nor_left_incomplete() throws Exception {
        Path inTheWay = session.out().resolve("report.json.new/x");
        session.listen(event -> {
            if (event instanceof RunEvent.RunStarted) {
                Files.createDirectories(inTheWay); // simulates a full disk: the file cannot be created
            }
        });

        assertThatThrownBy(() -> session.run("tasks: [{ id: a, run: 'true' }]"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("the report " + session.out().resolve("report.json") + " cannot be written: ");

        RunEvent.RunEnded end = session.recorder().all(RunEvent.RunEnded.class).getFirst();
        assertThat(end.report()).isNull();
        assertThat(end.exitCode()).isEqualTo(ExitCode.BROKEN);
        assertThat(session.out().resolve("report.json")).doesNotExist();
    }

    @Test
    void the_last_event_names_the_report() throws Exception {
        session.run("tasks: [{ id: a, run: 'true' }]");

        assertThat(session.recorder().all(RunEvent.RunEnded.class).getFirst().report())
                .isEqualTo(session.out().resolve("report.json"))
                .exists();
    }

    @Test
    void no_more_tasks_of_a_group_run_at_once_than_its_limit() throws Exception {
        session.run("""
                groups: { one: { limit: 1 }, three: { limit: 3 } }
                tasks:
                  - { forEach: [1, 2, 3, 4], id: "a${n}", group: one, run: "mkdir busy && sleep 0.02 && rmdir busy" }
                  - { forEach: [1, 2, 3, 4, 5, 6, 7, 8, 9], id: "b${n}", group: three, \
                run: "mkdir in${n}; touch b${n}; until [ -e b1 ] && [ -e b2 ] && [ -e b3 ]; do sleep 0.01; done; \
                ls -d in* | wc -l > count${n}; rmdir in${n}" }
                """);

        assertThat(session.recorder().all(RunEvent.TaskEnded.class))
                .allMatch(ended -> ended.result().succeeded());
        assertThat(mostAtOnce("one")).isEqualTo(1);
        int most = 0;
        for (int n = 1; n <= 9; n++) {
            String count = Files.readString(directory.resolve("count" + n));
            most = Math.max(most, Integer.parseInt(count.strip()));
        }
        assertThat(most).isEqualTo(3); // the first of three to count does so before any of them ends
    }

    @Test
    void jobs_limit_the_tasks_that_run_in_all_groups() throws Exception {
        session.run("""
                jobs: 2
                groups: { bulk: { limit: 3 } }
                tasks:
                  - { forEach: [1, 2, 3], id: "a${n}", group: bulk, run: "sleep 0.1" }
                  - { forEach: [1, 2, 3], id: "b${n}", group: "g${n}", run: "sleep 0.1" }
                """);

        assertThat(session.recorder().all(RunEvent.TaskEnded.class))
                .allMatch(ended -> ended.result().succeeded());
        RunEvent.RunEnded end = session.recorder().all(RunEvent.RunEnded.class).getFirst();
        assertThat(end.summary().totals().peakRunning()).isBetween(1, 2);
    }

    @Test
    void the_total_queue_is_limited() throws Exception {
        int exitCode = session.run("""
                jobs: 1
                total: { queue: 1 }
                tasks:
                  - { id: runs, group: a, run: "until grep -q rejected run/journal.jsonl; do sleep 0.01; done" }
                  - { id: waits, group: b, run: "true" }
                  - { id: too-many, group: c, run: "true" }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.REJECTED);
        assertThat(session.recorder().result("too-many").error()).contains("rejected, global-queue");
        assertThat(session.recorder().result("waits").succeeded()).isTrue();
    }

    private int mostAtOnce(String group) {
        Set<String> running = new HashSet<>();
        int most = 0;
        for (RunEvent event : session.recorder().events()) {
            if (event instanceof RunEvent.AttemptStarted started
                    && started.group().equals(group)) {
                running.add(started.id());
                most = Math.max(most, running.size());
            } else if (event instanceof RunEvent.TaskEnded ended) {
                running.remove(ended.result().id());
            }
        }
        return most;
    }

    @Test
    void a_failed_task_is_retried_and_its_attempts_are_separate_in_its_output() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - id: flaky
                    run: "echo attempt $RADDLE_ATTEMPT of $RADDLE_TASK in $RADDLE_GROUP; [ $RADDLE_ATTEMPT = 3 ]"
                    group: web
                    retry: { attempts: 5, backoff: 1ms }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.OK);
        assertThat(session.recorder().result("flaky").attempts()).isEqualTo(3);
        assertThat(session.recorder().all(RunEvent.AttemptFailed.class))
                .extracting(RunEvent.AttemptFailed::attempt, RunEvent.AttemptFailed::exitCode)
                .containsExactly(tuple(1, 1), tuple(2, 1));
        assertThat(session.output("flaky.log")).isEqualTo("""
                        attempt 1 of flaky in web
                        === raddle: attempt 2, 2026-01-31T09:30:00Z ===
                        attempt 2 of flaky in web
                        === raddle: attempt 3, 2026-01-31T09:30:00Z ===
                        attempt 3 of flaky in web
                        """);
    }

    @Test
    void a_task_that_fails_in_every_attempt_has_an_error() throws Exception {
        int exitCode = session.run("tasks: [{ id: a, run: 'exit 7', retry: { attempts: 2, backoff: 1ms } }]");

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        TaskResult result = session.recorder().result("a");
        assertThat(result.state()).isEqualTo(TaskState.FAILED);
        assertThat(result.exitCode()).isEqualTo(7);
        assertThat(result.error()).isEqualTo("exit code 7, attempt 2 of 2");
    }

    @Test
    void the_error_names_the_signal_that_killed_a_process() throws Exception {
        session.run("tasks: [{ id: a, run: 'kill -9 $$' }]");

        assertThat(session.recorder().result("a").error()).isEqualTo("exit code 137 (signal 9)");
    }

    @Test
    void a_timeout_ends_the_whole_process_tree() throws Exception {
        int exitCode = session.run("""
                tasks:
                  - id: slow
                    run: "sh -c 'echo $$; sleep 600; echo never' & sleep 601"
                    timeout: 1500ms
                    retry: { attempts: 2, backoff: 1ms }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.TIMED_OUT);
        TaskResult result = session.recorder().result("slow");
        assertThat(result.state()).isEqualTo(TaskState.TIMED_OUT);
        assertThat(result.exitCode()).isNull();
        assertThat(result.attempts()).isEqualTo(2);
        assertThat(result.error()).isEqualTo("ran out of time after 1.5 s (its timeout), attempt 2 of 2");
        assertThat(session.output("slow.log").lines().filter(line -> line.matches("\\d+")))
                .hasSizeLessThanOrEqualTo(2) // a slow attempt ends before its output
                .noneMatch(RunSessionTest::lives);
    }

    @Test
    void the_timeout_of_the_run_ends_all_process_trees_and_cancels_the_rest() throws Exception {
        int exitCode = session.run("""
                timeout: 1500ms
                groups: { g: { limit: 2 } }
                tasks:
                  - { id: done, group: other, run: "true", undo: "touch undone" }
                  - { id: tree, group: g, run: "sh -c 'echo $$; sleep 600; echo never' & sleep 601", retry: 2 }
                  - { id: pausing, group: g, run: "exit 1", retry: { attempts: 2, backoff: 1h } }
                  - { id: waits, group: g, run: "touch ran" }
                  - { id: after, group: other, run: "touch ran", needs: tree }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.TIMED_OUT);
        assertThat(List.of("tree", "pausing", "waits", "after"))
                .extracting(id -> session.recorder().result(id).state())
                .containsOnly(TaskState.CANCELLED);
        assertThat(session.recorder().all(RunEvent.RunStopping.class))
                .extracting(RunEvent.RunStopping::reason)
                .containsExactly(Stop.Reason.TIMED_OUT);
        Path log = session.out().resolve("output/tree.log"); // absent if the machine is so slow that nothing started
        assertThat((Files.exists(log) ? Files.readString(log) : "").lines().filter(line -> line.matches("\\d+")))
                .hasSizeLessThanOrEqualTo(1)
                .noneMatch(RunSessionTest::lives);
        assertThat(directory.resolve("ran")).doesNotExist();
        assertThat(directory.resolve("undone")).doesNotExist();
        assertThat(Files.readString(session.out().resolve("report.json"))).contains("\"exitCode\": 124,");
    }

    @Test
    void a_run_that_ends_within_its_timeout_is_not_affected_by_it() throws Exception {
        assertThat(session.run("timeout: 1h\ntasks: [{ id: a, run: 'true' }, { id: b, run: 'exit 1' }]"))
                .isEqualTo(ExitCode.FAILED);
        assertThat(session.recorder().all(RunEvent.RunStopping.class)).isEmpty();
    }

    private static boolean lives(String pid) {
        return ProcessHandle.of(Long.parseLong(pid))
                .filter(process -> process.info().commandLine().isPresent())
                .isPresent();
    }

    @Test
    void a_task_that_finds_the_queue_full_is_rejected() throws Exception {
        int exitCode = session.run("""
                groups: { small: { limit: 1, queue: 1 } }
                tasks:
                  - { id: runs, group: small, run: "until [ -e go ]; do sleep 0.01; done" }
                  - { id: waits, group: small, run: "true" }
                  - { id: too-many, group: small, run: "true" }
                  - { id: elsewhere, run: "touch go" }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.REJECTED);
        TaskResult result = session.recorder().result("too-many");
        assertThat(result.state()).isEqualTo(TaskState.REJECTED);
        assertThat(result.attempts()).isZero();
        assertThat(result.output()).isNull();
        assertThat(result.error()).contains("rejected", "1 of 1 running", "1 of 1 waiting");
        assertThat(session.recorder().result("waits").succeeded()).isTrue();
    }

    @Test
    void the_exit_code_prefers_failed_to_timed_out_and_timed_out_to_rejected() throws Exception {
        String rejected = """
                groups: { small: { limit: 1, queue: 0 } }
                tasks:
                  - { id: runs, group: small, run: "until [ -e go ]; do sleep 0.01; done" }
                  - { id: too-many, group: small, run: "true" }
                  - { id: elsewhere, run: "touch go" }
                  - { id: slow, run: "sleep 600", timeout: 50ms }
                """;

        assertThat(session.run(rejected)).isEqualTo(ExitCode.TIMED_OUT);
        Path other = Files.createDirectory(directory.resolve("other"));
        assertThat(new Session(other).run(rejected + "  - { id: bad, run: 'exit 1' }\n"))
                .isEqualTo(ExitCode.FAILED);
    }

    @Test
    void a_program_that_cannot_be_started_fails_with_the_reason() throws Exception {
        Files.writeString(directory.resolve("checks.txt"), "no program");

        int exitCode = session.run("""
                tasks:
                  - { id: program, run: [no-such-program-anywhere, x] }
                  - { id: forbidden, run: [./checks.txt] }
                  - { id: directory, run: "true", dir: nowhere }
                  - { id: file, run: "true", dir: checks.txt }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(session.recorder().result("program").error())
                .isEqualTo("cannot start \"no-such-program-anywhere\": there is no such program");
        assertThat(session.recorder().result("program").attempts()).isZero();
        assertThat(session.recorder().result("forbidden").error())
                .isEqualTo("cannot start \"./checks.txt\": permission denied");
        assertThat(session.recorder().result("directory").error())
                .isEqualTo("cannot start \"sh\": its directory " + directory.resolve("nowhere") + " does not exist");
        assertThat(session.recorder().result("file").error())
                .isEqualTo("cannot start \"sh\": its directory " + directory.resolve("checks.txt") + " is a file");
    }

    @Test
    void a_command_has_its_directory_its_variables_and_an_empty_input() throws Exception {
        Files.createDirectory(directory.resolve("work"));

        session.run("""
                defaults: { env: { A: 1, B: 1 } }
                tasks: [{ id: a, run: "pwd; echo $A $B $C; cat", dir: work, env: { B: 2, C: "x; y" } }]
                """);

        assertThat(session.output("a.log")).isEqualTo(directory.toRealPath().resolve("work") + "\n1 2 x; y\n");
    }

    @Test
    void fail_fast_ends_running_tasks_and_starts_no_new_ones() throws Exception {
        int exitCode = session.failFast().run("""
                groups: { long: { limit: 1 }, default: { limit: 1 } }
                tasks:
                  - { id: long, group: long, run: "touch long-runs; sleep 600" }
                  - { id: later, group: long, run: "touch later-ran" }
                  - { id: bad, run: "until [ -e long-runs ]; do sleep 0.01; done; exit 5" }
                  - { id: behind, run: "touch behind-ran" }
                """);

        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(session.recorder().result("bad").state()).isEqualTo(TaskState.FAILED);
        assertThat(session.recorder().result("long").state()).isEqualTo(TaskState.CANCELLED);
        assertThat(session.recorder().result("long").exitCode()).isEqualTo(143);
        assertThat(session.recorder().result("later").error()).isEqualTo("not started, the run was stopped");
        assertThat(session.recorder().result("behind").state()).isEqualTo(TaskState.CANCELLED);
        assertThat(directory.resolve("later-ran")).doesNotExist();
        assertThat(directory.resolve("behind-ran")).doesNotExist();
        List<RunEvent> events = session.recorder().events();
        assertThat(session.recorder().all(RunEvent.RunStopping.class)).hasSize(1);
        assertThat(events.getLast()).isInstanceOf(RunEvent.RunEnded.class);
    }

    @Test
    void a_process_that_ignores_sigterm_is_killed_after_the_grace() throws Exception {
        session.grace(Duration.ofMillis(100)).run("""
                tasks: [{ id: a, run: "trap '' TERM; while :; do sleep 1; done", timeout: 200ms }]
                """);

        assertThat(session.recorder().result("a").state()).isEqualTo(TaskState.TIMED_OUT);
    }

    @Test
    void a_task_of_higher_priority_overtakes_others_of_its_group() throws Exception {
        session.run("""
                groups: { default: { limit: 1 } }
                tasks:
                  - { id: first, run: "until [ -e go ]; do sleep 0.01; done" }
                  - { id: low, run: "true" }
                  - { id: high, run: "true", priority: 5 }
                  - { id: opener, group: other, run: "touch go" }
                """);

        assertThat(session.recorder().all(RunEvent.AttemptStarted.class))
                .extracting(RunEvent.AttemptStarted::id)
                .containsSubsequence("first", "high", "low");
    }

    @Test
    void a_task_occupies_as_many_permits_as_it_costs() throws Exception {
        session.run("""
                groups: { g: { limit: 2 } }
                tasks: [{ forEach: [1, 2, 3], id: "wide${n}", group: g, cost: 2, run: "sleep 0.02" }]
                """);

        assertThat(mostAtOnce("g")).isEqualTo(1);
    }

    @Test
    void the_report_has_every_task_the_groups_and_the_slowest() throws Exception {
        session.run("""
                groups: { web: { limit: 2 } }
                tasks:
                  - { id: a, group: web, run: "sleep 0.2" }
                  - { id: b, group: web, run: "exit 3" }
                  - { id: c, run: [echo, "it's"] }
                """);

        String text = Files.readString(session.out().resolve("report.json"));
        JsonLine report = JsonLine.parse(text).orElseThrow();
        assertThat(report.text("name")).contains("checks");
        assertThat(report.number("exitCode")).hasValue(1);
        assertThat(report.object("totals").number("tasks")).hasValue(3);
        assertThat(report.object("totals").number("succeeded")).hasValue(2);
        assertThat(report.object("totals").number("failed")).hasValue(1);
        JsonLine web = report.object("groups").object("web");
        assertThat(web.number("limit")).hasValue(2);
        assertThat(web.number("tasks")).hasValue(2);
        assertThat(web.number("peakRunning").orElse(0)).isBetween(1L, 2L);
        assertThat(web.number("runMillis").orElse(0)).isGreaterThanOrEqualTo(200);
        assertThat(text)
                .containsPattern("\"slowest\": \\[\\{\"id\":\"[abc]\",\"group\":\"")
                .contains("\n    {\"id\":\"b\",\"group\":\"web\",\"command\":\"exit 3\","
                        + "\"state\":\"failed\",\"exitCode\":3,\"attempts\":1,")
                .contains("\"command\":\"echo 'it'\\\\''s'\"");
    }
}
