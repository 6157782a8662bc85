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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of real processes when {@code raddle} is told to end. */
@Timeout(200)
class SignalTest {
    /** Two trees of processes, each of which tells its numbers; the second ignores SIGTERM. */
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
                  sh -c 'trap "" TERM; echo $$ > stubborn.pid; mv stubborn.pid stubborn.ready; while :; do sleep 1; done' &
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
        List<String> words = new ArrayList<>(List.of("run", "--json", "--out", "run"));
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

    private void assertThatAllIsOver(Raddle.Ended ended) throws IOException {
        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(130);
        assertThat(pids("polite.ready")).hasSize(2).noneMatch(Raddle::lives);
        assertThat(pids("stubborn.ready")).hasSize(1).noneMatch(Raddle::lives);
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
        assertThatAllIsOver(ended);
        assertThat(directory.resolve("run/output/polite.log")).content().contains("tidying up");
        assertThat(ended.lines().stream()
                        .map(Raddle::json)
                        .map(event -> event.get("event") + " " + event.get("reason")))
                .contains("run-stopping interrupted");
    }

    @Test
    void sigterm_does_the_same() throws Exception {
        Raddle.Run run = started("--grace", "300ms");

        run.signal("TERM");

        assertThatAllIsOver(run.end());
    }

    @Test
    void a_second_ctrl_c_waits_for_nobody() throws Exception {
        Raddle.Run run = started("--grace", "1h");
        run.signal("INT");
        run.awaitLine("\"id\":\"polite\",\"group\":\"polite\",\"command\"");

        run.signal("INT");

        assertThatAllIsOver(run.end());
    }

    @Test
    void what_was_interrupted_can_be_resumed() throws Exception {
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
                  - { id: hangs, group: g, run: "if [ -e polite.ready ]; then exit 0; fi; sleep 600 & echo $! > pid; mv pid polite.ready; touch stubborn.ready; wait" }
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
        assertThat(Raddle.lives(orphan)).isTrue();
        assertThat(directory.resolve("run/report.json")).doesNotExist();

        Raddle.Run resumed = new Raddle(directory).start("run", "--json", "--resume", "run");
        resumed.awaitLine("\"id\":\"after\",\"group\":\"g\",\"attempt\":1");
        assertThat(Raddle.lives(orphan)).isFalse();
        assertThat(pids("polite.ready")).noneMatch(Raddle::lives);
        resumed.signal("INT");

        assertThat(resumed.end().exitCode()).isEqualTo(130);
        assertThat(directory.resolve("done.txt")).hasContent("x");
        Map<String, Map<?, ?>> tasks = Raddle.tasks(Raddle.report(directory.resolve("run")));
        assertThat(tasks.get("done").get("state")).isEqualTo("succeeded");
        assertThat(tasks.get("after").get("state")).isEqualTo("cancelled");
    }

    @Test
    void two_raddles_do_not_share_a_run_directory() throws Exception {
        Raddle.Run run = started("--grace", "100ms");

        Raddle.Ended other = new Raddle(directory).run("run", "--resume", "run");

        assertThat(other.exitCode()).isEqualTo(2);
        assertThat(other.err()).contains("the run directory must not be in use");
        run.signal("INT");
        assertThatAllIsOver(run.end());
    }
}
