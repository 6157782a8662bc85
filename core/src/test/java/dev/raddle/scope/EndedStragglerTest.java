package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tasks that end while the report that they still run reads their stacks. */
@Timeout(60)
class EndedStragglerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** A thread whose task has ended when its stack is read. */
    private static final class EndingThread extends Thread {
        private final Runnable endTask;

        EndingThread(Runnable body, Runnable endTask) {
            super(body);
            this.endTask = endTask;
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            endTask.run();
            return super.getStackTrace();
        }
    }

    private final VirtualTime time = new VirtualTime();
    private final BlockingTask stubborn = BlockingTask.uninterruptible();
    private final List<String> reports = new CopyOnWriteArrayList<>();
    private final ExceptionSink sink = ExceptionSink.to((source, error) -> reports.add(source));

    @Test
    void a_task_of_a_thread_scope_that_has_ended_is_not_reported() throws Exception {
        FutureTask<Void> block = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open("s").withTimeSource(time)) {
                Runnable endTask = () -> {
                    stubborn.release();
                    Wait.until(() -> scope.tasks.pending.unfinished().isEmpty());
                };
                scope.withScheduler(task -> new EndingThread(task, endTask).start());
                scope.withPatience(PATIENCE).withExceptionSink(sink);
                scope.submit("stubborn", stubborn::call);
                stubborn.awaitBegun();
            }
            return null;
        });
        Thread closer = Thread.ofPlatform().start(block);
        time.awaitAlarms(1);

        time.advance(PATIENCE);

        closer.join();
        assertThat(block.resultNow()).isNull();
        assertThat(reports).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"JDK_PLATFORM", "PLAIN_PLATFORM"})
    void a_subtask_that_has_ended_is_not_reported(Kind kind) throws Exception {
        StructuredTaskScope<?>[] opened = new StructuredTaskScope<?>[1];
        var options = kind.options(body -> new EndingThread(body, () -> {
                    stubborn.release();
                    Wait.until(() -> opened[0].pending.count() == 0);
                }))
                .withTimeSource(time)
                .withPatience(PATIENCE)
                .withExceptionSink(sink);
        Thread owner = Thread.currentThread();
        try (var scope = new StructuredTaskScope<>(options)) {
            opened[0] = scope;
            scope.fork(stubborn);
            stubborn.awaitBegun();
            scope.shutdown();
            scope.join();
            Tasks.inAnotherThread(() -> {
                Tasks.awaitParkedAt(owner, "close");
                time.advance(PATIENCE);
            });
        }
        assertThat(reports).isEmpty();
    }
}
