package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StackEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No permit and no handle is lost if a call of an executor exhausts the stack. */
@Timeout(120)
class ExhaustedStackTest {

    private static final Duration LONG = Duration.ofMinutes(2);
    private static final int STACK = 256 * 1024;
    private static final int TRIALS = 12;
    private static final int CALLS = 60; // from as many frames, the deepest first
    private static final List<Consumer<GroupExecutor>> SHUTDOWNS =
            List.of(GroupExecutor::shutdown, executor -> executor.shutdown(Duration.ZERO));

    /** The calls of the executor near the end of the stack. */
    enum Use {
        SUBMIT {
            @Override
            void call(GroupExecutor executor, TaskHandle<?>[] handles, int call) {
                handles[call] = executor.submit("g", "t", () -> "v");
            }
        },
        SUBMIT_TUNED {
            @Override
            void call(GroupExecutor executor, TaskHandle<?>[] handles, int call) {
                handles[call] = executor.submit(
                        "g",
                        TaskSpec.named("t", () -> "v")
                                .priority(call % 3)
                                .cost(1 + call % 2)
                                .timeout(LONG));
            }
        },
        CALL {
            @Override
            void call(GroupExecutor executor, TaskHandle<?>[] handles, int call) throws Exception {
                executor.call("g", () -> "v");
            }
        },
        CANCEL {
            @Override
            void call(GroupExecutor executor, TaskHandle<?>[] handles, int call) {
                handles[call] = executor.submit("g", "t", () -> "v");
                handles[call].cancel(true);
            }
        },
        NEW_GROUP {
            @Override
            void call(GroupExecutor executor, TaskHandle<?>[] handles, int call) {
                handles[call] = executor.submit("new", "t", () -> "v");
                executor.evictGroup("new");
            }
        };

        abstract void call(GroupExecutor executor, TaskHandle<?>[] handles, int call) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void a_call_near_the_end_of_the_stack_takes_effect_completely_or_not_at_all(Use use) throws Exception {
        int overflows = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                    .defaultMaxConcurrencyPerGroup(4)
                    .rejectionPolicy(RejectionPolicy.DISCARD) // an eviction may find tasks that wait
                    .globalMaxInFlight(trial % 2 == 0 ? 6 : Integer.MAX_VALUE)
                    .build());
            for (int task = 0; task < 200; task++) { // so that some of the code is compiled and some is not
                executor.submit("g", "warm", () -> "v").await();
            }
            TaskHandle<?>[] handles = new TaskHandle<?>[CALLS];
            use.call(executor, handles, 0); // loads classes and links calls, while there is room
            FutureTask<Integer> dive =
                    new FutureTask<>(() -> StackEnd.call(CALLS, call -> use.call(executor, handles, call)));
            new Thread(null, dive, "diver", STACK + 1024L * trial).start();

            overflows += dive.get();

            for (TaskHandle<?> handle : handles) {
                if (handle != null) {
                    handle.await();
                }
            }
            assertNothingIsHeld(executor, "g");
        }
        assertThat(overflows).isPositive();
    }

    @Test
    void a_shutdown_for_which_the_stack_does_not_suffice_has_no_effect() throws Exception {
        for (Consumer<GroupExecutor> shutdown : SHUTDOWNS) {
            int refused = 0;
            AtomicInteger halfDone = new AtomicInteger();
            for (int trial = 0; trial < TRIALS; trial++) {
                GroupExecutor linked = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().build());
                linked.submit("g", "t", () -> "v").await();
                shutdown.accept(linked); // links the calls, while there is room
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().build());
                executor.submit("g", "t", () -> "v").await();
                FutureTask<Integer> dive = new FutureTask<>(() -> StackEnd.call(CALLS, call -> {
                    boolean before = executor.isShutdown(); // by a call in a deeper frame, with smaller frames above it
                    try {
                        shutdown.accept(executor);
                    } catch (StackOverflowError end) {
                        if (!before && executor.isShutdown()) {
                            halfDone.incrementAndGet();
                        }
                        throw end;
                    }
                }));
                new Thread(null, dive, "diver", STACK + 1024L * trial).start();
                refused += dive.get();
                executor.shutdown();
            }
            assertThat(refused).isPositive();
            assertThat(halfDone).hasValue(0);
        }
    }

    private static void assertNothingIsHeld(GroupExecutor executor, String key) throws InterruptedException {
        assertThat(executor.awaitIdle(key, LONG)).isTrue();
        List<TaskHandle<String>> further = new ArrayList<>();
        for (int task = 0; task < 8; task++) {
            further.add(executor.submit(key, "further", () -> "v"));
        }
        for (TaskHandle<String> handle : further) {
            assertThat(handle.await().value()).isEqualTo("v");
        }
        assertThat(executor.shutdown(LONG)).isTrue();
        assertThat(executor.stats().totalActiveCount()).isZero();
        assertThat(executor.stats().totalQueuedCount()).isZero();
        assertThat(executor.stats().globalInFlightUsed()).isZero();
    }
}
