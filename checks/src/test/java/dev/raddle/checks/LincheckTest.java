package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.kernel.Bounds;
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
 * Every interleaving of a few steps, as far as Lincheck's model checker gets: one gate against a sequential specification,
 * gates at a common cap and a whole executor against what must hold when all is quiet. Each beside a broken imitation, which
 * shows that the checker would notice.
 *
 * <p>No operations go before the concurrent ones: the default of five fills small limits, and hides what is wrong with them.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class LincheckTest {

    /** How many times as many scenarios to check as the build does. */
    private static final int ROUNDS = Integer.getInteger("raddle.lincheck.rounds", 1);

    static ModelCheckingOptions options(int actors, int iterations, int invocations) {
        return new ModelCheckingOptions()
                .threads(2)
                .actorsPerThread(actors)
                .actorsBefore(0)
                .actorsAfter(0)
                .loopBound(2000) // pauses before a lock; by default, fewer are taken for a hang
                .iterations(iterations * ROUNDS)
                .invocationsPerIteration(invocations)
                .minimizeFailedScenario(false);
    }

    /** Options for steps that say nothing: only the end counts. */
    private static ModelCheckingOptions quiescent(int actors, int iterations, int invocations) {
        return options(actors, iterations, invocations).verifier(NothingThrown.class);
    }

    /** Whatever steps may say, they must not fail. */
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

    /** What a gate for two slots and two places says to those who use it one after the other. */
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
            return waiting.pollLast() == null ? "nobody waits" : granted();
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
            return gate.giveBackOldest();
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

    /** A gate in wrong hands: what is given back was looked up before. */
    public static class OneGateInTwoSteps extends OneGate {
        @Override
        public String complete() {
            Numbered oldest = gate.oldest();
            return oldest == null ? "nothing is held" : gate.giveBack(oldest);
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
            super(new Limits(slots, places));
            this.cap = cap;
            this.places = places;
        }

        @Override
        protected FairCap cap() {
            return cap;
        }

        String submit() {
            lock();
            try {
                Numbered permit = new Numbered(++count);
                Entry entry = enter(permit);
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

        String giveBack(Permit permit) {
            return locked(() -> leave(permit));
        }

        String giveBackOldest() {
            return locked(() -> {
                Numbered oldest = oldestHeld();
                return oldest == null ? "nothing is held" : leave(oldest);
            });
        }

        String cancelLast() {
            return locked(() -> {
                entered.removeIf(permit -> !isWaiting(permit));
                return entered.isEmpty() ? "nobody waits" : withdraw(entered.getLast());
            });
        }

        String limit(int slots) {
            return locked(() -> {
                GrantedPermits grants = new GrantedPermits();
                bind(new Limits(slots, places), grants);
                return granted(grants);
            });
        }

        boolean keepsSomebodyWaiting() {
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
            leave(permit, 1, grants);
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
    void no_slot_of_a_cap_is_left_free_or_taken_twice() {
        quiescent(3, 6, 200).check(GatesAtACap.class);
    }

    @Test
    void a_cap_that_is_served_by_one_thread_for_all_without_looking_again_is_caught() {
        assertThatThrownBy(() -> quiescent(3, 15, 200).check(GatesAtACapServedOnce.class))
                .isInstanceOf(LincheckAssertionError.class);
    }

    /** Two gates of two slots each, at a cap of two. The cap decides who is next, so steps say nothing, and the end counts. */
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
            gates.get(gate).giveBackOldest();
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
                // until nothing is left to grant
            }
        }

        @Validate
        public void check() {
            int held = gates.get(0).held() + gates.get(1).held();
            GroupModel.require(cap.used() == held, cap + ", and " + held + " are held");
            GroupModel.require(held <= 2, held + " are held");
            GroupModel.require(
                    held == 2 || gates.stream().noneMatch(NumberedGate::keepsSomebodyWaiting),
                    "somebody waits, and there is " + cap);
        }
    }

    /** Serves as one would who had not thought of those who come while he is at work. */
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
    void an_idle_group_is_forgotten_also_if_the_list_is_read_while_the_alarm_rings() {
        quiescent(1, 1, 300).check(IdleAlarm.class);
    }

    /** An executor with one group of one slot; granted tasks wait to be run. */
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
            GroupModel.require(before.totalActiveCount() <= 1, before + " in a group of one slot");
            GroupModel.require(
                    before.totalActiveCount() == 1 || before.totalQueuedCount() == 0, "lost wakeup: " + before);
            steps.runAll();
            GroupExecutorStats after = executor.stats();
            GroupModel.require(after.totalActiveCount() + after.totalQueuedCount() == 0, "left over: " + after);
            for (Submitted task : tasks) {
                TaskStatus status = task.handle.join().status();
                int expected = status == TaskStatus.SUCCESS ? 1 : 0;
                GroupModel.require(task.ran.get() == expected, status + ", and ran " + task.ran);
                GroupModel.require(
                        task.cancelled.get() == (status == TaskStatus.CANCELLED), status + ", and cancelled");
            }
        }
    }

    /** What many would write. */
    public static class MapOfSemaphores {
        private final ConcurrentHashMap<String, Semaphore> groups = new ConcurrentHashMap<>();
        private final ConcurrentLinkedQueue<Semaphore> running = new ConcurrentLinkedQueue<>();

        @Operation
        public void submit() {
            Semaphore slots = groups.computeIfAbsent("a", key -> new Semaphore(1));
            if (slots.tryAcquire()) {
                running.add(slots);
            }
        }

        @Operation
        public void run() {
            Semaphore slots = running.poll();
            if (slots != null) {
                slots.release();
            }
        }

        @Operation
        public void evict() {
            groups.computeIfPresent("a", (key, slots) -> slots.availablePermits() == 1 ? null : slots);
        }

        @Validate
        public void check() {
            GroupModel.require(running.size() <= 1, running.size() + " run in a group of one slot");
        }
    }

    /** An executor whose only group is idle, and not yet long enough when the alarm rings. */
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
        public void ring() {
            time.advance(HALF);
        }

        @Validate
        public void check() {
            time.advance(HALF.multipliedBy(100));
            executor.submit("a", "task", () -> "done");
            GroupModel.require(lookups.get() == 2, "the idle group is still there");
        }
    }
}
