package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.Recorder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaskListenerTest {

    private final List<String> heard = new ArrayList<>();

    /** Writes down what it hears, and then throws, if it has what. */
    private final class Recorder implements TaskListener {
        private final String name;
        private final Error thrown;

        Recorder(String name, Error thrown) {
            this.name = name;
            this.thrown = thrown;
        }

        private void hear(String event) {
            heard.add(name + " " + event);
            if (thrown != null) {
                throw thrown;
            }
        }

        @Override
        public void onSubmitted(TaskIdentity task) {
            hear("submitted " + task.name());
        }

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            hear("started after " + waitNanos);
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
            hear("settled " + outcome.status() + " after " + runNanos);
        }
    }

    private record Named(String owner, String name) implements TaskIdentity {}

    private static void tellAll(TaskListener listener) {
        Named task = new Named("a", "t1");
        listener.onSubmitted(task);
        listener.onStarted(task, 2);
        listener.onSettled(task, new Outcome.Success<>("value"), 3);
    }

    @Test
    void two_listeners_hear_of_everything_one_after_the_other() {
        tellAll(new Recorder("one", null).and(new Recorder("two", null)).and(new Recorder("three", null)));

        assertThat(heard)
                .containsExactly(
                        "one submitted t1",
                        "two submitted t1",
                        "three submitted t1",
                        "one started after 2",
                        "two started after 2",
                        "three started after 2",
                        "one settled SUCCESS after 3",
                        "two settled SUCCESS after 3",
                        "three settled SUCCESS after 3");
    }

    @Test
    void one_that_throws_does_not_keep_the_other_from_hearing_and_what_both_throw_goes_on_together() {
        Error first = new AssertionError("first");
        Error second = new AssertionError("second");
        TaskListener both = new Recorder("one", first).and(new Recorder("two", second));

        assertThatThrownBy(() -> both.onSubmitted(new Named("a", "t1"))).isSameAs(first);
        assertThat(first.getSuppressed()).containsExactly(second);
        assertThat(heard).containsExactly("one submitted t1", "two submitted t1");
    }

    @Test
    void two_that_throw_the_very_same_do_no_harm() {
        Error same = new AssertionError("same");
        TaskListener both = new Recorder("one", same).and(new Recorder("two", same));

        assertThatThrownBy(() -> both.onSubmitted(new Named("a", "t1"))).isSameAs(same);
        assertThat(same.getSuppressed()).isEmpty();
    }

    @Test
    void a_listener_that_wants_nothing_need_say_nothing() {
        TaskListener silent = new TaskListener() {};

        assertThatCode(() -> tellAll(silent)).doesNotThrowAnyException();
        assertThatNullPointerException().isThrownBy(() -> silent.and(null)).withMessage("next");
    }
}
