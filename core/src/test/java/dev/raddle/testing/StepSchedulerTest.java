package dev.raddle.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepSchedulerTest {

    private final StepScheduler steps = new StepScheduler();
    private final List<String> ran = new ArrayList<>();

    @Test
    void tasks_run_one_by_one_in_the_calling_thread_in_the_order_of_their_placing() {
        Thread self = Thread.currentThread();
        steps.execute(() -> ran.add("a " + (Thread.currentThread() == self)));
        steps.execute(() -> ran.add("b"));
        assertThat(ran).isEmpty();
        assertThat(steps.size()).isEqualTo(2);
        assertThat(steps).hasToString("step scheduler, 2 waiting");

        assertThat(steps.runNext()).isTrue();
        assertThat(ran).containsExactly("a true");
        assertThat(steps.runNext()).isTrue();
        assertThat(steps.runNext()).isFalse();
        assertThat(ran).containsExactly("a true", "b");
    }

    @Test
    void parallelism_is_at_least_one() {
        assertThat(new StepScheduler(1).parallelism()).isEqualTo(1);
        assertThat(steps.parallelism()).isEqualTo(Integer.MAX_VALUE);
        assertThatThrownBy(() -> new StepScheduler(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("parallelism must be at least 1, was 0");
    }

    @Test
    void run_all_also_runs_tasks_that_are_placed_meanwhile() {
        steps.execute(() -> {
            ran.add("outer");
            steps.execute(() -> ran.add("inner"));
        });

        steps.runAll();

        assertThat(ran).containsExactly("outer", "inner");
        assertThat(steps.size()).isZero();
    }

    @Test
    void a_task_that_throws_is_removed_and_the_next_one_can_be_run() {
        IllegalStateException thrown = new IllegalStateException();
        steps.execute(() -> {
            throw thrown;
        });
        steps.execute(() -> ran.add("next"));

        assertThatThrownBy(steps::runNext).isSameAs(thrown);
        steps.runAll();

        assertThat(ran).containsExactly("next");
    }
}
