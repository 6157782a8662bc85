package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.CalleeSimulation.Client;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Adaptive limits of a real executor: with a simulated callee, and with many threads. */
class AdaptiveExecutorTest {

    /**
     * A callee of some servers as a scheduler: a task begins when it is granted, waits for a server and ends some time
     * later. All of it happens in the test's thread, so the clock is set back to the beginning when a task is run.
     */
    private static final class Callee implements Scheduler, TimeSource {

        private record Call(Runnable run, long began) {}

        private static final double SERVICE_NANOS = 20e6;

        private final VirtualTime alarms = new VirtualTime(); // none of which ever fires here
        private final SplittableRandom random = new SplittableRandom(1);
        private final List<Call> served = new ArrayList<>();
        private final ArrayDeque<Call> queue = new ArrayDeque<>();
        private int servers;
        private long now;
        private long end; // of the task that is being run

        @Override
        public void execute(Runnable run) {
            (served.size() < servers ? served : queue).add(new Call(run, now));
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            return alarms.after(delay, action);
        }

        String call() {
            now = end;
            return "answer";
        }

        /** Lets the next call end: any of those that are served, because exponential times have no memory. */
        void endOne() {
            end = now + (long) (-StrictMath.log(1 - random.nextDouble()) * SERVICE_NANOS / served.size());
            Call call = served.remove(random.nextInt(served.size()));
            while (served.size() < servers && !queue.isEmpty()) {
                served.add(queue.remove());
            }
            now = call.began;
            call.run.run();
        }
    }

    @Test
    void the_limit_of_an_executor_finds_the_capacity_as_that_of_the_simulation_does() {
        Callee callee = new Callee();
        callee.servers = 20;
        GroupPolicy policy = GroupPolicy.builder()
                .adaptiveLimit(key -> AdaptiveLimit.gradient())
                .scheduler(key -> callee)
                .timeSource(callee)
                .closeTimeout(Duration.ZERO)
                .build();
        Client client = Client.saturated(AdaptiveLimit.gradient());
        CalleeSimulation simulation =
                new CalleeSimulation(1, time -> 0.02, time -> time < 30 ? 20 : 10, Integer.MAX_VALUE, client);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 200; i++) {
                executor.submit("a", callee::call);
            }
            for (int seconds : new int[] {30, 60}) {
                double limits = 0;
                int count = 0;
                while (callee.now < seconds * 1_000_000_000L) {
                    callee.endOne();
                    executor.submit("a", callee::call);
                    if (callee.now > (seconds - 15) * 1_000_000_000L) {
                        limits += executor.groupStats("a").orElseThrow().maxConcurrency();
                        count++;
                    }
                }
                simulation.runUntil(seconds - 15);
                client.reset();
                simulation.runUntil(seconds);
                assertThat(limits / count).isBetween(client.limitSum / 15 * 0.85, client.limitSum / 15 * 1.15);
                assertThat(limits / count).isBetween(callee.servers * 0.9, callee.servers * 1.25);
                callee.servers = 10;
            }
            executor.shutdown();
            while (!callee.served.isEmpty()) {
                callee.endOne();
            }
        }
    }

    @Test
    void with_many_threads_no_limit_is_exceeded_and_one_decision_is_made_at_a_time() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        AtomicInteger decisions = new AtomicInteger();
        AtomicBoolean deciding = new AtomicBoolean();
        List<String> failures = Collections.synchronizedList(new ArrayList<>());
        AdaptiveLimit.Algorithm algorithm = sample -> {
            if (!deciding.compareAndSet(false, true)) {
                failures.add("two decisions at once");
            }
            decisions.incrementAndGet();
            Thread.onSpinWait();
            deciding.set(false);
            return 1 + decisions.get() % 8;
        };
        GroupPolicy policy = GroupPolicy.builder()
                .adaptiveLimit(key -> AdaptiveLimit.custom(algorithm).max(6).initial(3))
                .reuseThreads(true)
                .exceptionSink(ExceptionSink.to((source, error) -> failures.add(source + " " + error)))
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Callable<Void> submitter = () -> {
                List<TaskHandle<Integer>> handles = new ArrayList<>();
                for (int i = 0; i < 5_000; i++) {
                    handles.add(executor.submit("a", () -> {
                        int now = running.incrementAndGet();
                        peak.accumulateAndGet(now, Math::max);
                        return running.decrementAndGet();
                    }));
                    if (i % 500 == 0) {
                        executor.setWeight("a", 1 + i % 3);
                    }
                }
                for (TaskHandle<Integer> handle : handles) {
                    handle.await();
                }
                return null;
            };
            Together.together(List.of(submitter, submitter, submitter, submitter));
            assertThat(executor.groupStats("a").orElseThrow().activeCount()).isZero();
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isBetween(1, 6);
        }
        assertThat(failures).isEmpty();
        assertThat(peak).hasValueLessThanOrEqualTo(6);
    }

    @Test
    void an_algorithm_and_drop_when_run_without_a_lock_and_may_use_the_group() {
        AtomicInteger calls = new AtomicInteger();
        List<GroupExecutor> self = new ArrayList<>();
        AdaptiveLimit limit = AdaptiveLimit.custom(sample -> {
                    GroupExecutor executor = self.getFirst();
                    executor.submit("a", calls::incrementAndGet).join();
                    executor.pauseGroup("a");
                    executor.resumeGroup("a");
                    executor.stats();
                    return sample.limit() + 1;
                })
                .initial(2)
                .dropWhen(error -> self.getFirst().groupStats("a").isPresent());
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().adaptiveLimit(key -> limit).build())) {
            self.add(executor);
            List<TaskHandle<Object>> handles = new ArrayList<>();
            executor.pauseGroup("a");
            for (int i = 0; i < 200; i++) {
                handles.add(executor.submit("a", () -> {
                    throw new IllegalStateException("busy");
                }));
            }
            executor.resumeGroup("a");
            handles.forEach(TaskHandle::join);
            assertThat(calls).hasPositiveValue();
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isGreaterThan(2);
        }
    }
}
