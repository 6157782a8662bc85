package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OverdueReportsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final List<String> events = new ArrayList<>();
    private final ExceptionSink sink = ExceptionSink.to((source, failure) -> events.add("reported"));
    private boolean fails;

    private Duration untilNext() {
        failIfPlanned();
        return SECOND;
    }

    private void failIfPlanned() {
        if (fails) {
            fails = false;
            throw new IllegalStateException("planned");
        }
    }

    private OverdueReports<String> reports() {
        return new OverdueReports<>(
                time,
                this::untilNext,
                new OffloadExecutor(sink, time),
                () -> List.of("task"),
                task -> Thread.currentThread(),
                (task, thread, stack) -> {
                    events.add("round");
                    failIfPlanned();
                });
    }

    @Test
    void rounds_go_on_after_one_that_has_thrown() {
        reports().arm();
        fails = true;
        try {
            time.advance(SECOND);
        } catch (IllegalStateException planned) {
            events.add(planned.getMessage());
        }
        time.advance(SECOND);

        assertThat(events).filteredOn("round"::equals).hasSize(2);
    }

    @Test
    void reports_whose_time_cannot_be_found_are_reported_and_armed_later() {
        OverdueReports<String> reports = reports();
        fails = true;
        reports.arm();
        assertThat(events).containsExactly("reported");

        reports.arm();
        time.advance(SECOND);

        assertThat(events).containsExactly("reported", "round");
    }
}
