package dev.raddle.slf4j;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

class MdcPropagatorTest {

    private final StepScheduler steps = new StepScheduler();
    private final GroupPolicy policy =
            GroupPolicy.builder().addPropagator(new MdcPropagator()).build();
    private final GroupPolicy stepped = GroupPolicy.builder()
            .addPropagator(new MdcPropagator())
            .scheduler(key -> steps)
            .closeTimeout(Duration.ZERO)
            .build();

    @BeforeEach
    @AfterEach
    void clear() {
        MDC.clear();
    }

    @Test
    void a_task_logs_with_the_entries_of_its_submitter() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger("task");
        ListAppender<ILoggingEvent> written = new ListAppender<>() {
            @Override
            protected void append(ILoggingEvent event) {
                event.prepareForDeferredProcessing(); // records the MDC of the logging thread
                super.append(event);
            }
        };
        written.start();
        logger.addAppender(written);

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            MDC.put("request", "r-17");
            TaskHandle<String> handle = executor.submit("a", "t1", () -> {
                logger.info("importing");
                return "done";
            });
            MDC.put("request", "r-18");
            handle.await();
        } finally {
            logger.detachAppender(written);
        }

        assertThat(written.list)
                .singleElement()
                .satisfies(
                        event -> assertThat(event.getMDCPropertyMap()).containsExactly(Map.entry("request", "r-17")));
    }

    @Test
    void a_task_sees_the_entries_at_its_submission_and_none_of_the_thread_that_runs_it() {
        AtomicReference<Map<String, String>> seen = new AtomicReference<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped)) {
            MDC.put("request", "r-17");
            executor.submit("a", "t1", () -> {
                seen.set(MDC.getCopyOfContextMap());
                MDC.put("left", "behind");
                MDC.remove("thread");
                return "done";
            });
            MDC.clear();
            MDC.put("thread", "main");
            steps.runAll();
        }

        assertThat(seen.get()).containsExactly(Map.entry("request", "r-17"));
        assertThat(MDC.getCopyOfContextMap()).containsExactly(Map.entry("thread", "main"));
    }

    @Test
    void a_task_of_a_submitter_without_entries_sees_none() {
        AtomicReference<String> seen = new AtomicReference<>("nothing");
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped)) {
            executor.submit("a", "t1", () -> {
                seen.set(MDC.get("thread"));
                return "done";
            });
            MDC.put("thread", "main");
            steps.runAll();
        }

        assertThat(seen.get()).isNull();
        assertThat(MDC.get("thread")).isEqualTo("main");
    }

    @Test
    void a_thread_without_entries_has_none_afterwards_also_if_the_task_failed() {
        MDC.put("request", "r-17");
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped)) {
            executor.submit("a", "t1", () -> {
                MDC.put("left", "behind");
                throw new IllegalStateException("on purpose");
            });
            MDC.clear();
            steps.runAll();
        }

        assertThat(MDC.getCopyOfContextMap()).isNullOrEmpty();
    }

    @Test
    void every_attempt_of_a_task_begins_with_the_entries_of_the_submitter() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            AtomicInteger attempts = new AtomicInteger();
            MDC.put("request", "r-17");
            TaskHandle<String> handle = executor.submit(
                    "a",
                    TaskSpec.named("t1", () -> {
                                String before = MDC.get("attempt");
                                MDC.put("attempt", "left behind");
                                if (attempts.incrementAndGet() == 1) {
                                    throw new IllegalStateException("on purpose");
                                }
                                return MDC.get("request") + ", " + before;
                            })
                            .retry(RetryPolicy.attempts(2)));

            assertThat(handle.await().value()).isEqualTo("r-17, null");
        }
    }

    @Test
    void captured_entries_are_not_changed_by_a_task() {
        MDC.put("request", "r-17");
        ContextPropagator.Captured captured = new MdcPropagator().capture();
        try (ContextPropagator.Installed first = captured.install()) {
            assertThat(first).isNotNull();
            MDC.put("request", "changed");
        }

        try (ContextPropagator.Installed second = captured.install()) {
            assertThat(second).isNotNull();
            assertThat(MDC.get("request")).isEqualTo("r-17");
        }
    }

    @Test
    void a_durable_run_has_the_chosen_entries_of_its_submitter_in_another_process() throws Exception {
        RunOptions options = RunOptions.defaults().addPropagator(MdcPropagator.saving("requestId", "tenant"));
        MDC.put("requestId", "r-17");
        MDC.put("password", "secret");
        Map<String, String> saved = options.savedContext();
        MDC.clear();
        MDC.put("thread", "main");

        FlowBuilder<Void> f = FlowPlan.define("logs");
        Node<Map<String, String>> seen = f.node("seen", MDC::getCopyOfContextMap);
        FlowResult<Map<String, String>> result =
                f.returning(seen).run(null, options.withSavedContext(saved).inCallersThread());

        assertThat(saved).containsExactly(Map.entry("mdc-requestid", "r-17"));
        assertThat(result.value()).containsExactly(Map.entry("requestId", "r-17"));
        assertThat(MDC.getCopyOfContextMap()).containsExactly(Map.entry("thread", "main"));
    }
}
