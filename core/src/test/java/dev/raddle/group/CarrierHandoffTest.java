package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Scheduler;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CarrierHandoffTest {
    private static final int CARRIERS = Runtime.getRuntime().availableProcessors();
    private static final int LINKS = 500;

    private final AtomicBoolean finished = new AtomicBoolean();
    private final AtomicBoolean submitted = new AtomicBoolean();
    private final CountDownLatch occupied = new CountDownLatch(CARRIERS - 1);
    private final CountDownLatch chainStarted = new CountDownLatch(1);
    private final AtomicInteger links = new AtomicInteger();

    private static void spinUntil(AtomicBoolean condition) {
        while (!condition.get()) {
            Thread.onSpinWait(); // stays on its carrier
        }
    }

    /** Each task allows the next one to start; the 20th waits until the task outside the chain is submitted. */
    private Integer link() {
        int link = links.incrementAndGet();
        if (link == 20) {
            chainStarted.countDown();
            spinUntil(submitted);
        }
        return link;
    }

    @Test
    void a_task_submitted_by_a_platform_thread_starts_although_another_group_keeps_the_only_free_carrier_busy()
            throws Exception {
        for (int i = 1; i < CARRIERS; i++) {
            Scheduler.virtualThreads().execute(() -> {
                occupied.countDown();
                spinUntil(finished);
            });
        }
        occupied.await();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(CARRIERS + 1)
                .globalMaxInFlight(CARRIERS + 2)
                .build())) {
            executor.pauseGroup("chain");
            for (int i = 0; i < LINKS; i++) {
                executor.submit("chain", "link", this::link);
            }
            executor.resumeGroup("chain");
            chainStarted.await();

            TaskHandle<Integer> outside = executor.submit("outside", "task", links::get);
            submitted.set(true);

            assertThat(outside.await().value()).isLessThan(20 + 2 * CARRIERS + 4);
        } finally {
            finished.set(true);
        }
    }

    @Test
    void a_task_that_was_handed_off_to_the_carriers_begins_once_although_no_other_task_ends() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1000)
                .globalMaxInFlight(1000)
                .build())) {
            for (int i = 0; i <= CARRIERS; i++) {
                executor.submit("waits", "task", () -> {
                    end.await();
                    return true;
                });
            }

            assertThat(executor.submit("a", "task", begun::incrementAndGet)
                            .await()
                            .value())
                    .isEqualTo(1);

            end.countDown();
        }
        assertThat(begun).hasValue(1);
    }
}
