package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.TaskState;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

class BoardTest {
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong now = new AtomicLong();
    private final Board board = new Board(now::get, true);

    private void tell(RunEvent... events) {
        for (RunEvent event : events) {
            board.on(event);
        }
    }

    private List<String> lines(int columns, int rows) {
        return board.lines(columns, rows).stream()
                .map(AttributedString::toString)
                .map(String::stripTrailing)
                .toList();
    }

    @Test
    void each_group_has_a_bar_and_so_has_the_total() {
        tell(Events.begin(7, 2));
        for (int i = 1; i <= 5; i++) {
            tell(Events.queued("w" + i, "web"));
        }
        tell(Events.queued("d1", "db"), Events.queued("d2", "db"));
        tell(Events.started("w1", "web"), Events.started("w2", "web"), Events.started("d1", "db"));
        now.set(SECOND);
        tell(Events.succeeded("w1", "web"), Events.failed("w2", "web", null), Events.started("w3", "web"));
        now.set(2 * SECOND);

        assertThat(lines(120, 24))
                .containsExactly(
                        "web    ████████████▒▒▒▒▒▒░░░░░░░░░░░░        2/5   1 running     2 waiting     1 failed    1.0/s  ETA 3 s",
                        "db     ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░        0/2   1 running     1 waiting",
                        "total  ████████▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░        2/7   2 running     3 waiting     1 failed    1.0/s  ETA 5 s");
    }

    @Test
    void a_task_that_is_tried_again_still_runs_once() {
        tell(Events.begin(1, 1), Events.queued("a", "g"), Events.started("a", "g"), Events.started("a", "g"));

        assertThat(lines(120, 24).getLast()).contains("1 running", "0 waiting");
    }

    @Test
    void rejected_and_dropped_tasks_do_not_wait_any_more() {
        tell(Events.begin(2, 1), Events.queued("a", "g"), Events.queued("b", "g"));
        tell(Events.ended("a", "g", TaskState.REJECTED, null, "full"), Events.dropped("b", "g"));

        assertThat(lines(120, 24).getLast()).contains("2/2", "0 running", "0 waiting", "1 failed");
    }

    @Test
    void cancelled_tasks_are_not_called_failed() {
        tell(Events.begin(1, 1), Events.queued("a", "g"), Events.dropped("a", "g"));

        assertThat(lines(120, 24).getLast()).contains("1/1", "1 cancelled");
    }

    @Test
    void more_groups_than_fit_are_the_busiest_and_a_line_for_the_others() {
        tell(Events.begin(-1, -1));
        for (int i = 1; i <= 30; i++) {
            tell(Events.queued("t" + i, "group" + i));
        }
        tell(Events.started("t7", "group7"), Events.started("t20", "group20"));
        tell(Events.succeeded("t30", "group30"));

        List<String> lines = lines(100, 8);

        assertThat(lines).hasSize(5);
        assertThat(lines.get(0)).startsWith("group");
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("group7 "));
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("group20 "));
        assertThat(lines.get(3)).isEqualTo("… and 27 more groups: 0 running, 26 waiting, 1 done");
        assertThat(lines.get(4)).startsWith("total").contains("1/30", "2 running", "27 waiting");
    }

    @Test
    void what_earlier_runs_did_is_counted_as_done() {
        tell(new RunEvent.RunStarted(Events.NOW, "checks", 10, 2, null, 4));

        assertThat(lines(120, 24).getLast()).contains("4/10", "6 waiting");
    }

    @Test
    void a_terminal_without_unicode_gets_plain_letters_and_names_are_cut_to_their_column() {
        Board plain = new Board(now::get, false);
        String name = "a-very-long-name-of-a-group\033[2J";
        plain.on(Events.queued("a", name));
        plain.on(Events.queued("b", name));
        plain.on(Events.started("a", name));

        String line = plain.lines(90, 24).getFirst().toString();

        assertThat(line).startsWith("a-very-long-name-of-a-g~  ++++....").isPrintable();
    }
}
