package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TotalDisplayTest {
    private final TestConsole console = TestConsole.file();
    private final AtomicLong nanos = new AtomicLong();
    private final TotalDisplay display = new TotalDisplay(new Screen(console.console()), nanos::get);

    private void tickAfter(long millis) throws Exception {
        nanos.addAndGet(millis * 1_000_000);
        display.tick();
    }

    @Test
    void the_total_is_a_line_each_second_in_which_a_task_has_ended_and_at_the_end() throws Exception {
        display.on(Events.begin(-1, -1));
        display.on(Events.queued("1", "g"));
        display.on(Events.queued("2", "g"));
        display.on(Events.succeeded("1", "g"));
        tickAfter(900);
        assertThat(console.text()).isEmpty();
        tickAfter(100);
        tickAfter(5_000);
        display.on(Events.failed("2", "g", null));
        display.on(Events.end(1, 1, 1));

        assertThat(console.text().lines())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("total").contains("1/2"),
                        line -> assertThat(line).startsWith("total").contains("2/2", "1 failed"));
        assertThat(console.text()).doesNotContain("\033");
    }
}
