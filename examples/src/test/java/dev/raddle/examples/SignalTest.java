package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the effect of signals to {@code raddle} on real processes. */
@Timeout(200)
class SignalTest {
    /** Two trees of processes, each of which writes its process ids to a file; the second ignores SIGTERM. */
    private static final String TREES = """
            groups: { polite: { limit: 1 }, stubborn: { limit: 1 } }
            tasks:
              - id: polite
                group: polite
                run: |
                  sleep 600 & echo $! > polite.pid
                  sleep 601 & echo $! >> polite.pid
                  trap 'echo tidying up; exit 0' TERM
                  mv polite.pid polite.ready
                  wait
              - id: stubborn
                group: stubborn
                run: |
                  sh -c 'trap "" TERM; echo $$ > stubborn.pid; mv stubborn.pid stubborn.ready; \
            while :; do sleep 1; done' &
                  wait
              - { id: after-polite, group: polite, run: "touch ran" }
              - { id: after-stubborn, group: stubborn, run: "touch ran" }
            """;

    @TempDir
    private Path directory;

    @BeforeEach
    void write() throws Exception {
        Files.writeString(directory.resolve("trees.yaml"), TREES);
    }

    /** Starts the trees and waits until they are complete. */
    private Raddle.Run started(String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("run", "--json", "--results", "run"));
        words.addAll(List.of(options));
        words.add("trees.yaml");
        Raddle.Run run = new Raddle(directory).start(words.toArray(String[]::new));
        awaitFile("polite.ready");
        awaitFile("stubborn.ready");
        return run;
    }

    private void awaitFile(String name) throws Exception {
        try (WatchService watch = directory.getFileSystem().newWatchService()) {
            directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            while (!Files.exists(directory.resolve(name))) {
                WatchKey key = watch.poll(2, TimeUnit.MINUTES);
                assertThat(key).as("waiting for " + name).isNotNull();
                key.pollEvents();
                key.reset();
            }
        }
    }

    private List<Long> pids(String name) throws IOException {
        return Files.readAllLines(directory.resolve(name)).stream()
                .map(Long::valueOf)
                .toList();
    }

    private void assertThatAllHaveEnded(Raddle.Ended ended) throws IOException {
        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(130);
        assertThat(pids("polite.ready")).hasSize(2).noneMatch(Raddle::isAlive);
        assertThat(pids("stubborn.ready")).hasSize(1).noneMatch(Raddle::isAlive);
        assertThat(directory.resolve("ran")).doesNotExist();
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(report.get("exitCode")).isEqualTo(130);
        Map<String, Map<?, ?>> tasks = Raddle.tasks(report);
        assertThat(tasks.get("stubborn").get("state")).isEqualTo("cancelled");
        assertThat(tasks.get("after-polite").get("state")).isEqualTo("cancelled");
        assertThat(tasks.get("after-stubborn").get("attempts")).isEqualTo(0);
    }

    @Test
    void ctrl_c_ends_every_process_tree_and_the_report_is_written() throws Exception {
        Raddle.Run run = started("--grace", "300ms");

        run.signal("INT");

        Raddle.Ended ended = run.end();
        assertThatAllHaveEnded(ended);
        assertThat(Raddle.report(directory.resolve("run")).containsKey("account"))
                .isFalse();
        assertThat(ended.lines().stream()
                        .map(Raddle::json)
                        .map(event -> event.get("event") + " " + event.get("reason")))
                .contains("run-stopping interrupted");
    }

    @Test
    void sigterm_ends_every_process_tree_when_the_grace_is_over() throws Exception {
        Raddle.Run run = started("--grace", "300ms");

        run.signal("TERM");

        Raddle.Ended ended = run.end();
        assertThatAllHaveEnded(ended);
        assertThat(ended.lines().stream()
                        .map(Raddle::json)
                        .map(event -> event.get("event") + " " + event.get("reason")))
                .contains("run-stopping terminated");
        Map<?, ?> account = account();
        assertThat(account.get("interrupted")).isEqualTo(2);
        assertThat((List<?>) account.get("handedBackIds"))
                .map(String::valueOf)
                .containsExactlyInAnyOrder("after-polite", "after-stubborn");
        assertThat(Raddle.json(ended.lines().getLast()).get("account")).isEqualTo(account);
    }

    @Test
    void after_sigterm_running_tasks_may_end_and_waiting_ones_are_returned_and_can_be_resumed() throws Exception {
        Files.writeString(directory.resolve("trees.yaml"), """
                groups: { g: { limit: 2 } }
                tasks:
                  - { id: quick, group: g, run: "true" }
                  - { id: one, group: g, \
                run: "touch polite.ready; until [ -e finish ]; do sleep 0.01; done; echo one >> ended" }
                  - { id: two, group: g, \
                run: "touch stubborn.ready; until [ -e finish ]; do sleep 0.01; done; echo two >> ended" }
                  - { forEach: [3, 4, 5], id: "waits-${line}", group: g, run: "echo ${line} >> ran" }
                """);
        Raddle.Run run = started("--grace", "1h", "--report", "copy.json");

        run.signal("TERM");
        run.awaitLine("\"reason\":\"terminated\"");
        Files.writeString(directory.resolve("finish"), "");

        Raddle.Ended ended = run.end();
        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(130);
        assertThat(Files.readAllLines(directory.resolve("ended"))).containsExactlyInAnyOrder("one", "two");
        assertThat(directory.resolve("ran")).doesNotExist();
        assertThat(directory.resolve("copy.json")).hasSameTextualContentAs(directory.resolve("run/report.json"));
        Map<String, Map<?, ?>> tasks = Raddle.tasks(Raddle.report(directory.resolve("run")));
        assertThat(tasks.get("one").get("state")).isEqualTo("succeeded");
        assertThat(tasks.get("two").get("state")).isEqualTo("succeeded");
        Map<?, ?> account = account();
        assertThat(account.get("accepted")).isEqualTo(6);
        assertThat(account.get("interrupted")).isEqualTo(0);
        assertThat(account.get("handedBack")).isEqualTo(3);
        assertThat((List<?>) account.get("handedBackIds"))
                .map(String::valueOf)
                .containsExactlyInAnyOrder("waits-3", "waits-4", "waits-5");

        Raddle.Ended resumed = new Raddle(directory).run("run", "--json", "--resume", "run");

        assertThat(resumed.exitCode()).isZero();
        assertThat(resumed.lines().stream().filter(line -> line.contains("\"task-started\"")))
                .hasSize(3);
        assertThat(Files.readAllLines(directory.resolve("ran"))).containsExactlyInAnyOrder("3", "4", "5");
        assertThat(Files.readAllLines(directory.resolve("ended"))).hasSize(2);
        assertThat(Raddle.report(directory.resolve("run")).containsKey("account"))
                .isFalse();
    }

    /** Returns the account of the report, and checks that its numbers add up. */
    private Map<?, ?> account() throws IOException {
        Map<?, ?> account = (Map<?, ?>) Raddle.report(directory.resolve("run")).get("account");
        int sum = Stream.of("completedBefore", "completedDuring", "interrupted", "handedBack", "stillRunning")
                .mapToInt(name -> (int) account.get(name))
                .sum();
        assertThat(account.get("accepted")).isEqualTo(sum);
        assertThat((List<?>) account.get("handedBackIds")).hasSize((int) account.get("handedBack"));
        return account;
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM"})
    void a_second_signal_after_sigterm_ends_the_run_at_once(String signal) throws Exception {
        Raddle.Run run = started("--grace", "1h");
        run.signal("TERM");
        run.awaitLine("\"reason\":\"terminated\"");

        run.signal(signal);

        assertThatAllHaveEnded(run.end());
        assertThat(account().get("interrupted")).isEqualTo(2);
    }

    @Test
    void a_signal_that_is_ignored_at_the_start_remains_ignored() throws Exception {
        Raddle.Run run = new Raddle(directory)
                .ignoring("INT")
                .start("run", "--json", "--grace", "300ms", "--results", "run", "trees.yaml");
        awaitFile("polite.ready");
        awaitFile("stubborn.ready");

        run.signal("INT");
        run.signal("TERM"); // it is delivered after the other

        Raddle.Ended ended = run.end();
        assertThatAllHaveEnded(ended);
        assertThat(account().get("interrupted")).isEqualTo(2);
        assertThat(ended.out()).contains("\"reason\":\"terminated\"").doesNotContain("\"reason\":\"interrupted\"");
    }

    @Test
    void a_second_ctrl_c_ends_the_run_at_once() throws Exception {
        Raddle.Run run = started("--grace", "1h");
        run.signal("INT");
        run.awaitLine("\"id\":\"polite\",\"group\":\"polite\",\"command\"");
        assertThat(directory.resolve("run/output/polite.log")).content().contains("tidying up");

        run.signal("INT");

        assertThatAllHaveEnded(run.end());
    }

    @Test
    void an_interrupted_run_can_be_resumed() throws Exception {
        Raddle.Run run = started("--grace", "300ms");
        run.signal("INT");
        run.end();

        Raddle.Ended dry = new Raddle(directory).run("run", "--dry-run", "--resume", "run");

        assertThat(dry.out()).contains("after-polite", "stubborn");
    }

    @Test
    void a_run_that_was_killed_is_resumed_from_its_journal_and_its_orphans_are_ended_first() throws Exception {
        Files.writeString(directory.resolve("trees.yaml"), """
                groups: { g: { limit: 2 } }
                tasks:
                  - { id: done, group: g, run: "echo x >> done.txt" }
                  - { id: hangs, group: g, run: "if [ -e polite.ready ]; then exit 0; fi; \
                sleep 600 & echo $! > pid; mv pid polite.ready; touch stubborn.ready; wait" }
                  - { id: after, group: g, run: "until [ -e polite.ready ]; do sleep 0.01; done; sleep 600" }
                """);
        Raddle.Run run = started();
        run.awaitLine("\"task-ended\"");
        run.awaitLine("\"id\":\"after\"");
        Map<?, ?> second = Raddle.json(Files.readString(directory.resolve("run/journal.jsonl"))
                .lines()
                .filter(line -> line.contains("\"after\""))
                .findFirst()
                .orElseThrow());
        run.signal("KILL");
        assertThat(run.end().exitCode()).isEqualTo(137);
        long orphan = ((Number) second.get("pid")).longValue();
        assertThat(Raddle.isAlive(orphan)).isTrue();
        assertThat(directory.resolve("run/report.json")).doesNotExist();

        Raddle.Run resumed = new Raddle(directory).start("run", "--json", "--resume", "run");
        resumed.awaitLine("\"id\":\"after\",\"group\":\"g\",\"attempt\":1");
        assertThat(Raddle.isAlive(orphan)).isFalse();
        assertThat(pids("polite.ready")).noneMatch(Raddle::isAlive);
        resumed.signal("INT");

        assertThat(resumed.end().exitCode()).isEqualTo(130);
        assertThat(directory.resolve("done.txt")).hasContent("x");
        Map<String, Map<?, ?>> tasks = Raddle.tasks(Raddle.report(directory.resolve("run")));
        assertThat(tasks.get("done").get("state")).isEqualTo("succeeded");
        assertThat(tasks.get("after").get("state")).isEqualTo("cancelled");
    }

    @Test
    void a_process_that_has_left_its_parent_and_its_session_is_also_ended_before_a_killed_run_resumes()
            throws Exception {
        Files.writeString(directory.resolve("trees.yaml"), """
                tasks:
                  - id: hangs
                    run: |
                      if [ -e polite.ready ]; then exit 0; fi
                      (setsid sh -c '(sleep 600 & echo $! > polite.pid; mv polite.pid polite.ready)' &)
                      sh -c 'nohup sleep 600 >/dev/null 2>&1 & echo $! > stubborn.pid'
                      mv stubborn.pid stubborn.ready
                      exec sleep 600
                """);
        Raddle.Run run = started();
        run.kill();
        assertThat(pids("polite.ready")).allMatch(Raddle::isAlive);
        assertThat(pids("stubborn.ready")).allMatch(Raddle::isAlive);

        Raddle.Ended resumed = new Raddle(directory).run("run", "--resume", "run");

        assertThat(resumed.exitCode()).as(resumed.out() + resumed.err()).isZero();
        assertThat(pids("polite.ready")).noneMatch(Raddle::isAlive);
        assertThat(pids("stubborn.ready")).noneMatch(Raddle::isAlive);
    }

    @Test
    void two_raddles_do_not_share_a_run_directory() throws Exception {
        Raddle.Run run = started("--grace", "100ms");

        Raddle.Ended other = new Raddle(directory).run("run", "--resume", "run");

        assertThat(other.exitCode()).isEqualTo(2);
        assertThat(other.err()).contains("the run directory must not be in use");
        run.signal("INT");
        assertThatAllHaveEnded(run.end());
    }
}
