package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.RunListener;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveDisplayTest {
    private final TestConsole page = TestConsole.terminal(100, 24);
    private final RunListener display = Displays.of(new Screen(page.console()), false);

    @Test
    void failures_are_printed_above_the_bars_at_once_with_the_last_lines_of_their_output(@TempDir Path directory)
            throws Exception {
        Path output = Files.writeString(directory.resolve("b.log"), "1\n2\n3\n4\n5\n6\n");
        display.on(Events.begin(3, 1));
        display.on(Events.queued("a", "web"));
        display.on(Events.queued("b", "web"));
        display.on(Events.queued("c", "web"));
        display.on(Events.started("a", "web"));
        display.tick();
        display.on(Events.succeeded("a", "web"));
        display.on(Events.failed("b", "web", output.toString()));
        display.tick();

        assertThat(page.seen()
                        .lines()
                        .map(line -> line.length() > 48 ? line.substring(0, 48).strip() : line))
                .containsExactly(
                        "checks: 3 tasks in 1 group; output in runs/check",
                        ("failed    b [web]: exit code 1, 0.21 s; output in " + output).substring(0, 48),
                        "    2",
                        "    3",
                        "    4",
                        "    5",
                        "    6",
                        "web    ██████████████░░░░░░░░        2/3   0 run",
                        "total  ██████████████░░░░░░░░        2/3   0 run");
    }

    @Test
    void the_bars_remain_after_the_end_and_the_cursor_is_shown_again() throws Exception {
        display.on(Events.begin(1, 1));
        display.on(Events.queued("a", "web"));
        display.tick();
        display.on(Events.succeeded("a", "web"));
        display.on(Events.end(0, 1, 0));
        display.tick();

        assertThat(page.seen().lines().map(line -> line.split(" ", 2)[0]))
                .containsExactly("checks:", "web", "total", "done");
        assertThat(page.text()).containsOnlyOnce("\033[?25l").containsOnlyOnce("\033[?25h");
    }

    @Test
    void succeeded_and_dropped_tasks_are_not_printed_individually() throws Exception {
        display.on(Events.begin(2, 1));
        display.on(Events.succeeded("a", "web"));
        display.on(Events.dropped("b", "web"));

        assertThat(page.text().lines()).hasSize(1);
    }

    @Test
    void nothing_is_drawn_before_the_run_begins() throws Exception {
        display.tick();

        assertThat(page.text()).isEmpty();
    }
}
