package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupStats;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many idle groups burden neither the thread that fires alarms nor one that reads statistics. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyIdleGroupsTest {

    private static final int GROUPS = 2_000;
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** Virtual time that leaves decisions to other threads, and records the threads that read the clock. */
    private static final class CountingTime implements TimeSource {
        final VirtualTime time = new VirtualTime();
        final Queue<Thread> readers = new ConcurrentLinkedQueue<>();

        @Override
        public long nanoTime() {
            readers.add(Thread.currentThread());
            return time.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            return time.after(delay, action);
        }
    }

    private final CountingTime time = new CountingTime();

    private GroupExecutor withIdleGroups() throws InterruptedException {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().timeSource(time).idleGroupTtl(MINUTE).build());
        for (int i = 0; i < GROUPS; i++) {
            executor.submit("key-" + i, () -> 1).await();
        }
        return executor;
    }

    @Test
    void the_thread_that_fires_alarms_removes_no_group() throws Exception {
        try (GroupExecutor executor = withIdleGroups()) {
            time.readers.clear();

            time.time.advance(MINUTE);

            assertThat(time.readers).doesNotContain(Thread.currentThread());
            assertThat(executor.stats().activeGroupCount()).isZero();
        }
    }

    @Test
    void statistics_omit_the_groups_that_have_not_been_removed_yet() throws Exception {
        AtomicInteger later = new AtomicInteger();
        TimeSource neverFires = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                later.getAndIncrement();
                return () -> true;
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .timeSource(neverFires)
                .idleGroupTtl(MINUTE)
                .build())) {
            executor.submit("key", () -> 1).await();
            assertThat(executor.groupStats("key")).map(GroupStats::groupKey).contains("key");

            time.time.advance(MINUTE);

            assertThat(executor.groupStats("key")).isEmpty();
            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThat(later).as("alarms").hasValue(1);
        }
    }
}
