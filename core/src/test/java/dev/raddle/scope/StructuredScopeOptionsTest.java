package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Options of structured scopes, set in different orders. */
class StructuredScopeOptionsTest {

    private final List<Throwable> reported = new ArrayList<>();
    private final ExceptionSink sink = ExceptionSink.to((source, failure) -> reported.add(failure));

    private static final TimeSource BROKEN = new TimeSource() {
        @Override
        public long nanoTime() {
            throw new IllegalStateException("no time");
        }

        @Override
        public Instant instant() {
            throw new IllegalStateException("no time");
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            throw new IllegalStateException("no time");
        }
    };

    @Test
    void the_sink_receives_the_failures_of_the_time_source_whichever_of_the_two_is_set_first() {
        StructuredScopeOptions.defaults()
                .withTimeSource(BROKEN)
                .withSink(sink)
                .time()
                .nanoTime();
        assertThat(reported).hasSize(1);
        StructuredScopeOptions.defaults()
                .withSink(sink)
                .withTimeSource(BROKEN)
                .time()
                .nanoTime();
        assertThat(reported).hasSize(2);
    }
}
