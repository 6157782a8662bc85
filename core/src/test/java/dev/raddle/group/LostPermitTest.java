package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits that are revoked between their grant and the call of the callable. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostPermitTest {

    private final FakePermits source = new FakePermits();
    private final LinkedBlockingQueue<Runnable> granted = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<OptionalLong> fences = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Runnable> onFirstStart = new AtomicReference<>();

    private GroupExecutor executor(LostPermitPolicy lost) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4)
                .closeTimeout(Duration.ZERO)
                .scheduler(key -> granted::add)
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onStarted(String groupKey, String taskId) {
                        Runnable action = onFirstStart.getAndSet(null);
                        if (action != null) {
                            action.run();
                        }
                    }
                })
                .permits(source)
                .lostPermits(lost)
                .build());
    }

    private int revoke(int permits) {
        return source.holder().revoke("a", permits, "the lease has ended");
    }

    private Boolean noteFence() {
        return fences.add(TaskContext.current().fence());
    }

    private void awaitWanted(int permits) throws InterruptedException {
        while (source.wanted("a") < permits) {
            source.reports.acquire();
        }
    }

    @Test
    void a_task_that_has_lost_permits_before_its_start_and_continues_has_the_number_of_its_grant() throws Exception {
        try (GroupExecutor executor = executor(LostPermitPolicy.CONTINUE)) {
            TaskHandle<Boolean> early =
                    TaskContext.callWithFence(77, () -> executor.submit("a", "early", this::noteFence));
            awaitWanted(1);
            source.grant("a", 1);
            Runnable first = granted.take(); // several threads place tasks: their order is certain one by one only
            TaskHandle<Boolean> wide =
                    executor.submit("a", TaskSpec.named("wide", this::noteFence).cost(2));
            awaitWanted(2);
            source.grant("a", 2);
            Runnable second = granted.take();
            assertThat(revoke(1)).isEqualTo(1);
            assertThat(revoke(9)).isEqualTo(2);
            second.run();
            first.run();

            assertThat(early.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(wide.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(fences).containsExactly(OptionalLong.of(3), OptionalLong.of(1));
            executor.submit("a", this::noteFence);
            awaitWanted(1);
            assertThat(executor.groupStats("a").orElseThrow().permits()).isEqualTo(new GroupStats.Permits(0, 0, 1));
        }
    }

    @ParameterizedTest
    @EnumSource(LostPermitPolicy.class)
    void a_task_that_loses_its_permit_while_its_start_is_reported_has_the_number_of_its_grant_or_is_not_called(
            LostPermitPolicy lost) throws Exception {
        onFirstStart.set(() -> revoke(1));
        try (GroupExecutor executor = executor(lost)) {
            TaskHandle<Boolean> task = executor.submit("a", this::noteFence);
            awaitWanted(1);
            source.grant("a", 1);
            granted.take().run();

            if (lost == LostPermitPolicy.CONTINUE) {
                assertThat(task.await().status()).isEqualTo(TaskStatus.SUCCESS);
                assertThat(fences).containsExactly(OptionalLong.of(1));
            } else {
                assertIsLost(task.await().error());
                assertThat(fences).isEmpty();
            }
        }
    }

    @Test
    void a_submitted_task_that_begins_between_the_loss_of_its_permit_and_its_cancellation_is_not_called()
            throws Exception {
        try (GroupExecutor executor = executor(LostPermitPolicy.INTERRUPT)) {
            beginWithoutPermit(executor, () -> {
                TaskHandle<Boolean> task = executor.submit("a", this::noteFence);
                granted.take().run();
                if (task.await().error() instanceof Exception failure) {
                    throw failure;
                }
                return true;
            });
        }
    }

    @Test
    void a_call_that_begins_between_the_loss_of_its_permit_and_its_cancellation_is_not_called() throws Exception {
        try (GroupExecutor executor = executor(LostPermitPolicy.INTERRUPT)) {
            beginWithoutPermit(executor, () -> executor.call("a", this::noteFence));
        }
    }

    /**
     * Revokes the permits of a task whose start is being reported and of a later one. The later one is cancelled first,
     * and its thread lets the other begin when it is interrupted.
     */
    private void beginWithoutPermit(GroupExecutor executor, Callable<Boolean> body) throws Exception {
        CountDownLatch starting = new CountDownLatch(1);
        CountDownLatch mayBegin = new CountDownLatch(1);
        onFirstStart.set(() -> {
            starting.countDown();
            awaitOrFail(mayBegin);
        });
        FutureTask<Boolean> first = new FutureTask<>(() -> TaskContext.callWithFence(77, body));
        Thread.ofVirtual().start(first);
        awaitWanted(1);
        source.grant("a", 1);
        starting.await();
        CountDownLatch entered = new CountDownLatch(1);
        TaskHandle<Boolean> later = executor.submit("a", () -> {
            entered.countDown();
            new CountDownLatch(1).await();
            return true;
        });
        awaitWanted(1);
        source.grant("a", 1);
        Thread runner = new Thread(granted.take()) {
            @Override
            public void interrupt() {
                mayBegin.countDown();
                assertThatThrownBy(first::get).cause().satisfies(LostPermitTest::assertIsLost);
                super.interrupt();
            }
        };
        runner.start();
        entered.await();
        assertThat(revoke(2)).isEqualTo(2);
        runner.join();

        assertIsLost(later.await().error());
        assertThatThrownBy(first::get).cause().satisfies(LostPermitTest::assertIsLost);
        assertThat(fences).isEmpty();
    }

    private static void assertIsLost(@Nullable Throwable error) {
        assertThat(error)
                .isInstanceOf(CancelledException.class)
                .hasMessage("lost a permit of group \"a\": the lease has ended");
    }

    private static void awaitOrFail(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }
}
