package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reports of subtasks that go on while their scope closes. */
class StragglerTest {

    private static Object stubborn(CountDownLatch begun, CountDownLatch exit) {
        begun.countDown();
        Wait.until(() -> exit.getCount() == 0);
        return null;
    }

    @ParameterizedTest
    @EnumSource
    void a_straggler_is_reported_with_age_and_stack_once_in_each_interval_of_patience(Kind kind) throws Exception {
        VirtualTime time = new VirtualTime();
        List<Throwable> reports = new CopyOnWriteArrayList<>();
        CountDownLatch exit = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        var options = kind.options(run -> {
                    Thread thread = kind.factory.newThread(run);
                    thread.setName("load-user");
                    return thread;
                })
                .withName("checkout")
                .withTimeSource(time)
                .withPatience(Duration.ofSeconds(3))
                .withExceptionSink(ExceptionSink.to((source, error) -> reports.add(error)));
        Thread owner = Thread.currentThread();
        try (var scope = new StructuredTaskScope<>(options)) {
            scope.fork(() -> stubborn(begun, exit));
            begun.await();
            time.advance(Duration.ofSeconds(2));
            scope.shutdown();
            scope.join();
            Tasks.inAnotherThread(() -> {
                Tasks.awaitParkedAt(owner, "close");
                time.advance(Duration.ofSeconds(3));
                Wait.until(() -> !reports.isEmpty());
                time.advance(Duration.ofSeconds(6));
                Tasks.interruptAt(owner, "close");
                Wait.until(() -> !owner.isInterrupted());
                exit.countDown();
            });
        }

        assertThat(Thread.interrupted()).isTrue();
        assertThat(reports)
                .extracting(Throwable::getMessage)
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith(
                                        "subtask load-user of scope \"checkout\" ignores its interrupt and keeps the"
                                                + " scope open; it was forked 5000 ms ago and runs in "),
                        second -> assertThat(second).contains("it was forked 8000 ms ago"),
                        third -> assertThat(third).contains("it was forked 11000 ms ago"));
        assertThat(reports.getFirst().getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("stubborn"));
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_task_that_ends_within_the_patience_is_not_reported() throws Exception {
        VirtualTime time = new VirtualTime();
        ExceptionSink sink = ExceptionSink.to((source, error) -> {});
        var options = StructuredScopeOptions.defaults().withTimeSource(time).withExceptionSink(sink);
        CountDownLatch exit = new CountDownLatch(1);
        Thread owner = Thread.currentThread();
        try (var scope = new StructuredTaskScope<>(options)) {
            scope.fork(() -> stubborn(new CountDownLatch(1), exit));
            scope.shutdown();
            scope.join();
            Tasks.inAnotherThread(() -> {
                Tasks.awaitParkedAt(owner, "close");
                exit.countDown();
            });
        }

        assertThat(sink.count()).isZero();
        assertThat(time.alarms()).isZero();
    }
}
