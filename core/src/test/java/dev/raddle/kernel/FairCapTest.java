package dev.raddle.kernel;

import static dev.raddle.kernel.Gate.Entry.HELD;
import static dev.raddle.kernel.Gate.Entry.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.raddle.kernel.TestGate.Limits;
import dev.raddle.kernel.TestGate.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class FairCapTest {

    private static final long MILLI = 1_000_000;

    @Test
    void all_gates_together_hold_no_more_than_the_cap_and_a_freed_slot_goes_to_any_of_them() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(2));
        TestGate other = new TestGate(cap, Limits.of(2));
        Request a = one.request("a");
        Request b = other.request("b");
        Request c = one.request("c");
        Request d = other.request("d");

        assertThat(one.ask(a)).isEqualTo(HELD);
        assertThat(other.ask(b)).isEqualTo(HELD);
        assertThat(one.ask(c)).isEqualTo(WAITING);
        assertThat(other.ask(d)).isEqualTo(WAITING);
        assertThat(cap.used()).isEqualTo(2);
        assertThat(cap).hasToString("2 of 2 slots held");
        assertThat(one.firstWaitsForCap()).isTrue();

        assertThat(one.giveBack(a)).hasSize(1);
        assertThat(cap.used()).isEqualTo(2);
        assertThat(other.giveBack(b)).hasSize(1);
        assertThat(c.grants + d.grants).isEqualTo(2);
        assertThat(one.firstWaitsForCap()).isFalse();

        one.giveBack(c);
        other.giveBack(d);
        assertThat(cap.used()).isZero();
        assertThat(cap).hasToString("0 of 2 slots held");
        assertThat(new FairCap(FairCap.UNLIMITED, 1)).hasToString("0 of unlimited slots held");
    }

    @Test
    void a_gate_that_is_full_does_not_stand_in_the_line_for_the_cap() {
        FairCap cap = new FairCap(3, FairCap.UNLIMITED);
        TestGate full = new TestGate(cap, Limits.of(1));
        TestGate other = new TestGate(cap, Limits.of(9));
        for (int i = 0; i < 50; i++) {
            full.ask(full.request("f" + i));
        }
        assertThat(full.firstWaitsForCap()).isFalse();

        assertThat(other.ask(other.request("x"))).isEqualTo(HELD);
        assertThat(other.ask(other.request("y"))).isEqualTo(HELD);
        assertThat(other.ask(other.request("z"))).isEqualTo(WAITING);
        assertThat(cap.used()).isEqualTo(3);
    }

    @Test
    void while_somebody_waits_for_the_cap_no_newcomer_overtakes() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(9));
        TestGate other = new TestGate(cap, Limits.of(9));
        Request a = one.request("a");
        Request wide = one.request("wide", 2, 0);
        one.ask(a);
        assertThat(one.ask(wide)).isEqualTo(WAITING);

        Request b = other.request("b");
        assertThat(other.ask(b)).as("a slot is free, and another is before it").isEqualTo(WAITING);

        assertThat(one.giveBack(a)).containsExactly(wide);
        assertThat(wide.taken).isEqualTo(2);
        assertThat(one.giveBack(wide)).containsExactly(b);
    }

    @Test
    void a_permit_takes_slots_of_its_gate_and_of_the_cap_or_none() {
        FairCap cap = new FairCap(4, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(9));
        TestGate other = new TestGate(cap, Limits.of(2));
        Request a = one.request("a", 3, 0);
        Request b = other.request("b", 2, 0);
        one.ask(a);

        assertThat(other.ask(b)).as("its gate has room, the cap has one slot").isEqualTo(WAITING);
        assertThat(cap.used()).isEqualTo(3);
        assertThat(other.slotsTaken()).isZero();

        assertThat(one.giveBack(a)).containsExactly(b);
        assertThat(cap.used()).isEqualTo(2);
    }

    @Test
    void one_that_asks_for_more_than_the_cap_has_takes_all_of_it() {
        FairCap cap = new FairCap(3, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(9));
        Request narrow = gate.request("narrow");
        Request huge = gate.request("huge", 100, 0);
        gate.ask(narrow);
        assertThat(gate.ask(huge)).isEqualTo(WAITING);

        assertThat(gate.giveBack(narrow)).containsExactly(huge);
        assertThat(huge.taken).isEqualTo(3);
        assertThat(cap.used()).isEqualTo(3);
        gate.giveBack(huge);
        assertThat(cap.used()).isZero();
    }

    @Test
    void a_cap_that_grows_while_a_wide_permit_enters_does_not_let_it_exceed_its_gate() {
        FairCap cap = new FairCap(3, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(4));
        gate.ask(gate.request("holder"));

        gate.askAndServe(new GrowsTheCap(gate, cap, 4)); // 3 of the cap fit beside the holder, 4 do not

        assertThat(gate.slotsTaken()).isLessThanOrEqualTo(4);
    }

    /** Changes the cap between the question whether it fits and the taking of slots. */
    private static final class GrowsTheCap extends Request {
        private final FairCap cap;
        private int questions;

        GrowsTheCap(TestGate gate, FairCap cap, int cost) {
            super(gate, "grows", cost, 0);
            this.cap = cap;
        }

        @Override
        protected int cost() {
            if (questions++ == 3) {
                cap.setMax(100);
            }
            return super.cost();
        }
    }

    @Test
    void a_higher_cap_takes_effect_at_once_and_a_lower_one_by_attrition() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(9));
        List<Request> requests = ask(gate, 6);

        cap.setMax(4);
        assertThat(cap.max()).isEqualTo(4);
        assertThat(gate.serve(new GrantedPermits())).containsExactlyElementsOf(requests.subList(1, 4));

        cap.setMax(2);
        assertThat(gate.giveBack(requests.get(0))).isEmpty();
        assertThat(gate.giveBack(requests.get(1))).isEmpty();
        assertThat(cap.used()).isEqualTo(2);
        assertThat(gate.giveBack(requests.get(2))).containsExactly(requests.get(4));
        assertThat(cap.used()).isEqualTo(2);

        cap.setMax(FairCap.UNLIMITED);
        assertThat(gate.serve(new GrantedPermits())).containsExactly(requests.get(5));
    }

    @Test
    void a_cap_that_comes_into_force_counts_what_runs_once_and_then_gives_back_as_much() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(3));
        TestGate other = new TestGate(cap, Limits.of(3));
        List<Request> ones = ask(one, 3);
        List<Request> others = ask(other, 2);
        assertThat(cap.used()).as("nothing is counted without a cap").isZero();

        cap.setMax(4);
        one.count();
        one.count();
        other.count();
        assertThat(cap.used()).isEqualTo(5);
        assertThat(other.ask(other.request("late"))).isEqualTo(WAITING);

        assertThat(one.giveBack(ones.get(0))).as("4 of 4 are held").isEmpty();
        assertThat(other.giveBack(others.get(0))).hasSize(1);
        assertThat(cap.used()).isEqualTo(4);

        one.giveBack(ones.get(1));
        one.giveBack(ones.get(2));
        other.giveBack(others.get(1));
        assertThat(cap.used()).isEqualTo(1);
    }

    @Test
    void a_gate_that_hears_late_of_the_cap_counts_what_runs_before_it_gives_anything_back() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(3));
        List<Request> held = ask(gate, 3);

        cap.setMax(2);
        gate.giveBack(held.get(0));
        assertThat(cap.used()).isEqualTo(2);

        gate.giveBack(held.get(1));
        gate.giveBack(held.get(2));
        assertThat(cap.used()).isZero();
    }

    @Test
    void those_who_waited_at_their_gate_when_the_cap_came_are_granted_by_it() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(2));
        List<Request> requests = ask(gate, 5);

        cap.setMax(1);
        assertThat(gate.count()).isEmpty();
        assertThat(gate.giveBack(requests.get(0))).as("one still runs").isEmpty();
        assertThat(gate.giveBack(requests.get(1))).containsExactly(requests.get(2));
        assertThat(gate.giveBack(requests.get(2))).containsExactly(requests.get(3));
        assertThat(gate.giveBack(requests.get(3))).containsExactly(requests.get(4));
    }

    @Test
    void a_gate_whose_waiters_have_left_is_passed_over() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(1));
        TestGate gone = new TestGate(cap, Limits.of(1));
        TestGate stopped = new TestGate(cap, Limits.of(1));
        TestGate last = new TestGate(cap, Limits.of(1));
        Request a = one.request("a");
        Request b = gone.request("b");
        Request c = stopped.request("c");
        Request d = last.request("d");
        one.ask(a);
        gone.ask(b);
        stopped.ask(c);
        last.ask(d);

        gone.abandon(b);
        stopped.paused(true);
        assertThat(stopped.firstWaitsForCap()).isFalse();
        assertThat(one.giveBack(a)).containsExactly(d);

        last.giveBack(d);
        assertThat(stopped.paused(false)).as("it comes back into the line").containsExactly(c);
        assertThat(gone.ask(gone.request("again"))).isEqualTo(WAITING);
    }

    @Test
    void a_slot_kept_for_a_wide_permit_that_leaves_goes_to_the_others() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(9));
        TestGate other = new TestGate(cap, Limits.of(9));
        Request a = one.request("a");
        Request wide = one.request("wide", 2, 0);
        Request b = other.request("b");
        List.of(a, wide).forEach(one::ask);
        assertThat(other.ask(b)).isEqualTo(WAITING);

        assertThat(one.abandon(wide)).containsExactly(b);
    }

    @Test
    void a_flood_at_one_gate_does_not_keep_another_waiting() {
        FairCap cap = new FairCap(4, FairCap.UNLIMITED);
        TestGate flood = new TestGate(cap, Limits.of(1_000_000));
        TestGate quiet = new TestGate(cap, Limits.of(9));
        List<Request> running = new ArrayList<>(ask(flood, 10_000).subList(0, 4));
        for (int i = 0; i < 500; i++) {
            running.addAll(flood.giveBack(running.removeFirst(), 1L << 20));
        }

        Request first = quiet.request("first");
        assertThat(quiet.ask(first)).isEqualTo(WAITING);
        assertThat(flood.giveBack(running.removeFirst(), 1L << 20)).containsExactly(first);
    }

    @Test
    void a_gate_that_comes_back_gets_half_of_the_cap_before_the_others_continue_and_then_its_share() {
        FairCap cap = new FairCap(8, FairCap.UNLIMITED);
        TestGate flood = new TestGate(cap, Limits.of(1_000_000));
        TestGate back = new TestGate(cap, Limits.of(1_000_000));
        List<Request> running = new ArrayList<>(ask(flood, 1_000).subList(0, 8));
        for (int i = 0; i < 100; i++) {
            running.addAll(flood.giveBack(running.removeFirst(), 1L << 20));
        }
        ask(back, 100);

        List<TestGate> order = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Request ends = running.removeFirst();
            List<Request> next = ends.gate.giveBack(ends, 1L << 20);
            running.addAll(next);
            assertThat(next).hasSize(1);
            order.add(next.getFirst().gate);
        }

        long burst = order.stream().takeWhile(gate -> gate == back).count();
        assertThat(burst)
                .as("half of the cap, and the turn or two that it would have had before the next of the flood anyway")
                .isBetween(4L, 6L);
        List<TestGate> later = order.subList((int) burst, order.size());
        for (int i = 2; i < later.size(); i++) {
            assertThat(later.subList(i - 2, i + 1))
                    .as("then no gate has three turns in a row")
                    .contains(flood, back);
        }
    }

    @Test
    void long_run_shares_are_proportional_to_weights_whatever_a_run_takes() {
        Simulation house = new Simulation(8);
        house.add(1, () -> 2 * MILLI);
        house.add(2, () -> 20 * MILLI);
        house.add(3, () -> 5 * MILLI);
        house.run(20_000 * MILLI);

        assertThat(house.share(0)).isCloseTo(1 / 6.0, within(0.02 / 6));
        assertThat(house.share(1)).isCloseTo(2 / 6.0, within(0.02 * 2 / 6));
        assertThat(house.share(2)).isCloseTo(3 / 6.0, within(0.02 * 3 / 6));
    }

    @Test
    void shares_hold_when_run_times_are_unknowable() {
        Simulation house = new Simulation(4);
        Random random = new Random(7);
        house.add(1, () -> (long) (random.nextDouble() < 0.05 ? 100 * MILLI : MILLI * random.nextDouble()));
        house.add(1, () -> 3 * MILLI);
        house.run(100_000 * MILLI);

        assertThat(house.share(0)).isCloseTo(0.5, within(0.01));
    }

    @Test
    void a_wide_permit_is_charged_for_every_slot_it_takes() {
        Simulation house = new Simulation(6);
        house.add(1, () -> 4 * MILLI, 3);
        house.add(1, () -> 4 * MILLI, 1);
        house.run(20_000 * MILLI);

        assertThat(house.share(0)).isCloseTo(0.5, within(0.01));
    }

    @Test
    void many_gates_share_equally() {
        Simulation house = new Simulation(16);
        for (int i = 0; i < 100; i++) { // more than the heap is made for at first
            int length = 1 + i % 7;
            house.add(1, () -> length * MILLI);
        }
        house.run(40_000 * MILLI);

        for (int i = 0; i < 100; i++) {
            assertThat(house.share(i)).isCloseTo(0.01, within(0.0002));
        }
    }

    @Test
    void whoever_serves_gets_a_batch_and_is_told_that_there_is_more() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(1_000));
        ask(gate, 301);
        cap.setMax(1_000);
        GrantedPermits grants = new GrantedPermits();
        List<Integer> batches = new ArrayList<>();
        boolean more;
        do {
            more = cap.serve(grants);
            batches.add(grants.size());
            while (grants.poll() != null) {
                // acted on
            }
        } while (more);

        assertThat(batches.stream().mapToInt(size -> size).sum()).isEqualTo(300);
        assertThat(batches).allMatch(size -> size <= 64);
        assertThat(batches.getFirst()).isEqualTo(64);
        assertThat(cap.used()).isEqualTo(301);
        assertThat(cap.serve(grants)).as("nobody is left").isFalse();
    }

    @Test
    void pace_is_a_power_of_two_that_is_never_more_than_the_time() {
        assertThat(FairLine.pace(0)).isEqualTo((byte) 1);
        assertThat(FairLine.pace(-5)).isEqualTo((byte) 1);
        assertThat(FairLine.pace(1_000_000)).isEqualTo((byte) 19);
        assertThat(FairLine.pace(1 << 20)).isEqualTo((byte) 20);
        assertThat(FairLine.pace(Long.MAX_VALUE)).isEqualTo((byte) 42);
        assertThat(FairLine.nanos(FairLine.pace(Long.MAX_VALUE))).isEqualTo(FairLine.LONGEST_RUN);
    }

    @Test
    void a_run_of_any_length_leaves_turns_that_can_be_compared() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(1));
        TestGate other = new TestGate(cap, Limits.of(1));
        Request a = one.request("a");
        one.ask(a);
        for (int i = 0; i < 100; i++) {
            Request b = other.request("b" + i);
            Request next = one.request("a" + i);
            other.ask(b);
            one.ask(next);
            assertThat(one.giveBack(a, Long.MAX_VALUE)).hasSize(1);
            Request running = b.grants == 1 ? b : next;
            Request later = running == b ? next : b;
            assertThat(running.gate.giveBack(running, 1)).containsExactly(later);
            a = one.request("again" + i);
            one.ask(a);
            later.gate.giveBack(later, 1);
        }
        assertThat(cap.used()).isEqualTo(1);
    }

    @Test
    void threads_that_enter_leave_and_withdraw_at_once_lose_no_permit_and_exceed_no_limit() throws Exception {
        int threads = 4;
        int rounds = 20_000;
        FairCap cap = new FairCap(3, 50);
        List<TestGate> gates = List.of(
                new TestGate(cap, Limits.of(2).waiting(8)),
                new TestGate(cap, Limits.of(1).weight(3)),
                new TestGate(cap, Limits.of(5)));
        ConcurrentLinkedQueue<Request> granted = new ConcurrentLinkedQueue<>();
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger withdrawn = new AtomicInteger();
        AtomicInteger returned = new AtomicInteger();
        CountDownLatch start = new CountDownLatch(1);
        List<Future<?>> ends = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (int thread = 0; thread < threads; thread++) {
                Random random = new Random(thread);
                ends.add(pool.submit(() -> {
                    start.await();
                    for (int round = 0; round < rounds; round++) {
                        TestGate gate = gates.get(random.nextInt(gates.size()));
                        Request request = gate.request("r", 1 + random.nextInt(2), random.nextInt(3) - 1);
                        switch (gate.askOnly(request)) {
                            case HELD -> granted.add(request);
                            case WAITING -> serve(cap, new GrantedPermits(), granted);
                            default -> refused.incrementAndGet();
                        }
                        if (random.nextInt(8) == 0) {
                            GrantedPermits grants = new GrantedPermits();
                            gate.lock();
                            try {
                                withdrawn.addAndGet(gate.withdraw(request, grants) ? 1 : 0);
                            } finally {
                                gate.unlock();
                            }
                            serve(cap, grants, granted);
                        }
                        returned.addAndGet(giveOneBack(cap, granted));
                        assertThat(cap.used()).isBetween(0, 3);
                    }
                    return null;
                }));
            }
            start.countDown();
            for (Future<?> end : ends) {
                end.get();
            }
        }
        while (!granted.isEmpty()) {
            returned.addAndGet(giveOneBack(cap, granted));
        }

        assertThat(cap.used()).isZero();
        assertThat(gates).allMatch(TestGate::nothingHere);
        assertThat(refused.get() + withdrawn.get() + returned.get()).isEqualTo(threads * rounds);
        assertThat(returned).hasPositiveValue();
    }

    private static int giveOneBack(FairCap cap, ConcurrentLinkedQueue<Request> granted) {
        Request oldest = granted.poll();
        if (oldest == null) {
            return 0;
        }
        GrantedPermits grants = new GrantedPermits();
        oldest.gate.lock();
        try {
            oldest.gate.leave(oldest, MILLI, grants);
        } finally {
            oldest.gate.unlock();
        }
        serve(cap, grants, granted);
        return 1;
    }

    private static void serve(FairCap cap, GrantedPermits grants, ConcurrentLinkedQueue<Request> granted) {
        boolean more;
        do {
            more = cap.serve(grants);
            for (Permit next; (next = grants.poll()) != null; ) {
                granted.add((Request) next);
            }
        } while (more);
    }

    private static List<Request> ask(TestGate gate, int count) {
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requests.add(gate.request("r" + i));
            gate.ask(requests.get(i));
        }
        return requests;
    }

    /** Gates that always want more than there is, in a time that passes from end to end of a run. */
    private static final class Simulation {
        private record Run(Request request, long began, long ends) {}

        private final FairCap cap;
        private final List<TestGate> gates = new ArrayList<>();
        private final List<LongSupplier> lengths = new ArrayList<>();
        private final List<Integer> costs = new ArrayList<>();
        private final List<Long> slotNanos = new ArrayList<>();
        private final PriorityQueue<Run> runs = new PriorityQueue<>(Comparator.comparingLong(Run::ends));
        private long now;

        Simulation(int slots) {
            cap = new FairCap(slots, FairCap.UNLIMITED);
        }

        void add(int weight, LongSupplier length) {
            add(weight, length, 1);
        }

        void add(int weight, LongSupplier length, int cost) {
            gates.add(new TestGate(cap, Limits.of(1_000).weight(weight)));
            lengths.add(length);
            costs.add(cost);
            slotNanos.add(0L);
        }

        void run(long until) {
            for (int i = 0; i < 20 * gates.size(); i++) {
                begin(next(i % gates.size()));
            }
            while (runs.peek().ends <= until) {
                Run run = runs.poll();
                now = run.ends;
                int index = gates.indexOf(run.request.gate);
                slotNanos.set(index, slotNanos.get(index) + (run.ends - run.began) * run.request.taken);
                begin(run.request.gate.giveBack(run.request, run.ends - run.began));
                begin(next(index));
                check();
            }
        }

        double share(int index) {
            long all = slotNanos.stream().mapToLong(nanos -> nanos).sum();
            return slotNanos.get(index) / (double) all;
        }

        private List<Request> next(int index) {
            TestGate gate = gates.get(index);
            return gate.askAndServe(gate.request("r", costs.get(index), 0));
        }

        private void begin(List<Request> granted) {
            for (Request request : granted) {
                long length = lengths.get(gates.indexOf(request.gate)).getAsLong();
                runs.add(new Run(request, now, now + Math.max(1, length)));
            }
        }

        private void check() { // often, so without building messages
            int running = runs.stream().mapToInt(run -> run.request.taken).sum();
            int widest = costs.stream().mapToInt(cost -> cost).max().orElseThrow();
            if (cap.used() != running || running > cap.max() || running <= cap.max() - widest) {
                throw new AssertionError(running + " slots are taken and work is waiting, " + cap);
            }
        }
    }
}
