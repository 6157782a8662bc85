package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Task;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When {@code advance} returns, all reports that were due have been made, in the advancing thread. */
@Timeout(60)
class VirtualTimeOfReportsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final BlockingTask stubborn = BlockingTask.uninterruptible();
    private final List<String> reports = new CopyOnWriteArrayList<>();
    private volatile @Nullable Thread advancing;

    private void advance(Duration length) {
        advancing = Thread.currentThread();
        time.advance(length);
        advancing = null;
    }

    private void note(String event) {
        reports.add(event + " at " + Duration.ofNanos(time.nanoTime()).toSeconds()
                + (Thread.currentThread() == advancing ? "" : " in another thread"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stragglers_have_been_reported_once_an_interval(boolean throwing) throws Exception {
        FutureTask<String> block = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open("s")
                    .withTimeSource(time)
                    .withPatience(SECOND.multipliedBy(2))
                    .withExceptionSink(ExceptionSink.to((source, error) -> {
                        note("report");
                        if (throwing) {
                            throw new IllegalStateException("sink");
                        }
                    }))) {
                scope.submit("stubborn", stubborn::call);
                stubborn.awaitBegun();
            }
            return "closed";
        });
        Thread closer = Thread.ofPlatform().start(block);
        time.awaitAlarms(1, Duration.ofMinutes(2));

        advance(SECOND.multipliedBy(7));

        assertThat(reports).containsExactly("report at 2", "report at 4", "report at 6");
        assertThat(block.isDone()).isFalse();
        stubborn.release();
        closer.join();
        assertThat(block.resultNow()).isEqualTo("closed");
        assertThat(time.alarms()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_slow_task_has_been_reported(boolean throwing) throws Exception {
        SlowTaskHook slow = SlowTaskHook.create(
                SECOND,
                event -> {
                    note(event.task().name() + " " + event.state());
                    if (throwing && event.state() == Task.State.RUNNING) {
                        throw new IllegalStateException("consumer");
                    }
                },
                time);
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).addHook(slow)) {
            scope.submit("slow", stubborn::call);
            stubborn.awaitBegun();

            advance(SECOND.multipliedBy(3));

            assertThat(reports).containsExactly("slow RUNNING at 1");
            stubborn.release();
        }
    }

    @Test
    void a_task_that_advances_the_time_receives_its_own_report_first() throws Exception {
        SlowTaskHook slow =
                SlowTaskHook.create(SECOND, event -> note(event.state().name()), time);
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).addHook(slow)) {
            Task<Integer> task = scope.submit("slow", () -> {
                advance(SECOND);
                return reports.size();
            });

            assertThat(task.await()).isEqualTo(1);
        }
        assertThat(reports).containsExactly("RUNNING at 1", "SUCCESS at 1 in another thread");
    }
}
