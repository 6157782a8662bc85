package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nothing refers to a group that was removed, in whichever way its life has ended. */
class RetiredGroupTest {

    private static final int COLLECTIONS = 100;
    private static final Duration LONG = Duration.ofHours(1);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    /** What happens to the group "a", which is empty or has tasks that the caller runs afterwards. */
    private enum Life {
        ENDED_TASK(executor -> executor.submit("a", () -> "value")),
        WAITING_TASKS(executor -> {
            executor.submit("a", () -> "value");
            executor.submit("a", () -> "value");
            executor.evictGroup("a");
        }),
        SHUT_DOWN(executor -> {
            executor.submit("a", () -> "value");
            executor.shutdownGroup("a");
        }),
        CLOSED_WHILE_IT_RUNS(executor -> {
            executor.submit("a", () -> "value");
            executor.shutdownGroup("a", Duration.ZERO);
        }),
        CHANGED_AND_EVICTED(executor -> {
            executor.setMaxConcurrency("a", 2);
            executor.setRate("a", Rate.perSecond(1));
            executor.evictGroup("a");
        }),
        THROTTLED(executor -> {
            executor.setRate("a", Rate.perSecond(1));
            executor.submit("a", () -> "value");
            executor.submit("a", () -> "value");
            executor.evictGroup("a");
        }),
        ON_HOLD(executor -> {
            executor.submit("a", () -> "value");
            executor.holdGroup("a", Duration.ofSeconds(1));
            executor.holdGroup("a", Duration.ofSeconds(2));
        }),
        PAUSED(executor -> {
            executor.pauseGroup("a");
            executor.submit("a", () -> "value");
            executor.shutdownGroup("a");
        }),
        PAUSED_AND_SHUT_DOWN(executor -> {
            executor.pauseGroup("a");
            executor.holdGroup("a", LONG);
            executor.shutdown();
        }),
        AWAITED(executor -> {
            executor.submit("a", () -> "value");
            try {
                executor.awaitIdle("a", Duration.ZERO);
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
        });

        private final Consumer<GroupExecutor> use;

        Life(Consumer<GroupExecutor> use) {
            this.use = use;
        }
    }

    private WeakReference<Group> groupAfter(Life life, GroupExecutor executor) {
        executor.engine.groupOf("a");
        WeakReference<Group> group = new WeakReference<>(executor.engine.groups.get("a"));
        life.use.accept(executor);
        steps.runAll();
        time.advance(LONG.multipliedBy(2));
        steps.runAll();
        return group;
    }

    @ParameterizedTest
    @EnumSource
    void nothing_refers_to_a_removed_group(Life life) {
        GroupPolicy policy = TestTasks.stepped(steps)
                .timeSource(time)
                .idleGroupTtl(Duration.ofSeconds(1))
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .globalMaxInFlight(2)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            WeakReference<Group> group = groupAfter(life, executor);

            assertThat(executor.engine.groups).isEmpty();
            for (int i = 0; i < COLLECTIONS && !group.refersTo(null); i++) {
                System.gc();
            }
            assertThat(group.refersTo(null)).isTrue();
        }
    }
}
