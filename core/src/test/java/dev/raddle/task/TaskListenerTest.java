package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.Recorder;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaskListenerTest {

    private final List<String> recorded = new ArrayList<>();

    /** Records each notification, and then throws an error if it has one. */
    private final class Recorder implements TaskListener {
        private final String name;
        private final Error thrown;

        Recorder(String name, Error thrown) {
            this.name = name;
            this.thrown = thrown;
        }

        private void record(String event) {
            recorded.add(name + " " + event);
            if (thrown != null) {
                throw thrown;
            }
        }

        @Override
        public void onSubmitted(TaskIdentity task) {
            record("submitted " + task.name());
        }

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            record("started after " + waitNanos);
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
            record("settled " + outcome.status() + " after " + runNanos);
        }
    }

    private record Named(String owner, String name) implements TaskIdentity {}

    private static void notifyAllEvents(TaskListener listener) {
        Named task = new Named("a", "t1");
        listener.onSubmitted(task);
        listener.onStarted(task, 2);
        listener.onSettled(task, new Outcome.Success<>("value"), 3);
    }

    @Test
    void each_notification_reaches_all_listeners_in_order() {
        notifyAllEvents(new Recorder("one", null).and(new Recorder("two", null)).and(new Recorder("three", null)));

        assertThat(recorded)
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
    void two_listeners_forward_every_notification() throws Exception {
        for (Method notification : TaskListener.class.getMethods()) {
            if (notification.getReturnType() == void.class) {
                recorded.clear();
                notification.invoke(new TwoListeners(recorder("one"), recorder("two")), anyArguments(notification));

                assertThat(recorded).containsExactly("one " + notification.getName(), "two " + notification.getName());
            }
        }
    }

    private TaskListener recorder(String name) {
        return (TaskListener) Proxy.newProxyInstance(
                TaskListener.class.getClassLoader(), new Class<?>[] {TaskListener.class}, (_, called, _) -> {
                    recorded.add(name + " " + called.getName());
                    return null;
                });
    }

    private static Object[] anyArguments(Method method) {
        return Arrays.stream(method.getParameterTypes())
                .map(type -> type == long.class ? 0L : null)
                .toArray();
    }

    @Test
    void a_listener_that_throws_does_not_prevent_the_other_notification_and_both_errors_are_thrown() {
        Error first = new AssertionError("first");
        Error second = new AssertionError("second");
        TaskListener both = new Recorder("one", first).and(new Recorder("two", second));

        assertThatThrownBy(() -> both.onSubmitted(new Named("a", "t1"))).isSameAs(first);
        assertThat(first.getSuppressed()).containsExactly(second);
        assertThat(recorded).containsExactly("one submitted t1", "two submitted t1");
    }

    @Test
    void two_listeners_may_throw_the_same_error() {
        Error same = new AssertionError("same");
        TaskListener both = new Recorder("one", same).and(new Recorder("two", same));

        assertThatThrownBy(() -> both.onSubmitted(new Named("a", "t1"))).isSameAs(same);
        assertThat(same.getSuppressed()).isEmpty();
    }

    @Test
    void all_methods_of_a_listener_are_optional() {
        TaskListener silent = new TaskListener() {};

        assertThatCode(() -> notifyAllEvents(silent)).doesNotThrowAnyException();
        assertThatNullPointerException().isThrownBy(() -> silent.and(null)).withMessage("next");
    }
}
