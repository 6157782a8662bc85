package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code raddle map} as a process. */
@Timeout(200)
class MapCommandTest {
    @TempDir
    private Path directory;

    private Raddle.Ended map(String input, String... arguments) throws Exception {
        List<String> words = new ArrayList<>(List.of("map"));
        words.addAll(List.of(arguments));
        return new Raddle(directory).feed(input, words.toArray(String[]::new));
    }

    @Test
    void each_line_becomes_the_last_argument_of_the_command() throws Exception {
        Raddle.Ended ended = map("one\ntwo words\n\n$(touch pwned); *\n", "--limit", "1", "printf", "<%s>\\n");

        assertThat(ended.exitCode()).isZero();
        assertThat(ended.out()).isEqualTo("<one>\n<two words>\n<$(touch pwned); *>\n");
        assertThat(ended.err()).isEmpty();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void letters_are_kept_where_the_locale_is_not_installed() throws Exception {
        // a shell writes the letters, because this JVM may run in the same locale and could not pass them
        Raddle raddle = new Raddle(directory)
                .environment("LC_ALL", "xx_YY.UTF-8")
                .followedBy("\"$(printf 'gr\\303\\266\\303\\237e')\"");

        assertThat(raddle.feed("1\n", "map", "echo").out()).isEqualTo("größe 1\n");
    }

    @Test
    void placeholders_may_be_anywhere_and_options_after_the_command_belong_to_it() throws Exception {
        Raddle.Ended ended = map(
                "http://a.org/x\n", "--limit", "1", "printf", "%s %s %s %s\\n", "--json", "{}", "${n}-${host}", "-q");

        assertThat(ended.out()).isEqualTo("--json http://a.org/x 1-a.org -q\n");
    }

    @Test
    void an_argument_that_begins_with_an_at_sign_is_not_a_file_of_arguments() throws Exception {
        assertThat(map("@b\n", "--limit", "1", "echo", "@a").out()).isEqualTo("@a @b\n");
    }

    @Test
    void a_shell_gets_the_line_quoted() throws Exception {
        Raddle.Ended ended =
                map("a; touch pwned\n' || touch pwned #\n", "-j1", "--shell", "printf '%s|' {} {} \"{}\" | cat; echo");

        assertThat(ended.out()).isEqualTo("a; touch pwned|".repeat(3) + "\n" + "' || touch pwned #|".repeat(3) + "\n");
        assertThat(directory.resolve("pwned")).doesNotExist();
    }

    @Test
    void commands_start_before_all_lines_are_read() throws Exception {
        Raddle.Run run = new Raddle(directory).start("map", "echo", "got");
        run.type("first\n");
        run.awaitLine("got first");
        run.type("second\n");
        run.awaitLine("got second");
        run.closeInput();

        assertThat(run.end().exitCode()).isZero();
    }

    @Test
    void a_command_cannot_read_the_lines_of_the_others() throws Exception {
        Raddle.Ended ended = map("1\n2\n3\n", "--limit", "1", "--shell", "cat; echo {}");

        assertThat(ended.out()).isEqualTo("1\n2\n3\n");
    }

    @Test
    void output_is_never_interleaved_and_is_in_order_on_request() throws Exception {
        String lines = IntStream.rangeClosed(1, 40).mapToObj(i -> i + "\n").collect(Collectors.joining());

        Raddle.Ended ended = map(
                lines,
                "--limit",
                "8",
                "--keep-order",
                "--shell",
                "echo a{}; sleep 0.0$((40 % 7)); echo b{}; echo c{} >&2");

        assertThat(ended.lines())
                .containsExactlyElementsOf(IntStream.rangeClosed(1, 40)
                        .boxed()
                        .flatMap(i -> List.of("a" + i, "b" + i).stream())
                        .toList());
        assertThat(ended.err().lines()).hasSize(40);
    }

    @Test
    void each_group_has_its_limit() throws Exception {
        // Only one task of a group may hold its directory; both groups must have one at once to go on.
        String script = "g=$(echo {} | cut -c1); mkdir $g || exit 9; touch seen$g; until [ -e seena ] && [ -e seenb ];"
                + " do sleep 0.01; done; rmdir $g";

        Raddle.Ended ended = map("a1\na2\na3\nb1\nb2\n", "--group-by", "/^(.)/", "--limit", "1", "--shell", script);

        assertThat(ended.exitCode()).as(ended.err()).isZero();
    }

    @Test
    void failures_are_told_on_standard_error_and_have_exit_code_1() throws Exception {
        Raddle.Ended ended = map("1\n2\nx\n", "--limit", "1", "--retry", "2", "--backoff", "1ms", "test", "0", "-lt");

        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.err())
                .containsPattern("failed    3 \\[all]: exit code 2, attempt 2 of 2, .* s; command: test 0 -lt x\n")
                .containsPattern("done      3 tasks: 2 succeeded, 1 failed, .*\n");
    }

    @Test
    void a_line_that_does_not_match_fails_without_running_and_the_others_run() throws Exception {
        Raddle.Ended ended = map("http://a.org/\nplain\n", "--group-by", "${host}", "echo");

        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.out()).isEqualTo("http://a.org/\n");
        assertThat(ended.err()).contains("standard input:2:1: ${host} needs a URL with a host", "was \"plain\"");
    }

    @Test
    void a_timeout_has_exit_code_124_and_a_full_queue_3() throws Exception {
        String untilOneIsRejected = "[ {} != 1 ] || until grep -q rejected run/journal.jsonl; do sleep 0.01; done";

        Raddle.Ended slow = map("600\n", "--timeout", "100ms", "sleep");
        Raddle.Ended full = map("1\n2\n3\n", "-j1", "--queue", "1", "--results", "run", "--shell", untilOneIsRejected);

        assertThat(slow.exitCode()).isEqualTo(124);
        assertThat(full.exitCode()).as(full.err()).isEqualTo(3);
        assertThat(full.err()).contains("rejected  3 [all]: rejected, group-queue");
    }

    @Test
    void out_stores_the_output_a_journal_and_a_report() throws Exception {
        Raddle.Ended ended =
                map("a\nb\n", "--limit", "1", "--results", "run", "--shell", "echo {}; echo {}! >&2; [ {} = a ]");

        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.out()).isEqualTo("a\nb\n");
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(((Map<?, ?>) report.get("totals")).get("tasks")).isEqualTo(2);
        assertThat(Raddle.tasks(report).get("2").get("state")).isEqualTo("failed");
        assertThat(directory.resolve("run/output/2.out")).hasContent("b");
        assertThat(directory.resolve("run/output/2.err")).hasContent("b!");
        assertThat(map("a\n", "--results", "run", "echo").exitCode()).isEqualTo(2);
    }

    @Test
    void json_and_dry_run_work_as_in_the_run_command() throws Exception {
        Raddle.Ended dry = map("http://a.org/x y\n", "--dry-run", "--group-by", "${host}", "curl", "-fsS");
        Raddle.Ended json = map("a\n", "--json", "--results", "run", "echo");

        assertThat(dry.out()).isEqualTo("1 [a.org]  curl -fsS 'http://a.org/x y'\n");
        assertThat(json.lines())
                .hasSize(4)
                .allSatisfy(line -> assertThat(Raddle.json(line).get("event")).isNotNull())
                .element(2)
                .asString()
                .contains("\"state\":\"succeeded\"", "/run/output/1.out\"");
    }

    @Test
    void wrong_arguments_have_exit_code_2_and_say_what_is_right() throws Exception {
        assertThat(map("", "--limit", "x", "echo").err()).contains("--limit must be a number of commands at once");
        assertThat(map("", "echo {} | wc").err()).contains("use --shell");
        assertThat(map("", "--shell", "echo", "x").err()).contains("with --shell the command must be one word, was 2");
        assertThat(map("", "echo", "${hots}").err()).contains("unknown placeholder ${hots}");
        Raddle.Ended regex = map("", "--group-by", "/(/", "echo");
        assertThat(regex.err()).contains("--group-by must be a regular expression");
        assertThat(regex.exitCode()).isEqualTo(2);
    }

    @Test
    void ctrl_c_ends_it_although_its_input_is_open() throws Exception {
        Raddle.Run run = new Raddle(directory).start("map", "--json", "--results", "run", "sleep");
        run.type("600\n");
        run.awaitLine("\"task-started\"");

        run.signal("INT");

        assertThat(run.end().exitCode()).isEqualTo(130);
        assertThat(Raddle.tasks(Raddle.report(directory.resolve("run")))
                        .get("1")
                        .get("state"))
                .isEqualTo("cancelled");
    }

    @Test
    void after_sigterm_it_ends_when_running_tasks_have_ended_although_its_input_is_open() throws Exception {
        Raddle.Run run = new Raddle(directory)
                .start("map", "--json", "--results", "run", "--grace", "1h", "--shell", ": {}; cat fifo");
        new ProcessBuilder("mkfifo", directory.resolve("fifo").toString())
                .start()
                .waitFor();
        run.type("1\n");
        run.awaitLine("\"task-started\"");

        run.signal("TERM");
        run.awaitLine("\"reason\":\"terminated\"");
        Files.writeString(directory.resolve("fifo"), "done");

        assertThat(run.end().exitCode()).isEqualTo(130);
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(Raddle.tasks(report).get("1").get("state")).isEqualTo("succeeded");
        assertThat(((Map<?, ?>) report.get("account")).get("accepted")).isEqualTo(1);
    }

    @Test
    void it_ends_when_its_output_is_closed() throws Exception {
        Raddle.Run run = new Raddle(directory).start("map", "--limit", "1", "echo");
        run.type("first\n");
        run.awaitLine("first");
        run.process().getInputStream().close();

        // The stream is closed only after a read in progress has returned, so one more line may not be enough.
        assertThatIOException().isThrownBy(() -> {
            for (int line = 2; line < 1_000_000; line++) {
                run.type(line + "\n");
            }
        });

        assertThat(run.process().waitFor()).isEqualTo(141);
    }

    @Test
    void a_closed_standard_input_has_no_lines() throws Exception {
        Raddle.Ended ended = new Raddle(directory).followedBy("<&-").run("map", "--fail-fast", "echo");

        assertThat(ended.exitCode()).isZero();
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err()).doesNotContain("failed");
    }

    @Test
    void many_lines_need_little_memory_and_reading_waits_for_the_commands() throws Exception {
        String lines = IntStream.rangeClosed(1, 500).mapToObj(i -> i + "\n").collect(Collectors.joining());

        Raddle.Ended ended = map(lines, "--limit", "4", "--read-ahead", "10", "--keep-order", "echo");

        assertThat(ended.exitCode()).isZero();
        assertThat(ended.out()).isEqualTo(lines);
        assertThat(Files.exists(directory.resolve("raddle-runs"))).isFalse();
    }
}
