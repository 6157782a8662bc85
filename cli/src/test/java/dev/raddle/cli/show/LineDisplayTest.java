package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.Stop;
import dev.raddle.cli.run.TaskState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LineDisplayTest {
    private final TestConsole page = TestConsole.file();

    private void show(boolean onlyFailures, RunEvent... events) throws Exception {
        RunListener display = new LineDisplay(new Screen(page.console()), onlyFailures);
        for (RunEvent event : events) {
            display.on(event);
            display.tick();
        }
    }

    private static RunEvent[] everything(Path output) {
        return new RunEvent[] {
            Events.begin(12, 3),
            Events.queued("fetch-a", "web"),
            Events.started("fetch-a", "web"),
            new RunEvent.AttemptFailed(Events.NOW, "fetch-a", "web", 1, 3, 22, "exit code 22", Duration.ofMillis(200)),
            new RunEvent.AttemptStarted(Events.NOW, "fetch-a", "web", 2, 3, 4711, null, null),
            Events.succeeded("fetch-a", "web"),
            Events.failed("odd\nid\033[2J", "web", output.toString()),
            Events.ended("late", "web", TaskState.TIMED_OUT, null, "ran out of time after 5 s (its timeout)"),
            Events.ended("full", "web", TaskState.REJECTED, null, "rejected, group-queue: 4 of 4 running"),
            new RunEvent.RunStopping(Events.NOW, Stop.Reason.INTERRUPTED),
            Events.dropped("never", "web"),
            Events.end(1, 11, 1)
        };
    }

    @Test
    void every_event_is_one_line(@TempDir Path directory) throws Exception {
        Path output = Files.writeString(directory.resolve("b.log"), "some\nlast words\n");

        show(false, everything(output));

        assertThat(page.text()).isEqualTo("""
                        checks: 12 tasks in 3 groups; output in runs/checks
                        start     fetch-a [web]
                        retry     fetch-a [web]: exit code 22, attempt 1 of 3, again in 200 ms
                        start     fetch-a [web], attempt 2 of 3
                        ok        fetch-a [web], 0.21 s
                        failed    odd\\nid\\u001b[2J [web]: exit code 1, 0.21 s; output in %s
                        timed-out late [web]: ran out of time after 5 s (its timeout), 0.21 s; command: echo x
                        rejected  full [web]: rejected, group-queue: 4 of 4 running
                        stop      interrupted: nothing new starts, running commands get SIGTERM (once more: SIGKILL)
                        done      12 tasks: 11 succeeded, 1 failed, 3.21 s; report in runs/checks/report.json
                        """.formatted(output));
    }

    @Test
    void quiet_prints_only_failures(@TempDir Path directory) throws Exception {
        show(true, everything(directory.resolve("none")));

        assertThat(page.text().lines().map(line -> line.split(" ", 2)[0]))
                .containsExactly("failed", "timed-out", "rejected", "stop", "done");
    }

    @Test
    void quiet_prints_nothing_if_all_tasks_succeed() throws Exception {
        show(true, Events.begin(1, 1), Events.succeeded("a", "g"), Events.end(0, 1, 0));

        assertThat(page.text()).isEmpty();
    }

    @Test
    void a_drained_run_has_an_account() throws Exception {
        show(
                true,
                new RunEvent.RunStopping(Events.NOW, Stop.Reason.TERMINATED),
                Events.drained(6, List.of("a", "b\n")),
                Events.drained(15, IntStream.range(0, 12).mapToObj(i -> "t" + i).toList()),
                Events.drained(3, List.of()));

        assertThat(page.text().lines().filter(line -> !line.startsWith("done")))
                .containsExactly(
                        "stop      terminated: nothing new starts, running commands may end, then get SIGTERM"
                                + " (once more: SIGKILL)",
                        "account   6 accepted: 1 completed before, 2 completed during, 1 interrupted,"
                                + " 2 handed back (a, b\\n), 0 still running",
                        "account   15 accepted: 1 completed before, 2 completed during, 0 interrupted,"
                                + " 12 handed back (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more), 0 still"
                                + " running",
                        "account   3 accepted: 1 completed before, 2 completed during, 0 interrupted,"
                                + " 0 handed back, 0 still running");
    }

    @Test
    void tasks_that_succeeded_before_are_reported() throws Exception {
        show(false, new RunEvent.RunStarted(Events.NOW, "checks", 10, 1, Events.DIRECTORY, 7));

        assertThat(page.text()).isEqualTo("checks: 10 tasks in 1 group, 7 succeeded before; output in runs/checks\n");
    }

    @Test
    void neither_a_long_line_nor_a_long_name_fills_the_terminal(@TempDir Path directory) throws Exception {
        Path output = Files.writeString(directory.resolve("b.log"), "x".repeat(50_000));

        show(
                false,
                Events.failed("a".repeat(50_000), "g".repeat(50_000), output.toString()),
                Events.ended("b", "g", TaskState.FAILED, null, "e".repeat(50_000)));

        assertThat(page.text().lines()).hasSize(2).allMatch(line -> line.length() < 1_500);
    }

    @Test
    void a_report_that_was_not_written_is_not_announced() throws Exception {
        show(false, Events.begin(1, 1), Events.endWithoutReport());

        assertThat(page.text().lines().toList().getLast()).isEqualTo("done      1 task: 1 succeeded, 3.21 s");
    }
}
