package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.data.JsonLine;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills raddle at random moments while its file changes between the runs. {@code -Draddle.kills} is how often, and
 * {@code -Draddle.seed} repeats the changes.
 */
@Timeout(600)
class KilledRunTest {
    private static final int KILLS = Integer.getInteger("raddle.kills", 20);
    private static final int LAYERS = 4;
    private static final int WIDTH = 4;

    /** About as long as the JVM needs before it runs the first task. */
    private static final int START_MILLIS = 700;

    /** About half of what the journal grows by in a whole run. */
    private static final int JOURNAL_BYTES = 4_000;

    private final long seed = Long.getLong("raddle.seed", new Random().nextLong());
    private final Random random = new Random(seed);

    @TempDir
    private Path directory;

    private final Map<String, Build> written = new HashMap<>(); // by the text of the file
    private final Map<String, String> printed = new HashMap<>(); // what each task printed when it last ended
    private final Map<String, String> done = new HashMap<>(); // the same, of those that were not started since
    private int linesRead;

    /**
     * A run file in which each task prints its own version and what its upstream tasks have printed, so the output of a
     * task says what it was made of.
     */
    private record Build(int[] versions, boolean[] present, int limit) {
        private static String id(int task) {
            return "t" + task;
        }

        List<Integer> tasks() {
            return IntStream.range(0, versions.length)
                    .filter(task -> present[task])
                    .boxed()
                    .toList();
        }

        /** Returns the upstream tasks: two of the layer before. */
        private List<Integer> needs(int task) {
            int before = (task / WIDTH - 1) * WIDTH;
            return before < 0
                    ? List.of()
                    : IntStream.of(before + task % WIDTH, before + (task + 1) % WIDTH)
                            .filter(need -> present[need])
                            .boxed()
                            .toList();
        }

        /** Returns what a task prints. */
        String output(int task) {
            return id(task) + "v" + versions[task] + "("
                    + needs(task).stream().map(this::output).collect(Collectors.joining(",")) + ")";
        }

        /** Returns whether a task that it is made of was another when it last ended. */
        boolean isStale(int task, Map<String, String> printed) {
            return !printed.getOrDefault(id(task), output(task)).equals(output(task))
                    || needs(task).stream().anyMatch(need -> isStale(need, printed));
        }

        Map<String, String> outputs() {
            Map<String, String> outputs = new LinkedHashMap<>();
            tasks().forEach(task -> outputs.put(id(task), output(task)));
            return outputs;
        }

        String text() {
            StringBuilder text = new StringBuilder("defaults: { limit: " + limit + " }\nresults: ["
                    + String.join(", ", outputs().keySet()) + "]\ntasks:\n");
            for (int task : tasks()) {
                List<String> ids = needs(task).stream().map(Build::id).toList();
                String read = ids.stream().map(id -> "${" + id + ".stdout}").collect(Collectors.joining(","));
                String name = id(task) + "v" + versions[task];
                String needs = ids.isEmpty() ? "" : "needs: [" + String.join(", ", ids) + "], ";
                text.append("  - { id: " + id(task) + ", " + needs)
                        .append("run: \"sleep 0.03; echo '" + name + "('" + read + "')'\" }\n");
            }
            return text.toString();
        }

        /** Returns this file with another version of a task, with a task more or less, and with another limit. */
        Build changed(Random random) {
            int[] newVersions = versions.clone();
            boolean[] newPresent = present.clone();
            newVersions[random.nextInt(versions.length)]++;
            newPresent[1 + random.nextInt(versions.length - 1)] ^= random.nextInt(3) == 0;
            return new Build(newVersions, newPresent, 1 + random.nextInt(4));
        }
    }

    private Path run() {
        return directory.resolve("run");
    }

    private Build write(Build build) throws IOException {
        Files.writeString(directory.resolve("build.yaml"), build.text());
        written.put(build.text(), build);
        return build;
    }

    private Process start(String... arguments) throws IOException {
        List<String> words = OwnJvmTest.words(List.of(), "run", "--quiet");
        words.addAll(List.of(arguments));
        return new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(directory.resolve("stdout").toFile())
                .redirectError(directory.resolve("stderr").toFile())
                .start();
    }

    /** Waits for a random moment while the JVM starts or while tasks run, but not beyond the end of the process. */
    private void awaitMoment(Process process) throws InterruptedException {
        Path journal = run().resolve("journal.jsonl");
        if (random.nextInt(4) == 0) {
            process.waitFor(random.nextInt(START_MILLIS), TimeUnit.MILLISECONDS);
            return;
        }
        long bytes = journal.toFile().length() + random.nextInt(JOURNAL_BYTES);
        while (journal.toFile().length() < bytes && !process.waitFor(1, TimeUnit.MILLISECONDS)) {
            // the journal grows
        }
    }

    /** Checks the lines that a process has added to the journal. Returns how many successes they record. */
    private int readJournal(Build build) throws IOException {
        Path journal = run().resolve("journal.jsonl");
        List<String> lines =
                Files.exists(journal) ? Files.readString(journal).lines().toList() : List.of();
        Map<String, String> outputs = build.outputs();
        int successes = 0;
        for (String text : lines.subList(linesRead, lines.size())) {
            JsonLine line = JsonLine.parse(text).orElse(null);
            String event = line == null ? "" : line.text("event").orElse("");
            String id = line == null ? "" : line.text("id").orElse("");
            if (event.equals("started") || event.equals("again")) {
                boolean mayRun = !outputs.containsKey(id) || build.isStale(Integer.parseInt(id.substring(1)), printed);
                assertThat(mayRun ? "" : outputs.get(id))
                        .as("seed %s: %s", seed, id)
                        .isNotEqualTo(done.remove(id));
            } else if (event.equals("ended")) {
                assertThat(text).as("seed %s", seed).contains("\"state\":\"succeeded\"");
                done.put(id, outputs.get(id));
                printed.put(id, outputs.get(id));
                successes++;
            }
        }
        linesRead = lines.size();
        return successes;
    }

    /** Returns the results that a report contains, by task. */
    private static Map<String, String> results(Path run) throws IOException {
        JsonLine report =
                JsonLine.parse(Files.readString(run.resolve("report.json"))).orElseThrow();
        Map<String, String> results = new LinkedHashMap<>();
        report.object("outputs").texts().forEach((id, text) -> results.put(id, text.strip()));
        return results;
    }

    @Test
    void a_run_that_is_killed_and_whose_file_changes_repeats_no_success_and_loses_nothing() throws Exception {
        boolean[] present = new boolean[LAYERS * WIDTH];
        Arrays.fill(present, true);
        Build build = write(new Build(new int[LAYERS * WIDTH], present, 2));
        List<Build> builds = new ArrayList<>(List.of(build));
        List<Integer> successes = new ArrayList<>();
        for (int kill = 0; kill < KILLS; kill++) {
            build = switch (random.nextInt(4)) {
                case 0 -> build;
                case 1 -> builds.get(random.nextInt(builds.size()));
                default -> build.changed(random);
            };
            builds.add(write(build));
            Build inEffect = build;
            Process process;
            if (!Files.exists(run().resolve("run.json"))) {
                process = start("--results", "run", "build.yaml");
            } else if (random.nextBoolean()) {
                process = start("--resume", "run", "build.yaml");
            } else {
                inEffect = written.get(RunDirectory.existing(run()).origin().text());
                process = start("--resume", "run");
            }
            awaitMoment(process);
            if (!process.isAlive()) {
                assertThat(process.exitValue())
                        .as("seed %s: %s", seed, Files.readString(directory.resolve("stderr")))
                        .isZero();
            }
            process.destroyForcibly().waitFor();
            successes.add(readJournal(inEffect));
        }

        assertThat(start("--resume", "run", "build.yaml").waitFor())
                .as("seed %s: %s", seed, Files.readString(directory.resolve("stderr")))
                .isZero();
        assertThat(start("--results", "fresh", "build.yaml").waitFor()).isZero();

        readJournal(build);
        assertThat(results(run()))
                .as("seed %s", seed)
                .isEqualTo(build.outputs())
                .isEqualTo(results(directory.resolve("fresh")));
        System.out.println("seed " + seed + ", successes between the kills: " + successes);
    }
}
