package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.TaskState;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressViewTest {
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong now = new AtomicLong();
    private final ProgressView view = new ProgressView(now::get, true);

    private void show(RunEvent... events) {
        for (RunEvent event : events) {
            view.on(event);
        }
    }

    private List<String> lines(int columns, int rows) {
        return view.lines(columns, rows).stream()
                .map(AttributedString::toString)
                .map(String::stripTrailing)
                .toList();
    }

    @Test
    void each_group_has_a_bar_and_so_has_the_total() {
        show(Events.begin(7, 2));
        for (int i = 1; i <= 5; i++) {
            show(Events.queued("w" + i, "web"));
        }
        show(Events.queued("d1", "db"), Events.queued("d2", "db"));
        show(Events.started("w1", "web"), Events.started("w2", "web"), Events.started("d1", "db"));
        now.set(SECOND);
        show(Events.succeeded("w1", "web"), Events.failed("w2", "web", null), Events.started("w3", "web"));
        now.set(2 * SECOND);

        assertThat(lines(120, 24))
                .containsExactly(
                        "web    ████████████▒▒▒▒▒▒░░░░░░░░░░░░        2/5   1 running     2 waiting     1 failed   "
                                + " 1.0/s  ETA 3 s",
                        "db     ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░        0/2   1 running     1 waiting",
                        "total  ████████▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░        2/7   2 running     3 waiting     1 failed   "
                                + " 1.0/s  ETA 5 s");
    }

    @Test
    void a_retried_task_is_counted_as_running_once() {
        show(Events.begin(1, 1), Events.queued("a", "g"), Events.started("a", "g"), Events.started("a", "g"));

        assertThat(lines(120, 24).getLast()).contains("1 running", "0 waiting");
    }

    @Test
    void rejected_and_dropped_tasks_are_not_counted_as_waiting() {
        show(Events.begin(2, 1), Events.queued("a", "g"), Events.queued("b", "g"));
        show(Events.ended("a", "g", TaskState.REJECTED, null, "full"), Events.dropped("b", "g"));

        assertThat(lines(120, 24).getLast()).contains("2/2", "0 running", "0 waiting", "1 failed");
    }

    @Test
    void cancelled_tasks_are_not_counted_as_failed() {
        show(Events.begin(1, 1), Events.queued("a", "g"), Events.dropped("a", "g"));

        assertThat(lines(120, 24).getLast()).contains("1/1", "1 cancelled");
    }

    @Test
    void if_not_all_groups_fit_the_busiest_are_shown_and_a_line_for_the_others() {
        show(Events.begin(-1, -1));
        for (int i = 1; i <= 30; i++) {
            show(Events.queued("t" + i, "group" + i));
        }
        show(Events.started("t7", "group7"), Events.started("t20", "group20"));
        show(Events.succeeded("t30", "group30"));

        List<String> lines = lines(100, 8);

        assertThat(lines).hasSize(5);
        assertThat(lines.get(0)).startsWith("group");
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("group7 "));
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("group20 "));
        assertThat(lines.get(3)).isEqualTo("… and 27 more groups: 0 running, 26 waiting, 1 done");
        assertThat(lines.get(4)).startsWith("total").contains("1/30", "2 running", "27 waiting");
    }

    @Test
    void results_of_earlier_runs_are_counted_as_done() {
        show(new RunEvent.RunStarted(Events.NOW, "checks", 10, 2, null, 4));

        assertThat(lines(120, 24).getLast()).contains("4/10", "6 waiting");
    }

    @Test
    void a_terminal_without_unicode_shows_ascii_and_names_are_cut_to_their_column() {
        ProgressView plain = new ProgressView(now::get, false);
        String name = "a-very-long-name-of-a-group\033[2J";
        plain.on(Events.queued("a", name));
        plain.on(Events.queued("b", name));
        plain.on(Events.started("a", name));

        String line = plain.lines(90, 24).getFirst().toString();

        assertThat(line)
                .startsWith("a-very-long-name-of-a-g~  ++++")
                .contains("++....")
                .isPrintable();
    }

    private void showEveryState(int tasks) {
        show(Events.begin(tasks, 2));
        for (int i = 0; i < tasks; i++) {
            show(Events.queued("t" + i, i % 2 == 0 ? "compile" : "a-long-name-of-a-group"));
        }
        show(Events.started("t0", "compile"), Events.started("t1", "a-long-name-of-a-group"));
        show(Events.succeeded("t2", "compile"), Events.failed("t3", "a-long-name-of-a-group", null));
        show(Events.dropped("t4", "compile"), Events.dropped("t5", "a-long-name-of-a-group"));
    }

    @Test
    void the_total_shows_failed_and_cancelled_beside_each_other() {
        showEveryState(10);

        assertThat(lines(140, 24).getLast()).contains("4/10 ", "2 running ", "4 waiting ", "1 failed ", "2 cancelled");
    }

    @ParameterizedTest
    @ValueSource(ints = {30, 36, 40, 48, 60, 70, 80, 100, 120, 200})
    void the_counts_of_all_bars_are_shown_at_every_width(int columns) {
        showEveryState(60);
        now.set(SECOND);

        List<String> lines = lines(columns, 24);

        assertThat(lines).hasSize(3).allMatch(line -> line.length() < columns);
        assertThat(lines.getLast())
                .startsWith("to")
                .containsPattern(" 4/60 ")
                .containsPattern(" 2( run(ning)?|r) ")
                .containsPattern(" 54( wait(ing)?|w) ")
                .containsPattern(" 1( fail(ed)?|f) ")
                .containsPattern(" 2( cancel(led)?|c)");
    }

    @Test
    void forty_columns_are_enough_for_the_counts() {
        showEveryState(60);

        assertThat(lines(40, 24))
                .containsExactly(
                        "compile               2/30 1r 27w    1c",
                        "a-long-name-of-a-gro… 2/30 1r 27w 1f 1c",
                        "total                 4/60 2r 54w 1f 2c");
        assertThat(lines(48, 24))
                .containsExactly(
                        "compile      2/30 1 run 27 wait        1 cancel",
                        "a-long-name… 2/30 1 run 27 wait 1 fail 1 cancel",
                        "total        4/60 2 run 54 wait 1 fail 2 cancel");
    }

    @Test
    void the_tasks_that_run_longest_are_shown_with_their_ages() {
        for (int i = 0; i < 6; i++) {
            now.set(i * 10 * SECOND);
            show(Events.queued("t" + i, "web"), Events.started("t" + i, "web"));
        }
        show(Events.started("t1", "web"), Events.succeeded("t0", "web"));
        now.set(100 * SECOND);

        assertThat(lines(100, 24))
                .hasSize(5)
                .endsWith(
                        "running 1 min 30 s: t1 [web]", "running 1 min 20 s: t2 [web]", "running 1 min 10 s: t3 [web]");
        assertThat(lines(20, 24)).contains("running 1 min 30 s…");
        assertThat(lines(100, 10)).hasSize(3).endsWith("running 1 min 30 s: t1 [web]");
        assertThat(lines(100, 5)).hasSize(2);
    }

    @Test
    void a_task_that_began_just_now_is_not_shown_among_the_oldest() {
        show(Events.queued("a", "web"), Events.started("a", "web"));
        now.set(2 * SECOND);

        assertThat(lines(100, 24)).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 60})
    void there_are_fewer_lines_than_rows(int rows) {
        for (int i = 0; i < 40; i++) {
            show(Events.queued("t" + i, "group" + i), Events.started("t" + i, "group" + i));
        }
        now.set(100 * SECOND);

        assertThat(lines(100, rows)).hasSizeLessThan(Math.max(2, rows)).anyMatch(line -> line.startsWith("total"));
    }
}
