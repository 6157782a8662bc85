package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TenantsExampleTest {

    @Test
    void tenants_that_submit_little_do_not_wait_for_the_one_that_floods() {
        Map<String, Duration> waits = TenantsExample.longestWaits(Map.of("flood", 500, "quiet-1", 10, "quiet-2", 10));

        assertThat(waits).containsOnlyKeys("flood", "quiet-1", "quiet-2");
        // In order of arrival all three would wait equally long, within a twentieth.
        Duration threeTimesShorter = waits.get("flood").dividedBy(3);
        assertThat(waits.get("quiet-1")).isLessThan(threeTimesShorter);
        assertThat(waits.get("quiet-2")).isLessThan(threeTimesShorter);
    }
}
