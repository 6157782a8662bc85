package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.TaskState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputDisplayTest {
    private static final String ODD = "c, d: 100%\n|x";

    @TempDir
    private Path directory;

    private TestConsole page = TestConsole.file();
    private final Map<String, Path> logs = new HashMap<>();
    private final Map<String, String> environment = new HashMap<>();

    private RunListener display(@Nullable OutputMode mode, boolean quiet) {
        for (String id : List.of("a", "b", "c", ODD)) {
            logs.put(id, directory.resolve(id.charAt(0) + ".log"));
        }
        return Displays.withOutput(new Screen(page.console()), quiet, mode, logs, environment);
    }

    private void write(String id, String text) throws Exception {
        Path log = directory.resolve(id + ".log");
        Files.writeString(log, (Files.exists(log) ? Files.readString(log) : "") + text);
    }

    private RunEvent failed(String id) {
        return Events.failed(id, "g", null);
    }

    private static void send(RunListener display, RunEvent... events) throws Exception {
        for (RunEvent event : events) {
            display.on(event);
        }
    }

    @Test
    void without_a_terminal_the_output_of_a_task_follows_its_end_and_the_first_failure_is_repeated_last()
            throws Exception {
        RunListener display = display(null, false);
        write("a", "a1\na2\n");
        write("b", "b1");
        write("c", "c1\n");

        send(display, Events.begin(3, 1), Events.started("a", "g"), Events.started("b", "g"), failed("b"));
        display.tick();
        send(display, failed("c"), Events.succeeded("a", "g"), Events.end(1, 1, 2));

        assertThat(page.text()).isEqualTo("""
                        checks: 3 tasks in 1 group; output in runs/checks
                        start     a [g]
                        start     b [g]
                        failed    b [g]: exit code 1, 0.21 s; command: echo x
                        b1
                        failed    c [g]: exit code 1, 0.21 s; command: echo x
                        c1
                        ok        a [g], 0.21 s
                        a1
                        a2
                        failed    b [g]: exit code 1, 0.21 s; command: echo x
                        b1
                        done      3 tasks: 1 succeeded, 2 failed, 3.21 s; report in runs/checks/report.json
                        """);
    }

    @Test
    void a_failure_that_was_printed_last_is_not_repeated() throws Exception {
        RunListener display = display(OutputMode.GROUP, true);
        write("a", "a1\n");
        write("b", "b1\n");

        send(display, Events.begin(2, 1), failed("b"), Events.succeeded("a", "g"), Events.end(1, 1, 1));

        assertThat(page.text().lines())
                .containsExactly(
                        "failed    b [g]: exit code 1, 0.21 s; command: echo x",
                        "b1",
                        "done      2 tasks: 1 succeeded, 1 failed, 3.21 s; report in runs/checks/report.json");
    }

    @Test
    void what_an_earlier_run_has_written_is_not_printed() throws Exception {
        write("b", "before\n");
        RunListener display = display(OutputMode.GROUP, false);
        write("b", "now\n");

        send(display, failed("b"), Events.succeeded("a", "g"), Events.end(1, 1, 1));

        assertThat(page.text()).doesNotContain("before").containsSubsequence("now\n", "ok ", "now\n");
    }

    @Test
    void bytes_that_are_no_text_are_printed_unchanged() throws Exception {
        RunListener display = display(OutputMode.GROUP, true);
        byte[] bytes = new byte[200_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31 % 251 | 128);
        }
        Files.write(directory.resolve("b.log"), bytes);

        send(display, failed("b"));

        String line = "failed    b [g]: exit code 1, 0.21 s; command: echo x\n";
        assertThat(page.bytes()).startsWith(line.getBytes()).endsWith('\n').hasSize(line.length() + bytes.length + 1);
        assertThat(Arrays.copyOfRange(page.bytes(), line.length(), line.length() + bytes.length))
                .isEqualTo(bytes);
    }

    @Test
    void with_a_prefix_each_complete_line_is_printed_as_it_comes() throws Exception {
        RunListener display = display(OutputMode.PREFIX, false);
        send(display, Events.started("a", "g"), Events.started("b", "g"));
        write("a", "a1\na");
        write("b", "b1\n\n");
        display.tick();
        write("a", "2\na3");
        display.tick();
        display.tick();
        send(display, Events.succeeded("a", "g"));
        write("a", "late\n");
        display.tick();

        assertThat(page.text()).isEqualTo("""
                        start     a [g]
                        start     b [g]
                        a | a1
                        b | b1
                        b |\s
                        a | a2
                        a | a3
                        ok        a [g], 0.21 s
                        """);
    }

    @Test
    void a_very_long_line_is_printed_in_parts_as_it_comes() throws Exception {
        RunListener display = display(OutputMode.PREFIX, false);
        send(display, Events.started("b", "g"));
        write("b", "x".repeat(70_000));
        display.tick();
        write("b", "x".repeat(70_000) + "\ny");

        send(display, failed("b"));

        assertThat(page.text().lines().skip(1).limit(3))
                .containsExactly("b | " + "x".repeat(65_536), "b | " + "x".repeat(140_000 - 65_536), "b | y");
    }

    @Test
    void on_a_terminal_output_is_in_files_unless_it_is_asked_for() throws Exception {
        page = TestConsole.terminal(100, 24);
        RunListener files = display(null, false);
        write("a", "a1\n");
        send(files, Events.begin(1, 1), Events.succeeded("a", "g"));
        assertThat(page.seen()).doesNotContain("a1", "ok ");

        RunListener group = display(OutputMode.GROUP, false);
        write("a", "a2");
        send(group, Events.begin(1, 1), Events.queued("a", "g"), Events.started("a", "g"));
        group.tick();
        send(group, Events.succeeded("a", "g"));
        group.tick();

        assertThat(page.seen().lines().map(line -> line.split(" ", 2)[0]))
                .containsExactly("checks:", "checks:", "ok", "a2", "g", "total");
    }

    @Test
    void for_github_output_is_grouped_and_cannot_give_commands() throws Exception {
        environment.put("GITHUB_ACTIONS", "true");
        environment.put("GITHUB_STEP_SUMMARY", directory.resolve("summary").toString());
        RunListener display = display(null, false);
        write("a", "::error::fake\n##[add-mask]x\n");
        write("b", "b1\n");

        send(
                display,
                Events.begin(3, 1),
                Events.succeeded("a", "g"),
                failed("b"),
                Events.ended(ODD, "g", TaskState.TIMED_OUT, null, "ran out of time\n::x::"),
                Events.end(1, 1, 2));

        String tokens = page.text()
                .replaceAll("(?m)^::stop-commands::[0-9a-f-]{36}$", "STOP")
                .replaceAll("(?m)^::[0-9a-f-]{36}::$", "RESUME");
        assertThat(tokens).isEqualTo("""
                        STOP
                        checks: 3 tasks in 1 group; output in runs/checks
                        ok        a [g], 0.21 s
                        RESUME
                        ::group::a
                        STOP
                        ::error::fake
                        ##[add-mask]x
                        RESUME
                        ::endgroup::
                        STOP
                        failed    b [g]: exit code 1, 0.21 s; command: echo x
                        RESUME
                        ::group::b
                        STOP
                        b1
                        RESUME
                        ::endgroup::
                        STOP
                        RESUME
                        ::error title=b::exit code 1
                        STOP
                        timed-out c, d: 100%\\n|x [g]: ran out of time\\n::x::, 0.21 s; command: echo x
                        RESUME
                        ::error title=c%2C d%3A 100%25\\n|x::ran out of time\\n::x::
                        STOP
                        failed    b [g]: exit code 1, 0.21 s; command: echo x
                        b1
                        done      3 tasks: 1 succeeded, 2 failed, 3.21 s; report in runs/checks/report.json
                        RESUME
                        """);
        assertThat(directory.resolve("summary")).hasContent("""
                        ### checks

                        3 tasks: 1 succeeded, 2 failed, 3.21 s

                        | task | state | why |
                        |---|---|---|
                        | b | failed | exit code 1 |
                        | c\\, d\\: 100\\%\\\\n\\|x | timed-out | ran out of time\\\\n\\:\\:x\\:\\: |

                        """);
    }

    @Test
    void each_command_for_github_has_a_new_token_that_stops_and_resumes() throws Exception {
        environment.put("GITHUB_ACTIONS", "true");
        RunListener display = display(OutputMode.FILES, false);
        write("b", "from b\n");

        send(display, Events.begin(2, 1), failed("b"), failed("c"), Events.end(1, 0, 2));

        Matcher tokens = Pattern.compile("(?m)^::stop-commands::(.{36})$[^$]*?^::(.{36})::$")
                .matcher(page.text());
        Set<String> seen = new HashSet<>();
        while (tokens.find()) {
            assertThat(tokens.group(2)).isEqualTo(tokens.group(1));
            seen.add(tokens.group(1));
        }
        assertThat(seen).hasSize(3);
        assertThat(page.text()).doesNotContain("from b", "::group");
    }
}
