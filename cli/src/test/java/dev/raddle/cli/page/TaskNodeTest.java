package dev.raddle.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.TaskState;
import dev.raddle.console.RunView.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TaskNodeTest {
    private static final Instant BEGIN = Pages.BEGIN;

    private PlannedTask task;
    private TaskNode node;

    @BeforeEach
    void create() throws Exception {
        create("tasks: [{ id: a, run: make, timeout: 20s }]");
    }

    private void create(String file) throws Exception {
        task = Pages.plan(file).tasks().getFirst();
        node = new TaskNode(task, List::of, () -> "waits for a slot");
    }

    private static Instant at(long millis) {
        return BEGIN.plusMillis(millis);
    }

    private TaskResult fallenBack(String via) {
        return new TaskResult("a", task.group(), "make", TaskState.SUCCEEDED)
                .withAttempts(1, 0)
                .withTimes(0, 90)
                .withError("exit code 4")
                .withVia(via)
                .withEndedAt(at(100));
    }

    @Test
    void a_fallback_ends_the_attempt_before_it_which_has_failed() throws Exception {
        create("tasks: [{ id: a, run: make, timeout: 20s, fallback: other }]");
        node.queued(BEGIN);
        node.started(at(10), 1);
        node.started(at(30), 2);

        assertThat(node.attempts())
                .containsExactly(new Attempt(at(10), at(30), "failed"), new Attempt(at(30), null, null));
        assertThat(node.facts()).containsEntry("process", "2").containsEntry("timeout", "20 s");

        node.ended(fallenBack(TaskResult.VIA_FALLBACK), null);

        assertThat(node.attempts())
                .containsExactly(new Attempt(at(10), at(30), "exit code 4"), new Attempt(at(30), at(100), null));
    }

    @Test
    void an_attempt_whose_result_a_value_replaced_has_failed() throws Exception {
        create("tasks: [{ id: a, run: make, fallback: { value: x } }]");
        node.started(at(10), 1);
        node.ended(fallenBack(TaskResult.VIA_FALLBACK), null);

        assertThat(node.attempts()).containsExactly(new Attempt(at(10), at(100), "exit code 4"));
    }

    @Test
    void a_command_that_cannot_be_started_has_the_times_of_the_report() {
        node.queued(BEGIN);
        node.ended(
                new TaskResult("a", task.group(), "make", TaskState.FAILED)
                        .withTimes(27, 6)
                        .withError("cannot start")
                        .withEndedAt(at(33)),
                null);

        assertThat(node.readyAt()).isEqualTo(BEGIN);
        assertThat(node.startedAt()).isEqualTo(at(27));
        assertThat(node.endedAt()).isEqualTo(at(33));
    }

    @Test
    void a_task_of_an_earlier_run_says_how_long_it_took_and_has_no_bar() {
        TaskResult earlier = Pages.result(task, TaskState.SUCCEEDED, 0, 10, 400, null);
        node.endedEarlier(earlier);
        node.ended(earlier, "printed"); // by the report

        assertThat(node.startedAt()).isNull();
        assertThat(node.endedAt()).isNull();
        assertThat(node.facts())
                .containsEntry("waited in an earlier run", "10 ms")
                .containsEntry("took in an earlier run", "390 ms");

        node.queued(at(500)); // it runs again
        node.ended(Pages.result(task, TaskState.SUCCEEDED, 500, 510, 900, null), null);

        assertThat(node.endedAt()).isEqualTo(at(900));
        assertThat(node.facts()).doesNotContainKey("took in an earlier run");
    }

    @Test
    void a_pause_has_its_end() {
        node.queued(BEGIN);
        assertThat(node.why()).isEqualTo("waits for a slot");
        node.started(at(10), 1);
        assertThat(node.why()).isNull();
        node.failed(at(20), "exit code 1", Duration.ofSeconds(15));

        assertThat(node.state()).isEqualTo("waiting");
        assertThat(node.why()).matches("pauses until \\d\\d:\\d\\d:15 before attempt 2");
    }

    @Test
    void at_its_end_it_has_the_times_of_the_report() {
        node.queued(at(3));
        node.started(at(17), 1);
        node.ended(Pages.result(task, TaskState.SUCCEEDED, 0, 10, 400, null), null);

        assertThat(node.readyAt()).isEqualTo(at(0));
        assertThat(node.startedAt()).isEqualTo(at(10));
        assertThat(node.attempts()).containsExactly(new Attempt(at(10), at(400), null));
        assertThat(node.facts()).doesNotContainKeys("process", "timeout");
    }

    @Test
    void what_was_undone_says_so() {
        node.ended(Pages.result(task, TaskState.SUCCEEDED, 0, 10, 400, null), null);
        assertThat(node.why()).isNull();

        node.undone(null);
        assertThat(node.why()).isEqualTo("was undone");

        node.undone("exit code 2");
        assertThat(node.why()).isEqualTo("could not be undone: exit code 2");
    }
}
