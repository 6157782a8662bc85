package dev.raddle.slf4j;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.read.ListAppender;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LoggingSinkTest {

    private final ListAppender<ILoggingEvent> written = new ListAppender<>();
    private final Logger logger = new LoggerContext().getLogger("sink");

    @BeforeEach
    void listen() {
        written.start();
        logger.addAppender(written);
    }

    @Test
    void an_exception_of_a_listener_is_logged_as_a_warning_with_its_stack_trace() throws Exception {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        GroupPolicy policy = GroupPolicy.builder()
                .exceptionSink(LoggingSink.to(logger))
                .addListener(new TaskListener() {
                    @Override
                    public void onStarted(TaskIdentity task, long waitNanos) {
                        throw thrown;
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "t1", () -> "value").await();
        }

        assertThat(written.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getFormattedMessage())
                    .isEqualTo("suppressed exception from onStarted of the listener, for task \"t1\" in group \"a\"");
            assertThat(((ThrowableProxy) event.getThrowableProxy()).getThrowable())
                    .isSameAs(thrown);
        });
    }

    @Test
    void ten_lines_a_minute_are_written_and_the_next_one_has_the_number_of_suppressed_ones() {
        VirtualTime time = new VirtualTime();
        ExceptionSink sink = LoggingSink.to(logger, time);
        for (int i = 0; i < 35; i++) {
            sink.report("listener " + i, new IllegalStateException("on purpose"));
        }
        assertThat(written.list).hasSize(10);

        time.advance(Duration.ofMinutes(1));
        sink.report("listener 35", new IllegalStateException("on purpose"));

        assertThat(written.list).hasSize(11);
        assertThat(written.list.getLast().getFormattedMessage())
                .isEqualTo("suppressed exception from listener 35 (and 25 more that were not written)");
        assertThat(sink.count()).isEqualTo(36);
    }

    @Test
    void the_default_logger_is_dev_raddle() {
        Logger house = (Logger) LoggerFactory.getLogger("dev.raddle");
        house.addAppender(written);
        try {
            LoggingSink.create().report("listener", new IllegalStateException("on purpose"));
        } finally {
            house.detachAppender(written);
        }

        assertThat(written.list)
                .singleElement()
                .satisfies(event -> assertThat(event.getLoggerName()).isEqualTo("dev.raddle"));
    }
}
