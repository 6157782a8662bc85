package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Starts runs with dependencies by the real launcher, kills them with SIGKILL and resumes them. */
@Timeout(300)
class KilledFlowTest {
    private static final String FILE = """
            groups: { work: { limit: 3 } }
            tasks:
              - { id: t0-1, group: work, run: "sleep 0.02; echo done-0-1; echo t0-1 >> ended" }
              - { id: t0-2, group: work, run: "sleep 0.02; echo done-0-2; echo t0-2 >> ended" }
            %s
            """;

    @TempDir
    private Path directory;

    /** Layers of three tasks, each of which reads the output of its upstream. */
    private static String file(int layers) {
        StringBuilder tasks = new StringBuilder();
        for (int layer = 1; layer <= layers; layer++) {
            for (int i = 1; i <= 2; i++) {
                tasks.append("  - { id: t")
                        .append(layer)
                        .append('-')
                        .append(i)
                        .append(", group: work, run: \"until [ -e stage")
                        .append(layer / 5) // so that no run can end before it is killed
                        .append(" ]; do sleep 0.01; done; [ ${t");
                tasks.append(layer - 1)
                        .append('-')
                        .append(i)
                        .append(".stdout} = done-")
                        .append(layer - 1)
                        .append('-')
                        .append(i);
                tasks.append(" ] && echo done-")
                        .append(layer)
                        .append('-')
                        .append(i)
                        .append(" && echo t")
                        .append(layer);
                tasks.append('-')
                        .append(i)
                        .append(" >> ended\", needs: [t")
                        .append(layer - 1)
                        .append("-1, t");
                tasks.append(layer - 1).append("-2] }\n");
            }
        }
        return FILE.formatted(tasks.toString().stripTrailing());
    }

    private Path write(int layers) throws Exception {
        return Files.writeString(directory.resolve("flow.yaml"), file(layers));
    }

    /** Returns the tasks that have succeeded according to the journal. */
    private Set<String> recorded() throws Exception {
        Set<String> recorded = new HashSet<>();
        Path journal = directory.resolve("run/journal.jsonl");
        for (String line : Files.exists(journal) ? Files.readString(journal).split("\n") : new String[0]) {
            if (line.startsWith("{\"event\":\"ended\"")
                    && line.endsWith("}")
                    && line.contains("\"state\":\"succeeded\"")) {
                recorded.add(line.replaceFirst(".*\"id\":\"([^\"]*)\".*", "$1"));
            }
        }
        return recorded;
    }

    private Map<String, Integer> ended() throws Exception {
        Map<String, Integer> ended = new HashMap<>();
        Path file = directory.resolve("ended");
        for (String id : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
            ended.merge(id, 1, Integer::sum);
        }
        return ended;
    }

    @RepeatedTest(3)
    void after_kill_9_nothing_that_is_recorded_runs_again_and_nothing_is_recorded_that_was_not_done() throws Exception {
        write(20);
        Map<String, Integer> before = new HashMap<>();
        List<Set<String>> killed = new ArrayList<>();
        for (int kill = 0; kill < 4; kill++) {
            Files.createFile(directory.resolve("stage" + kill));
            Raddle.Run run = kill == 0
                    ? new Raddle(directory).start("run", "--results", "run", "flow.yaml")
                    : new Raddle(directory).start("run", "--resume", "run");
            int seen = 1 + ThreadLocalRandom.current().nextInt(8);
            for (int i = 0; i < seen; i++) {
                run.awaitLine("ok ");
            }
            run.kill();
            Set<String> recorded = recorded();
            assertThat(ended().keySet()).as("every recorded task has run").containsAll(recorded);
            assertThat(ended()).as("recorded before, so not run again").containsAllEntriesOf(before);
            before.clear();
            for (String id : recorded) {
                before.put(id, ended().get(id));
            }
            killed.add(recorded);
        }

        Files.createFile(directory.resolve("stage4"));
        Raddle.Ended last = new Raddle(directory).run("run", "--resume", "run");

        assertThat(last.exitCode()).as(last.out() + last.err()).isZero();
        assertThat(ended()).containsAllEntriesOf(before);
        assertThat(ended()).hasSize(42);
        assertThat(killed.getLast()).containsAll(killed.getFirst());
        Map<?, ?> totals = (Map<?, ?>) Raddle.report(directory.resolve("run")).get("totals");
        assertThat(totals.get("succeeded")).isEqualTo(42);
    }

    @Test
    void a_killed_run_is_explained_by_the_contents_of_its_directory() throws Exception {
        Files.writeString(directory.resolve("flow.yaml"), """
                tasks:
                  - { id: a, run: "true" }
                  - { id: b, run: "sleep 60", needs: a }
                  - { id: c, run: "true", needs: b }
                """);
        Raddle.Run run = new Raddle(directory).start("run", "--results", "run", "flow.yaml");
        run.awaitLine("start     b");
        run.kill();

        assertThat(new Raddle(directory).run("explain", "run", "a").out())
                .startsWith("\"a\" succeeded after running for ");
        assertThat(new Raddle(directory).run("explain", "run", "b").out())
                .isEqualTo("\"b\" began, and its end was not recorded: it runs, or raddle was killed;"
                        + " --resume runs it again.\n");
        assertThat(new Raddle(directory).run("explain", "run", "c").out())
                .isEqualTo("\"c\" has not begun: \"b\", which it needs, has not ended.\n");
        assertThat(new Raddle(directory).run("explain", "run", "d").exitCode()).isEqualTo(2);

        Raddle.Run second = new Raddle(directory).start("run", "--resume", "run");
        second.awaitLine("start     b");
        second.signal("INT");
        assertThat(second.end().exitCode()).isEqualTo(130);
    }

    @Test
    void sigterm_drains_a_flow_and_returns_tasks_that_have_not_begun() throws Exception {
        Files.writeString(directory.resolve("flow.yaml"), """
                tasks:
                  - { id: a, run: "until [ -e finish ]; do sleep 0.01; done; echo a", undo: "touch undone" }
                  - { id: b, run: "touch b", needs: a }
                """);
        Raddle.Run run = new Raddle(directory).start("run", "--results", "run", "flow.yaml");
        run.awaitLine("start     a");
        run.signal("TERM");
        run.awaitLine("stop      terminated");
        Files.writeString(directory.resolve("finish"), "");

        Raddle.Ended ended = run.end();

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(130);
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(Raddle.tasks(report).get("a").get("state")).isEqualTo("succeeded");
        assertThat(Raddle.tasks(report).get("b").get("state")).isEqualTo("cancelled");
        assertThat(((Map<?, ?>) report.get("account")).get("handedBackIds")).isEqualTo(List.of("b"));
        assertThat(directory.resolve("undone")).doesNotExist();
        assertThat(new Raddle(directory).run("run", "--resume", "run").exitCode())
                .isZero();
        assertThat(directory.resolve("b")).exists();
    }
}
