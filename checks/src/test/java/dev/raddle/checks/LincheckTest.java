package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.Entry;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.Gate;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionResult;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.util.ExceptionResult;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jetbrains.lincheck.datastructures.verifier.Verifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Checks the interleavings of a few steps, as many as Lincheck's model checker explores: one gate against a sequential
 * specification, gates at a common cap and a whole executor against invariants of their quiescent state. Each has a
 * broken imitation, which shows that the checker detects a bug.
 *
 * <p>No operations precede the concurrent ones: the default of five fills small limits, and hides bugs in them.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class LincheckTest {

    /** A factor for the number of scenarios. */
    private static final int ROUNDS = Integer.getInteger("raddle.lincheck.rounds", 1);

    static ModelCheckingOptions options(int actors, int iterations, int invocations) {
        return new ModelCheckingOptions()
                .invocationTimeout$lincheck(TimeUnit.MINUTES.toMillis(5)) // 10 s by default, which includes loading
                .threads(2)
                .actorsPerThread(actors)
                .actorsBefore(0)
                .actorsAfter(0)
                .loopBound(2000) // spins before a lock; the smaller default takes them for a hang
                .iterations(iterations * ROUNDS)
                .invocationsPerIteration(invocations)
                .minimizeFailedScenario(false);
    }

    /** Options for steps without results: only the final state is checked. */
    private static ModelCheckingOptions quiescent(int actors, int iterations, int invocations) {
        return options(actors, iterations, invocations).verifier(NothingThrown.class);
    }

    /** Accepts all results except exceptions. */
    public static class NothingThrown implements Verifier {
        public NothingThrown(Class<?> anySpecification) {}

        @Override
        public boolean verifyResults(ExecutionScenario scenario, ExecutionResult results) {
            return results.getThreadsResultsWithClock().stream()
                    .flatMap(List::stream)
                    .noneMatch(result -> result.getResult() instanceof ExceptionResult);
        }
    }

    // One gate.

    @Test
    void a_gate_is_linearizable() {
        options(3, 5, 150).sequentialSpecification(GateSpecification.class).check(OneGate.class);
    }

    @Test
    void a_gate_that_is_used_in_two_steps_is_caught() {
        assertThatThrownBy(() -> options(3, 10, 150)
                        .sequentialSpecification(GateSpecification.class)
                        .check(OneGateInTwoSteps.class))
                .isInstanceOf(LincheckAssertionError.class);
    }

    /** The sequential behaviour of a gate with up to two permits and a queue of two. */
    public static class GateSpecification {
        private final ArrayDeque<Integer> held = new ArrayDeque<>();
        private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
        private int slots = 1;
        private int entered;

        public String submit() {
            int id = ++entered;
            if (waiting.isEmpty() && held.size() < slots) {
                held.add(id);
                return id + " HELD";
            } else if (waiting.size() < 2) {
                waiting.add(id);
                return id + " WAITING";
            }
            return id + " QUEUE_FULL";
        }

        public String complete() {
            return held.poll() == null ? "nothing is held" : granted();
        }

        public String cancelLast() {
            return waiting.pollLast() == null ? "nothing waits" : granted();
        }

        public String limit(int limit) {
            slots = limit;
            return granted();
        }

        private String granted() {
            StringBuilder granted = new StringBuilder("granted");
            while (held.size() < slots && !waiting.isEmpty()) {
                granted.append(' ').append(waiting.peek());
                held.add(waiting.poll());
            }
            return granted.toString();
        }
    }

    /** A gate, used as a group uses it. */
    public static class OneGate {
        final NumberedGate gate = new NumberedGate(new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED), 1, 2);

        @Operation
        public String submit() {
            return gate.submit();
        }

        @Operation
        public String complete() {
            return gate.releaseOldest();
        }

        @Operation
        public String cancelLast() {
            return gate.cancelLast();
        }

        @Operation
        public String limit(@Param(gen = IntGen.class, conf = "1:2") int limit) {
            return gate.limit(limit);
        }
    }

    /** A broken use of a gate: the permit to release is looked up in an earlier step. */
    public static class OneGateInTwoSteps extends OneGate {
        @Override
        public String complete() {
            Numbered oldest = gate.oldest();
            return oldest == null ? "nothing is held" : gate.release(oldest);
        }
    }

    private static final class Numbered extends Permit {
        final int id;

        Numbered(int id) {
            this.id = id;
        }
    }

    private record Limits(int concurrency, int maxWaiting) implements Bounds {
        @Override
        public int maxInFlight() {
            return Integer.MAX_VALUE;
        }

        @Override
        public int weight() {
            return 1;
        }
    }

    static final class NumberedGate extends Gate {
        private final FairCap cap;
        private final int places;
        private final List<Numbered> entered = new ArrayList<>();
        private int count;

        NumberedGate(FairCap cap, int slots, int places) {
            super(new Limits(slots, places), cap);
            this.cap = cap;
            this.places = places;
        }

        String submit() {
            lock();
            try {
                Numbered permit = new Numbered(++count);
                Entry entry = enter(permit, GrantedPermits.NO_TIME);
                if (entry == Entry.WAITING) {
                    entered.add(permit);
                }
                return permit.id + " " + entry;
            } finally {
                unlock();
            }
        }

        Numbered oldest() {
            return locked(this::oldestHeld);
        }

        String release(Permit permit) {
            return locked(() -> leave(permit));
        }

        String releaseOldest() {
            return locked(() -> {
                Numbered oldest = oldestHeld();
                return oldest == null ? "nothing is held" : leave(oldest);
            });
        }

        String cancelLast() {
            return locked(() -> {
                entered.removeIf(permit -> !isWaiting(permit));
                return entered.isEmpty() ? "nothing waits" : withdraw(entered.getLast());
            });
        }

        String limit(int slots) {
            return locked(() -> {
                GrantedPermits grants = new GrantedPermits();
                bind(new Limits(slots, places), grants);
                return granted(grants);
            });
        }

        boolean hasWaiterAndFreePermit() {
            return locked(() -> waiting() > 0 && running() < bounds().slots());
        }

        int held() {
            return locked(this::running);
        }

        private Numbered oldestHeld() {
            List<Numbered> held = new ArrayList<>();
            forEachHeld(permit -> held.add((Numbered) permit));
            return held.isEmpty() ? null : held.getFirst();
        }

        private String leave(Permit permit) {
            GrantedPermits grants = new GrantedPermits();
            leave(permit, 1, GrantedPermits.NO_TIME, grants);
            return granted(grants);
        }

        private String withdraw(Permit permit) {
            GrantedPermits grants = new GrantedPermits();
            withdraw(permit, grants);
            return granted(grants);
        }

        private static String granted(GrantedPermits grants) {
            StringBuilder granted = new StringBuilder("granted");
            for (Permit permit; (permit = grants.poll()) != null; ) {
                granted.append(' ').append(((Numbered) permit).id);
            }
            return granted.toString();
        }
    }

    // Gates at a common cap.

    @Test
    void no_permit_of_a_cap_is_left_free_or_granted_twice() {
        quiescent(3, 6, 200).check(GatesAtACap.class);
    }

    @Test
    void a_cap_that_is_served_by_one_thread_without_a_second_check_is_caught() {
        assertThatThrownBy(() -> quiescent(3, 15, 200).check(GatesAtACapServedOnce.class))
                .isInstanceOf(LincheckAssertionError.class);
    }

    /**
     * Two gates of two permits each, at a cap of two. The cap chooses the next waiter, so only the final state is
     * checked.
     */
    public static class GatesAtACap {
        final FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        final List<NumberedGate> gates =
                List.of(new NumberedGate(cap, 2, Integer.MAX_VALUE), new NumberedGate(cap, 2, Integer.MAX_VALUE));

        public GatesAtACap() {
            gates.get(0).submit();
            gates.get(1).submit();
            gates.get(1).submit();
        }

        @Operation
        public void submit(@Param(gen = IntGen.class, conf = "0:1") int gate) {
            gates.get(gate).submit();
            serve();
        }

        @Operation
        public void complete(@Param(gen = IntGen.class, conf = "0:1") int gate) {
            gates.get(gate).releaseOldest();
            serve();
        }

        @Operation
        public void cancelLast(@Param(gen = IntGen.class, conf = "0:1") int gate) {
            gates.get(gate).cancelLast();
            serve();
        }

        @Operation
        public void limit(
                @Param(gen = IntGen.class, conf = "0:1") int gate, @Param(gen = IntGen.class, conf = "1:2") int limit) {
            gates.get(gate).limit(limit);
            serve();
        }

        void serve() {
            while (cap.serve(new GrantedPermits())) {
                // until no further grant is possible
            }
        }

        @Validate
        public void check() {
            int held = gates.get(0).held() + gates.get(1).held();
            GroupModel.require(cap.used() == held, cap + ", and " + held + " are held");
            GroupModel.require(held <= 2, held + " are held");
            GroupModel.require(
                    held == 2 || gates.stream().noneMatch(NumberedGate::hasWaiterAndFreePermit),
                    "a permit waits, and the cap is " + cap);
        }
    }

    /** A broken cap: the serving thread does not check again for permits that were released while it served. */
    public static class GatesAtACapServedOnce extends GatesAtACap {
        private final AtomicBoolean serving = new AtomicBoolean();

        @Override
        void serve() {
            if (serving.compareAndSet(false, true)) {
                super.serve();
                serving.set(false);
            }
        }
    }

    // A whole executor.

    @Test
    void an_executor_loses_nothing_and_keeps_its_limits() {
        quiescent(3, 4, 150).check(WholeExecutor.class);
    }

    @Test
    void a_map_of_semaphores_is_caught() {
        assertThatThrownBy(() -> quiescent(3, 30, 150).check(MapOfSemaphores.class))
                .isInstanceOf(LincheckAssertionError.class);
    }

    @Test
    void an_idle_group_is_removed_also_if_the_list_is_read_while_the_alarm_fires() {
        quiescent(1, 1, 300).check(IdleAlarm.class);
    }

    /** An executor with one group of one permit; a step runs granted tasks. */
    public static class WholeExecutor {

        private static final class Submitted {
            final AtomicInteger ran = new AtomicInteger();
            final AtomicBoolean cancelled = new AtomicBoolean();
            TaskHandle<Integer> handle;
        }

        private final StepScheduler steps = new StepScheduler();
        private final ConcurrentLinkedQueue<Submitted> tasks = new ConcurrentLinkedQueue<>();
        private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .idleGroupTtl(Duration.ZERO)
                .scheduler(key -> steps)
                .build());

        @Operation
        public void submit() {
            Submitted task = new Submitted();
            task.handle = executor.submit("a", "task", task.ran::incrementAndGet);
            tasks.add(task);
        }

        @Operation
        public void run() {
            steps.runNext();
        }

        @Operation
        public void cancelLast() {
            Submitted last = null;
            for (Submitted task : tasks) {
                last = task;
            }
            if (last != null && last.handle.cancel(false)) {
                last.cancelled.set(true);
            }
        }

        @Operation
        public void evict() {
            executor.evictGroup("a");
        }

        @Validate
        public void check() {
            GroupExecutorStats before = executor.stats();
            GroupModel.require(before.totalActiveCount() <= 1, before + " in a group of one permit");
            GroupModel.require(
                    before.totalActiveCount() == 1 || before.totalQueuedCount() == 0, "lost wakeup: " + before);
            steps.runAll();
            GroupExecutorStats after = executor.stats();
            GroupModel.require(after.totalActiveCount() + after.totalQueuedCount() == 0, "not released: " + after);
            for (Submitted task : tasks) {
                TaskStatus status = task.handle.join().status();
                int expected = status == TaskStatus.SUCCESS ? 1 : 0;
                GroupModel.require(task.ran.get() == expected, status + ", and ran " + task.ran);
                GroupModel.require(
                        task.cancelled.get() == (status == TaskStatus.CANCELLED), status + ", and cancelled");
            }
        }
    }

    /** A common implementation with a race between eviction and submission. */
    public static class MapOfSemaphores {
        private final ConcurrentHashMap<String, Semaphore> groups = new ConcurrentHashMap<>();
        private final ConcurrentLinkedQueue<Semaphore> running = new ConcurrentLinkedQueue<>();

        @Operation
        public void submit() {
            Semaphore permits = groups.computeIfAbsent("a", key -> new Semaphore(1));
            if (permits.tryAcquire()) {
                running.add(permits);
            }
        }

        @Operation
        public void run() {
            Semaphore permits = running.poll();
            if (permits != null) {
                permits.release();
            }
        }

        @Operation
        public void evict() {
            groups.computeIfPresent("a", (key, permits) -> permits.availablePermits() == 1 ? null : permits);
        }

        @Validate
        public void check() {
            GroupModel.require(running.size() <= 1, running.size() + " run in a group of one slot");
        }
    }

    /** An executor whose only group is idle, but not yet for its time to live when the alarm fires. */
    public static class IdleAlarm {
        private static final Duration HALF = Duration.ofMillis(50);

        private final AtomicInteger lookups = new AtomicInteger();
        private final VirtualTime time = new VirtualTime();
        private final StepScheduler steps = new StepScheduler();
        private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .timeSource(time)
                .idleGroupTtl(HALF.multipliedBy(2))
                .concurrencyResolver(key -> lookups.updateAndGet(count -> count + 1))
                .scheduler(key -> steps)
                .build());

        public IdleAlarm() {
            executor.submit("a", "task", () -> "done");
            steps.runAll();
            time.advance(HALF);
            executor.submit("a", "task", () -> "done");
            steps.runAll();
        }

        @Operation(runOnce = true)
        public void read() {
            executor.stats();
        }

        @Operation(runOnce = true)
        public void expire() {
            time.advance(HALF);
        }

        @Validate
        public void check() {
            time.advance(HALF.multipliedBy(100));
            executor.submit("a", "task", () -> "done");
            GroupModel.require(lookups.get() == 2, "the idle group was not removed");
        }
    }
}
