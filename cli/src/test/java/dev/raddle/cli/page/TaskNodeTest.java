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
        task = Pages.plan("tasks: [{ id: a, run: make, timeout: 20s }]").tasks().getFirst();
        node = new TaskNode(task, List::of, () -> "waits for a slot");
    }

    private static Instant at(long millis) {
        return BEGIN.plusMillis(millis);
    }

    @Test
    void a_fallback_ends_the_attempt_before_it() {
        node.queued(BEGIN);
        node.started(at(10), 1);
        node.started(at(30), 2);

        assertThat(node.attempts()).containsExactly(new Attempt(at(10), at(30), null), new Attempt(at(30), null, null));
        assertThat(node.facts()).containsEntry("process", "2").containsEntry("timeout", "20 s");
    }

    @Test
    void an_attempt_whose_result_a_value_replaced_has_failed() {
        node.started(at(10), 1);
        node.ended(
                new TaskResult(
                        "a",
                        task.group(),
                        "make",
                        TaskState.SUCCEEDED,
                        4,
                        1,
                        0,
                        90,
                        null,
                        "exit code 4",
                        TaskResult.VIA_FALLBACK,
                        at(100),
                        null),
                null);

        assertThat(node.attempts()).containsExactly(new Attempt(at(10), at(100), "exit code 4"));
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
