package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code raddle map} continues what its job log has. */
@Timeout(600)
class MapResumeTest {
    private static final int KILLS = Integer.getInteger("raddle.kill.rounds", 5);
    private static final int LINES = 200;

    @TempDir
    private Path directory;

    private Process start(String... arguments) throws IOException {
        List<String> words = OwnJvmTest.words(List.of(), arguments);
        words.add(1, "-Djava.io.tmpdir=" + directory); // a kill leaves files there
        return new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectInput(directory.resolve("in").toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("out").toFile()))
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    private int map(List<String> lines, String... arguments) throws Exception {
        Files.write(directory.resolve("in"), lines);
        return start(Stream.concat(Stream.of("map"), Arrays.stream(arguments)).toArray(String[]::new))
                .waitFor();
    }

    private List<String> lines(String file) throws IOException {
        Path path = directory.resolve(file);
        return Files.exists(path) ? Files.readAllLines(path) : List.of();
    }

    @Test
    void only_commands_without_a_line_run_or_also_those_that_failed() throws Exception {
        String[] words = {"-j1", "--joblog", "log", "--resume", "--shell", "echo {}; [ {} != b ]"};

        assertThat(map(List.of("a", "b"), words)).isEqualTo(1);
        assertThat(map(List.of("a", "b", "c"), words)).isZero();
        words[3] = "--resume-failed";
        assertThat(map(List.of("a", "b", "c", "d"), words)).isEqualTo(1);

        assertThat(lines("out")).containsExactly("a", "b", "c", "b", "d");
        assertThat(lines("log")).hasSize(6);
    }

    @Test
    void with_keep_order_a_continued_run_prints_in_the_order_of_the_input() throws Exception {
        String[] words = {"-k", "--joblog", "log", "--resume-failed", "--shell", "echo {}; [ {} != b ]"};

        map(List.of("a", "b", "c"), words);
        map(List.of("a", "b", "c", "d"), words);

        assertThat(lines("out")).containsExactly("a", "b", "c", "b", "d");
    }

    @Test
    void a_job_log_of_other_commands_is_refused_and_nothing_runs() throws Exception {
        assertThat(map(List.of("a", "b", "c"), "--joblog", "log", "echo")).isZero();
        List<String> log = lines("log");

        assertThat(map(List.of("x", "a", "b", "c"), "--joblog", "log", "--resume", "echo"))
                .isEqualTo(2);
        assertThat(lines("err").getFirst())
                .isEqualTo("raddle: --joblog must be of the same commands, but it has command 1 as echo a, which is"
                        + " echo x now; name another file, or leave --resume out");
        assertThat(map(List.of("a", "b"), "--joblog", "log", "--resume", "echo"))
                .isEqualTo(2);
        assertThat(lines("err").getFirst()).contains("it has command 3, and there are only 2 now;");
        assertThat(lines("out")).hasSize(3);
        assertThat(lines("log")).isEqualTo(log);
    }

    /** Returns the lines of commands that a log calls successful. */
    private Set<String> logged() throws IOException {
        return lines("log").stream()
                .skip(1)
                .filter(line -> line.split("\t", -1)[6].equals("0"))
                .map(line -> line.replaceFirst(".*\\t: (\\w+);.*", "$1"))
                .collect(Collectors.toCollection(HashSet::new));
    }

    @Test
    void after_a_kill_no_recorded_success_is_repeated_and_no_output_is_lost() throws Exception {
        List<String> all = IntStream.range(0, LINES).mapToObj(i -> "x" + i).toList();
        Files.write(directory.resolve("in"), all);
        String[] words = {"map", "-j4", "--joblog", "log", "--resume-failed", "--shell", ": {}; echo {} | tee -a ran"};
        Random random = new Random();
        for (int round = 0; round <= KILLS; round++) {
            Set<String> before = logged();
            int ran = lines("ran").size();
            Process process = start(words);
            boolean ended = round == KILLS || process.waitFor(300 + random.nextInt(700), TimeUnit.MILLISECONDS);
            int exitCode = ended ? process.waitFor() : process.destroyForcibly().waitFor();
            List<String> again =
                    lines("ran").stream().skip(ran).filter(before::contains).toList();
            assertThat(again).as("repeated in round " + round).isEmpty();
            if (ended) {
                assertThat(exitCode).as(lines("err").toString()).isZero();
                assertThat(logged()).hasSize(LINES);
                assertThat(lines("out")).containsAll(all);
                Files.delete(directory.resolve("log"));
                Files.delete(directory.resolve("out"));
            }
        }
    }
}
