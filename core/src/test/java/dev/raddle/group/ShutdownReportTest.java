package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.WrittenLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The report, the listener and the log of a shutdown say whether the executor was drained. */
class ShutdownReportTest {

    private final VirtualTime time = new VirtualTime();
    private final List<GroupShutdownReport> reports = Collections.synchronizedList(new ArrayList<>());

    private final TaskLifecycleListener listener = new TaskLifecycleListener() {
        @Override
        public void onShutdown(GroupShutdownReport report) {
            reports.add(report);
        }
    };

    private GroupExecutor executor(Duration closeTimeout) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .timeSource(time)
                .closeTimeout(closeTimeout)
                .taskLifecycleListener(listener)
                .build());
    }

    @Test
    void an_executor_whose_tasks_have_ended_was_drained() throws Exception {
        GroupExecutor executor = executor(Duration.ofSeconds(30));
        executor.submit("a", () -> "x").await();
        assertThat(executor.shutdownReport()).isEmpty();

        executor.close();
        executor.close();

        assertThat(reports).hasSize(1).allMatch(GroupShutdownReport::isDrained);
        assertThat(executor.shutdownReport()).contains(reports.getFirst());
        assertThat(reports.getFirst()).hasToString("drained after 0 ms");
    }

    @Test
    void a_close_whose_timeout_passes_counts_the_tasks_that_it_ended_and_warns() throws Exception {
        try (WrittenLog log = new WrittenLog()) {
            GroupExecutor executor = executor(Duration.ofSeconds(30));
            BlockingTask blocker = new BlockingTask();
            executor.submit("a", "runs", blocker);
            blocker.awaitBegun();
            executor.submit("a", "waits-1", () -> "x");
            executor.submit("a", "waits-2", () -> "x");
            Thread closing = Thread.ofVirtual().start(executor::close);
            time.awaitAlarms(1);

            time.advance(Duration.ofSeconds(30));
            closing.join();

            assertThat(reports).containsExactly(new GroupShutdownReport(1, 2, Duration.ofSeconds(30)));
            assertThat(executor.shutdownReport()).contains(reports.getFirst());
            assertThat(log.lines())
                    .extracting(WrittenLog.Line::message)
                    .containsExactly("group executor was shut down: 1 running tasks interrupted, "
                            + "2 waiting ones rejected after 30000 ms");
        }
    }

    @Test
    void a_shutdown_at_once_reports_and_does_not_warn() throws Exception {
        try (WrittenLog log = new WrittenLog()) {
            GroupExecutor executor = executor(Duration.ofSeconds(30));
            BlockingTask blocker = new BlockingTask();
            executor.submit("a", "runs", blocker);
            blocker.awaitBegun();

            executor.shutdown();
            executor.shutdown();

            assertThat(reports).containsExactly(new GroupShutdownReport(1, 0, Duration.ZERO));
            assertThat(reports.getFirst().isDrained()).isFalse();
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void a_listener_that_throws_has_no_effect_and_is_reported() {
        List<String> sources = new ArrayList<>();
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .exceptionSink(ExceptionSink.to((source, error) -> sources.add(source)))
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onShutdown(GroupShutdownReport report) {
                        throw new StackOverflowError("on purpose");
                    }
                })
                .build());

        executor.close();

        assertThat(executor.shutdownReport()).isPresent();
        assertThat(sources).containsExactly("onShutdown of the listener");
    }
}
