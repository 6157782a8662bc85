package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the run files of the examples with the real launcher. */
@Timeout(300)
class ExampleFilesTest {
    private static final Path EXAMPLES = Raddle.ROOT.resolve("examples");

    @TempDir
    private Path directory;

    private Raddle.Ended run(String file) throws Exception {
        return new Raddle(directory)
                .run("run", "--results", "run", EXAMPLES.resolve(file).toString());
    }

    @Test
    void hello_shows_three_groups_and_a_retry_and_succeeds() throws Exception {
        Raddle.Ended ended = run("hello.yaml");

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(ended.lines()).anyMatch(line -> line.startsWith("retry     coffee-machine [kitchen]: exit code 1"));
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        Map<?, ?> groups = (Map<?, ?>) report.get("groups");
        assertThat(((Map<?, ?>) groups.get("oven")).get("peakRunning")).isEqualTo(1);
        assertThat((int) ((Map<?, ?>) groups.get("kitchen")).get("peakRunning")).isBetween(1, 2);
        assertThat((int) ((Map<?, ?>) report.get("totals")).get("peakRunning")).isBetween(1, 6);
    }

    @Test
    void flaky_services_recover_time_out_and_fail_as_they_should() throws Exception {
        Raddle.Ended ended = run("flaky-services/services.yaml");

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(1);
        Map<String, Map<?, ?>> tasks = Raddle.tasks(Raddle.report(directory.resolve("run")));
        assertThat(tasks.get("warms-up").get("state")).isEqualTo("succeeded");
        assertThat(tasks.get("warms-up").get("attempts")).isEqualTo(3);
        assertThat(tasks.get("hangs-once").get("state")).isEqualTo("succeeded");
        assertThat((int) tasks.get("hangs-once").get("attempts")).isBetween(2, 3); // a slow attempt may time out, too
        assertThat(tasks.get("stays-down").get("state")).isEqualTo("failed");
        assertThat(tasks.get("stays-down").get("exitCode")).isEqualTo(7);
        assertThat(tasks.get("stays-down").get("error")).isEqualTo("exit code 7, attempt 3 of 3");
        assertThat(tasks.get("never-answers").get("state")).isEqualTo("timed-out");
        assertThat(tasks.get("fine").get("state")).isEqualTo("succeeded");
        String output = Files.readString(directory.resolve("run/output/hangs-once.log"));
        assertThat(Pattern.compile("waiting for process (\\d+)")
                        .matcher(output)
                        .results()
                        .map(waiting -> Long.parseLong(waiting.group(1))))
                .as(output)
                .noneMatch(Raddle::isAlive);
    }

    @Test
    void ten_thousand_commands_in_four_groups_are_planned() throws Exception {
        String file = EXAMPLES.resolve("ten-thousand/ten-thousand.yaml").toString();

        assertThat(new Raddle(directory).run("check", file).out())
                .isEqualTo(file + " is valid: 10000 tasks, 0 edges\n");
    }

    /** Runs the same file with every twentieth of its numbers: it tests the limits, and that no task is lost. */
    @Test
    void of_ten_thousand_commands_in_four_groups_every_twentieth_runs_within_its_limits() throws Exception {
        Files.copy(EXAMPLES.resolve("ten-thousand/ten-thousand.yaml"), directory.resolve("ten-thousand.yaml"));
        List<String> numbers = Files.readAllLines(EXAMPLES.resolve("ten-thousand/numbers.txt"));
        Files.write(directory.resolve("numbers.txt"), numbers.subList(0, numbers.size() / 20));

        Raddle.Ended ended = new Raddle(directory).run("run", "--results", "run", "ten-thousand.yaml");

        assertThat(ended.exitCode()).as(ended.err()).isZero();
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(((Map<?, ?>) report.get("totals")).get("succeeded")).isEqualTo(500);
        assertThat((int) ((Map<?, ?>) report.get("totals")).get("peakRunning")).isBetween(1, 8);
        ((Map<?, ?>) report.get("groups")).forEach((group, counts) -> {
            Map<?, ?> fields = (Map<?, ?>) counts;
            assertThat((int) fields.get("peakRunning")).as("" + group).isBetween(1, (int) fields.get("limit"));
        });
        assertThat(directory.resolve("run/output").toFile().list()).hasSize(500);
    }

    @Test
    void a_build_with_dependencies_is_checked_and_run_and_not_undone() throws Exception {
        String file = EXAMPLES.resolve("build/build.yaml").toString();

        Raddle.Ended checked = new Raddle(directory).run("check", file);
        Raddle.Ended ended = run("build/build.yaml");

        assertThat(checked.out()).isEqualTo(file + " is valid: 8 tasks, 8 edges\n");
        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(Files.readString(directory.resolve("run/output/publish.log")))
                .isEqualTo("publishing hello-1.0.0, lint succeeded\n");
        assertThat(directory.resolve("run/report.html")).isNotEmptyFile();
    }

    @Test
    void a_nightly_run_is_degraded_by_a_check_and_still_reports() throws Exception {
        Raddle.Ended ended = new Raddle(directory)
                .run(
                        "run",
                        "--results",
                        "run",
                        "--param",
                        "day=2026-01-31",
                        EXAMPLES.resolve("nightly/nightly.yaml").toString());

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(4);
        assertThat(Files.readString(directory.resolve("run/output/report.log")))
                .isEqualTo("2026-01-31: 3 rows, negatives failed, archive succeeded\n");
    }
}
