package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BreakerExampleTest {

    @Test
    void the_breaker_of_the_service_that_fails_opens_and_its_probes_close_it_while_the_other_service_goes_on()
            throws Exception {
        VirtualTime time = new VirtualTime();
        List<String> lines = new ArrayList<>();

        BreakerExample.serve(time, time::advance, lines::add);

        assertThat(lines)
                .filteredOn(line -> !line.startsWith("  "))
                .hasSize(25)
                .allMatch(line -> line.contains("3 left"));
        assertThat(lines.subList(4, 16))
                .containsExactly(
                        " 5  3 left, 9.99 each",
                        " 6  3 left, failed: no answer",
                        " 7  3 left, failed: no answer",
                        " 8  3 left, failed: no answer",
                        " 9  3 left, failed: no answer",
                        "    the breaker of prices was closed, is open",
                        "10  3 left, failed: no answer",
                        "11  3 left, rejected, breaker: open, 50 % of 10 tasks failed, next start in 300 ms",
                        "12  3 left, rejected, breaker: open, 50 % of 10 tasks failed, next start in 200 ms",
                        "13  3 left, rejected, breaker: open, 50 % of 10 tasks failed, next start in 100 ms",
                        "    the breaker of prices was open, is half-open",
                        "    the breaker of prices was half-open, is open");
        assertThat(lines.subList(16, 18))
                .containsExactly(
                        "14  3 left, failed: no answer",
                        "15  3 left, rejected, breaker: open, 50 % of 10 tasks failed, next start in 700 ms");
        assertThat(lines.subList(24, 30))
                .containsExactly(
                        "    the breaker of prices was open, is half-open",
                        "22  3 left, 9.99 each",
                        "    the breaker of prices was half-open, is closed",
                        "23  3 left, 9.99 each",
                        "24  3 left, 9.99 each",
                        "25  3 left, 9.99 each");
    }
}
