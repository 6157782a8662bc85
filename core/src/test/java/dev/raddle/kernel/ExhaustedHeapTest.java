package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import dev.raddle.testing.Jvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No permit is lost if a step at a gate exhausts the heap. Each allocation of a step fails once. */
@Timeout(120)
class ExhaustedHeapTest {

    @ParameterizedTest
    @EnumSource
    void a_step_that_exhausts_the_heap_takes_effect_completely_or_can_be_repeated(Step step) throws Exception {
        String output = Jvm.run(
                Program.class, "-ea", "-Xint", "-Xmx8m", "-XX:+UseSerialGC", "-XX:-UseTLAB", "-Dstep=" + step.name());

        assertThat(output).matches("[1-9][0-9]* failures");
    }

    /** A step at gates with permits of several priorities and costs. */
    enum Step {
        ENTER(false) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), Step.LIMIT + 2, 1, 1);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.all.add(world.further);
                if (world.gates.getFirst().enterOnce(world.further) == Gate.Entry.HELD) {
                    throw new AssertionError("the gate is full");
                }
            }
        },
        RELEASE(false) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), 1, LIMIT, 0);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.gates.getFirst().releaseOnce(world.all.getFirst(), grants);
            }
        },
        WITHDRAW(false) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), 1, 1, 0);
                world.enter(world.gates.getFirst(), 1, LIMIT, 1000);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.gates.getFirst().withdrawOnce(world.all.get(1), grants);
                world.ended.add(world.all.get(1));
            }
        },
        RAISE(false) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), 1, LIMIT, 0);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.gates.getFirst().bindOnce(TestGate.Limits.of(2 * LIMIT), grants);
            }
        },
        RESUME(false) {
            @Override
            void prepare(World world) {
                world.gates.getFirst().pauseOnce(true, new GrantedPermits());
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.gates.getFirst().pauseOnce(false, grants);
            }
        },
        BIND_EARLY(false) {
            @Override
            void prepare(World world) {
                world.gates.getFirst().drainOnce(new ArrayList<>());
                world.enterWithPriorities(world.gates.getFirst(), 12);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.gates.getFirst().bindEarlyOnce(world, grants);
            }
        },
        DRAIN(false) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), 1, LIMIT, 0);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.gates.getFirst().drainOnce(world.ended);
            }
        },
        SERVE(true) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), 1, LIMIT, 0);
                for (PlainGate gate : world.gates) {
                    world.enterWithPriorities(gate, 3);
                }
                world.gates.getFirst().releaseOnce(world.all.getFirst(), new GrantedPermits());
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.cap.serve(grants);
            }
        },
        END_THROTTLE(false, true) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), BURST, 1, 0);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                grants.setNow(world.later());
                world.gates.getFirst().proceedOnce(grants);
            }
        },
        END_HOLD(false, true) {
            @Override
            void prepare(World world) {
                world.gates.getFirst().suspendOnce();
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                grants.setNow(world.later());
                world.gates.getFirst().resumeOnce(grants);
            }
        },
        RELEASE_RATED(false, true) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), 1, LIMIT, 0);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                grants.setNow(world.later());
                world.gates.getFirst().releaseOnce(world.all.getFirst(), grants);
            }
        },
        SET_RATE(false, true) {
            @Override
            void prepare(World world) {
                world.enter(world.gates.getFirst(), BURST, 1, 0);
                world.enterWithPriorities(world.gates.getFirst(), 30);
            }

            @Override
            void run(World world, GrantedPermits grants) {
                grants.setNow(world.now);
                RateLimit faster =
                        new RateLimit(Rate.of(1, Duration.ofMillis(2)).burst(BURST + 10));
                world.gates.getFirst().bindOnce(TestGate.Limits.of(2 * LIMIT).rate(faster), grants);
            }
        },
        SERVE_RATED(true, true) {
            @Override
            void prepare(World world) {
                for (PlainGate gate : world.gates) {
                    world.enterWithPriorities(gate, 3);
                }
            }

            @Override
            void run(World world, GrantedPermits grants) {
                world.cap.resume();
                grants.setNow(world.later());
                world.cap.serve(grants);
            }
        };

        static final int LIMIT = 40;
        static final int BURST = 20;

        final boolean capped;
        final boolean rated;

        Step(boolean capped) {
            this(capped, false);
        }

        Step(boolean capped, boolean rated) {
            this.capped = capped;
            this.rated = rated;
        }

        abstract void prepare(World world);

        abstract void run(World world, GrantedPermits grants);
    }

    /** A gate with methods that make one step under the lock. */
    private static final class PlainGate extends Gate {
        PlainGate(TestGate.Limits limits, FairCap cap) {
            super(limits, cap);
        }

        Entry enterOnce(Request request) {
            return enterOnce(request, GrantedPermits.NO_TIME);
        }

        Entry enterOnce(Request request, long now) {
            lock();
            try {
                return enter(request, now);
            } finally {
                unlock();
            }
        }

        void proceedOnce(GrantedPermits grants) {
            lock();
            try {
                proceed(grants);
            } finally {
                unlock();
            }
        }

        void suspendOnce() {
            lock();
            try {
                suspend();
            } finally {
                unlock();
            }
        }

        void resumeOnce(GrantedPermits grants) {
            lock();
            try {
                resume(grants);
            } finally {
                unlock();
            }
        }

        void releaseOnce(Request request, GrantedPermits grants) {
            lock();
            try {
                leave(request, 1000, grants);
            } finally {
                unlock();
            }
        }

        void withdrawOnce(Request request, GrantedPermits grants) {
            lock();
            try {
                withdraw(request, grants);
            } finally {
                unlock();
            }
        }

        void bindOnce(TestGate.Limits limits, GrantedPermits grants) {
            lock();
            try {
                bind(limits, grants);
            } finally {
                unlock();
            }
        }

        void pauseOnce(boolean pause, GrantedPermits grants) {
            lock();
            try {
                pause(pause, grants);
            } finally {
                unlock();
            }
        }

        void drainOnce(ArrayList<Permit> drained) {
            lock();
            try {
                drained.ensureCapacity(drained.size() + waiting());
                drain(drained::add);
                unbind(TestGate.Limits.UNKNOWN);
            } finally {
                unlock();
            }
        }

        void bindEarlyOnce(World world, GrantedPermits grants) {
            Map<Permit, Entry> entries = new LinkedHashMap<>();
            lock();
            try {
                if (!isBound()) {
                    bindEarly(TestGate.Limits.of(4).waiting(3), grants, entries);
                }
            } finally {
                unlock();
            }
            world.entries = entries;
        }

        boolean isEmptyNow() {
            return locked(this::isEmpty);
        }
    }

    private static final class Request extends Permit {
        private final PlainGate gate;
        private final int cost;
        private final int priority;
        private int taken = 1;

        Request(PlainGate gate, int cost, int priority) {
            this.gate = gate;
            this.cost = cost;
            this.priority = priority;
        }

        @Override
        protected int cost() {
            return cost;
        }

        @Override
        protected int priority() {
            return priority;
        }

        @Override
        protected void taken(int slots) {
            taken = slots;
        }

        @Override
        protected int taken() {
            return taken;
        }
    }

    private static final class World {
        private static final RateLimit SLOW =
                new RateLimit(Rate.of(1, Duration.ofMillis(1)).burst(Step.BURST));

        final FairCap cap;
        private final boolean rated;
        long now;
        final List<PlainGate> gates = new ArrayList<>();
        final List<Request> all = new ArrayList<>();
        final Set<Permit> granted = new HashSet<>();
        final ArrayList<Permit> ended = new ArrayList<>();
        final Request further;
        Map<Permit, Gate.Entry> entries = Map.of();

        World(Step step) {
            rated = step.rated;
            TestGate.Limits limits = TestGate.Limits.of(Step.LIMIT);
            int max = step.capped ? Step.LIMIT : FairCap.UNLIMITED;
            cap = step.capped && rated ? new FairCap(max, 1000, SLOW, now) : new FairCap(max, 1000);
            for (int gate = 0; gate < 40; gate++) {
                PlainGate added = new PlainGate(limits, cap);
                if (rated) {
                    GrantedPermits none = new GrantedPermits();
                    none.setNow(now);
                    added.bindOnce(limits.rate(SLOW), none);
                }
                gates.add(added);
            }
            further = new Request(gates.getFirst(), 1, 12_345);
        }

        /** Returns a moment at which the rate allows some permits. */
        long later() {
            now += 10_000_000;
            return now;
        }

        void enterWithPriorities(PlainGate gate, int count) {
            for (int permit = 0; permit < count; permit++) {
                enter(gate, 1, 1, 500 + permit % 3);
            }
        }

        void enter(PlainGate gate, int count, int cost, int priority) {
            for (int permit = 0; permit < count; permit++) {
                Request request = new Request(gate, cost, priority);
                all.add(request);
                if (gate.enterOnce(request, rated ? now : GrantedPermits.NO_TIME) == Gate.Entry.HELD) {
                    granted.add(request);
                }
            }
        }

        /** Completes what the callers of a step do afterwards, and releases every permit. */
        void finish(GrantedPermits grants) {
            proceed(grants);
            entries.forEach((permit, entry) -> {
                if (entry != Gate.Entry.HELD && entry != Gate.Entry.WAITING) {
                    ended.add(permit);
                }
            });
            Set<Permit> left = new HashSet<>(all);
            left.removeAll(ended);
            for (boolean progress = true; progress && !left.isEmpty(); ) {
                List<Permit> holders = new ArrayList<>(left);
                holders.retainAll(granted);
                progress = !holders.isEmpty();
                for (Permit holder : holders) {
                    left.remove(holder);
                    ((Request) holder).gate.releaseOnce((Request) holder, grants);
                    proceed(grants);
                }
            }
            require(left.isEmpty(), left.size() + " permits are lost");
            for (PlainGate gate : gates) {
                require(gate.isEmptyNow(), "a gate is not empty");
            }
            require(cap.used() == 0, cap.used() + " slots of the cap are lost");
            for (int waiting = 0; waiting < 1000; waiting++) {
                require(cap.tryWait(), "places of the common queue are lost");
            }
        }

        private void proceed(GrantedPermits grants) {
            do {
                take(grants);
                endThrottles(grants);
            } while (cap.serve(grants) || take(grants) > 0 || cap.isThrottled() || grants.peekThrottled() != null);
        }

        /** Does what the alarms of throttled gates do, and that of the cap. */
        private void endThrottles(GrantedPermits grants) {
            if (rated) {
                grants.setNow(later());
                cap.resume();
            }
            for (Gate gate; (gate = grants.peekThrottled()) != null; ) {
                grants.removeThrottled();
                grants.setNow(later());
                ((PlainGate) gate).proceedOnce(grants);
            }
        }

        private int take(GrantedPermits grants) {
            int count = 0;
            for (Permit permit; (permit = grants.poll()) != null; count++) {
                require(granted.add(permit), "a permit was granted twice");
            }
            return count;
        }

        private static void require(boolean holds, String message) {
            if (!holds) {
                throw new AssertionError(message);
            }
        }
    }

    /** Makes a step with less memory than it needs, then with a little more, until it succeeds. */
    static final class Program {

        private static final Object[] FILLING = new Object[100_000];

        public static void main(String[] arguments) {
            Step step = Step.valueOf(System.getProperty("step"));
            trial(step, 100_000); // loads the classes
            int failures = 0;
            for (int spare = 0; trial(step, spare); spare += 16) {
                failures++;
            }
            System.out.println(failures + " failures");
        }

        /** Makes the step with a number of free bytes on the heap; returns whether it failed. */
        private static boolean trial(Step step, int spare) {
            World world = new World(step);
            step.prepare(world);
            GrantedPermits grants = new GrantedPermits();
            boolean failed = fails(step, world, grants, spare);
            if (failed) {
                GrantedPermits again = step.capped ? grants : new GrantedPermits(); // as the callers do
                step.run(world, again);
                world.finish(again);
            } else {
                world.finish(grants);
            }
            return failed;
        }

        private static boolean fails(Step step, World world, GrantedPermits grants, int spare) {
            int filled = 0;
            Object[] spares = new Object[spare / 16];
            for (int each = 0; each < spares.length; each++) {
                spares[each] = new byte[0]; // 16 bytes
            }
            for (int size = 1 << 20; size >= 16; size /= 16) {
                filled = fill(filled, size);
            }
            boolean failed = false;
            spares = null;
            try {
                step.run(world, grants);
            } catch (OutOfMemoryError exhausted) {
                failed = true;
            }
            for (int each = 0; each < filled; each++) {
                FILLING[each] = null;
            }
            return failed;
        }

        private static int fill(int filled, int size) {
            int next = filled;
            try {
                for (; ; next++) {
                    FILLING[next] = new byte[size - 16];
                }
            } catch (OutOfMemoryError full) {
                return next;
            }
        }
    }
}
