package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TenantsExampleTest {

    @Test
    void tenants_with_few_tasks_do_not_wait_for_the_tenant_that_floods() throws Exception {
        Map<String, Integer> tasks = Map.of("flood", 500, "quiet-1", 10, "quiet-2", 10);
        VirtualTime time = new VirtualTime();
        Semaphore called = new Semaphore(0);
        Semaphore answered = new Semaphore(0);
        FutureTask<Map<String, Duration>> run = new FutureTask<>(() -> TenantsExample.longestWaits(
                tasks,
                () -> {
                    called.release();
                    answered.acquire();
                    return null;
                },
                time));
        Thread.ofVirtual().start(run);
        for (int round = 0; round < 520 / 4; round++) {
            called.acquire(4);
            time.advance(Duration.ofMillis(5));
            answered.release(4);
        }

        Map<String, Duration> waits = run.get();

        assertThat(waits).containsOnlyKeys("flood", "quiet-1", "quiet-2");
        // In the order of arrival the longest waits of all three would be equal within a twentieth.
        Duration threeTimesShorter = waits.get("flood").dividedBy(3);
        assertThat(waits.get("quiet-1")).isLessThan(threeTimesShorter);
        assertThat(waits.get("quiet-2")).isLessThan(threeTimesShorter);
    }
}
