package dev.raddle.kernel;

import static dev.raddle.kernel.Entry.HELD;
import static dev.raddle.kernel.Entry.WAITING;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FairCapTest {

    private static final long MILLI = 1_000_000;

    @Test
    void all_gates_together_hold_at_most_the_cap_and_a_released_slot_goes_to_any_of_them() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(2));
        TestGate other = new TestGate(cap, Limits.of(2));
        Request a = one.request("a");
        Request b = other.request("b");
        Request c = one.request("c");
        Request d = other.request("d");

        assertThat(one.tryEnter(a)).isEqualTo(HELD);
        assertThat(other.tryEnter(b)).isEqualTo(HELD);
        assertThat(one.tryEnter(c)).isEqualTo(WAITING);
        assertThat(other.tryEnter(d)).isEqualTo(WAITING);
        assertThat(cap.used()).isEqualTo(2);
        assertThat(cap).hasToString("2 of 2 slots held");
        assertThat(one.firstWaitsForCap()).isTrue();

        assertThat(one.release(a)).hasSize(1);
        assertThat(cap.used()).isEqualTo(2);
        assertThat(other.release(b)).hasSize(1);
        assertThat(c.grants + d.grants).isEqualTo(2);
        assertThat(one.firstWaitsForCap()).isFalse();

        one.release(c);
        other.release(d);
        assertThat(cap.used()).isZero();
        assertThat(cap).hasToString("0 of 2 slots held");
        assertThat(new FairCap(FairCap.UNLIMITED, 1)).hasToString("0 of unlimited slots held");
    }

    @Test
    void a_full_gate_is_not_in_the_line_for_the_cap() {
        FairCap cap = new FairCap(3, FairCap.UNLIMITED);
        TestGate full = new TestGate(cap, Limits.of(1));
        TestGate other = new TestGate(cap, Limits.of(9));
        for (int i = 0; i < 50; i++) {
            full.tryEnter(full.request("f" + i));
        }
        assertThat(full.firstWaitsForCap()).isFalse();

        assertThat(other.tryEnter(other.request("x"))).isEqualTo(HELD);
        assertThat(other.tryEnter(other.request("y"))).isEqualTo(HELD);
        assertThat(other.tryEnter(other.request("z"))).isEqualTo(WAITING);
        assertThat(cap.used()).isEqualTo(3);
    }

    @Test
    void no_newcomer_overtakes_a_permit_that_waits_for_the_cap() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(9));
        TestGate other = new TestGate(cap, Limits.of(9));
        Request a = one.request("a");
        Request wide = one.request("wide", 2, 0);
        one.tryEnter(a);
        assertThat(one.tryEnter(wide)).isEqualTo(WAITING);

        Request b = other.request("b");
        assertThat(other.tryEnter(b))
                .as("a slot is free, but another permit is first")
                .isEqualTo(WAITING);

        assertThat(one.release(a)).containsExactly(wide);
        assertThat(wide.taken).isEqualTo(2);
        assertThat(one.release(wide)).containsExactly(b);
    }

    @Test
    void a_permit_takes_slots_of_both_its_gate_and_the_cap_or_none() {
        FairCap cap = new FairCap(4, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(9));
        TestGate other = new TestGate(cap, Limits.of(2));
        Request a = one.request("a", 3, 0);
        Request b = other.request("b", 2, 0);
        one.tryEnter(a);

        assertThat(other.tryEnter(b))
                .as("its gate has two free slots, the cap one")
                .isEqualTo(WAITING);
        assertThat(cap.used()).isEqualTo(3);
        assertThat(other.slotsTaken()).isZero();

        assertThat(one.release(a)).containsExactly(b);
        assertThat(cap.used()).isEqualTo(2);
    }

    @Test
    void a_permit_that_was_released_without_having_run_does_not_give_its_gate_more_than_its_share() {
        FairCap cap = new FairCap(8, FairCap.UNLIMITED);
        TestGate filler = new TestGate(cap, Limits.of(8));
        TestGate one = new TestGate(cap, Limits.of(20));
        TestGate other = new TestGate(cap, Limits.of(20));
        List<Request> fillers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            fillers.add(filler.request("f" + i));
            filler.tryEnter(fillers.getLast());
        }
        for (int i = 0; i < 20; i++) {
            one.tryEnter(one.request("a" + i));
            other.tryEnter(other.request("b" + i));
        }
        filler.release(fillers.removeFirst(), MILLI);
        filler.release(fillers.removeFirst(), MILLI);
        Request cancelled = one.holders().getFirst();

        one.release(cancelled, Gate.NEVER_RAN);
        fillers.forEach(request -> filler.release(request, MILLI));

        assertThat(one.slotsTaken()).isEqualTo(4);
        assertThat(other.slotsTaken()).isEqualTo(4);
    }

    @Test
    void a_gate_whose_permits_take_millions_of_slots_for_long_is_charged_for_them() {
        int wide = 1 << 24;
        int narrow = 1 << 22;
        long runTime = 1L << 40;
        FairCap cap = new FairCap(wide, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(wide));
        TestGate other = new TestGate(cap, Limits.of(narrow));
        Request running = other.request("past", narrow, 0);
        other.tryEnter(running);
        other.release(running, runTime); // the next grants are expected to run as long
        running = one.request("past", wide, 0);
        one.tryEnter(running);
        one.release(running, runTime);
        running = one.request("first", wide, 0);
        one.tryEnter(running);
        for (int i = 0; i < 4; i++) {
            one.tryEnter(one.request("a" + i, wide, 0));
            other.tryEnter(other.request("b" + i, narrow, 0));
        }

        List<String> order = new ArrayList<>();
        for (List<Request> granted; !(granted = running.gate.release(running, runTime)).isEmpty(); ) {
            running = granted.getFirst();
            order.add(running.name);
        }

        assertThat(order).hasSize(8);
        assertThat(order.subList(0, 4)).contains("a0", "a1", "b0", "b1");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 30})
    void a_cap_that_comes_into_force_over_billions_of_held_slots_grants_nothing_until_they_are_released(int count) {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        List<TestGate> gates = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            gates.add(new TestGate(cap, Limits.of(Integer.MAX_VALUE)));
            gates.get(i).tryEnter(gates.get(i).request("wide", Integer.MAX_VALUE, 0));
        }

        cap.setMax(2);
        gates.forEach(TestGate::recountAndServe);

        TestGate late = new TestGate(cap, Limits.of(1));
        assertThat(late.tryEnter(late.request("late"))).isEqualTo(WAITING);
        assertThat(late.firstWaitsForCap()).isTrue();
        assertThat(cap.used()).isEqualTo(Integer.MAX_VALUE);
        assertThat(cap.isFull()).isTrue();

        List<Request> granted = new ArrayList<>();
        gates.forEach(gate -> granted.addAll(gate.release(gate.holders().getFirst())));
        assertThat(granted).hasSize(1).allMatch(request -> request.gate == late);
        assertThat(cap.used()).isEqualTo(1);
    }

    @Test
    void a_full_cap_does_not_retain_all_gates_whose_permits_have_withdrawn_and_serves_the_others_in_order() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        List<TestGate> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            TestGate gate = new TestGate(cap, Limits.of(1));
            gate.finish = i; // as after earlier grants
            waiting.add(gate);
        }
        TestGate filler = new TestGate(cap, Limits.of(2));
        Request running = filler.request("running");
        filler.tryEnter(running);
        filler.tryEnter(filler.request("runs on"));
        List<TestGate> left = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            if (i % 50 == 0) {
                TestGate gate = waiting.get((7 * i / 50) % 20);
                gate.tryEnter(gate.request("waits"));
            }
            TestGate gate = new TestGate(cap, Limits.of(1));
            Request withdrawn = gate.request("withdrawn");
            gate.tryEnter(withdrawn);
            gate.tryWithdraw(withdrawn);
            left.add(gate);
        }

        assertThat(left).filteredOn(gate -> gate.nextReady != null).hasSizeLessThan(100);

        for (TestGate expected : waiting) {
            List<Request> granted = running.gate.release(running, 1);
            assertThat(granted).hasSize(1);
            running = granted.getFirst();
            assertThat(running.gate).isSameAs(expected);
        }
        running.gate.release(running);
        assertThat(cap.used()).isEqualTo(1);
        assertThat(left).allMatch(gate -> gate.nextReady == null);
    }

    @Test
    void a_permit_whose_cost_exceeds_the_cap_takes_all_of_it() {
        FairCap cap = new FairCap(3, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(9));
        Request narrow = gate.request("narrow");
        Request huge = gate.request("huge", 100, 0);
        gate.tryEnter(narrow);
        assertThat(gate.tryEnter(huge)).isEqualTo(WAITING);

        assertThat(gate.release(narrow)).containsExactly(huge);
        assertThat(huge.taken).isEqualTo(3);
        assertThat(cap.used()).isEqualTo(3);
        gate.release(huge);
        assertThat(cap.used()).isZero();
    }

    @Test
    void a_cap_that_grows_while_a_wide_permit_enters_does_not_let_it_exceed_its_gate() {
        FairCap cap = new FairCap(3, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(4));
        gate.tryEnter(gate.request("holder"));

        // with the holder, 3 slots fit into the gate and 4 do not
        gate.tryEnterAndServe(new CapRaisingRequest(gate, cap, 4));

        assertThat(gate.slotsTaken()).isLessThanOrEqualTo(4);
    }

    /** Raises the cap after the check that the permit fits, and before it takes its slots. */
    private static final class CapRaisingRequest extends Request {
        private final FairCap cap;
        private int costReads;

        CapRaisingRequest(TestGate gate, FairCap cap, int cost) {
            super(gate, "grows", cost, 0);
            this.cap = cap;
        }

        @Override
        protected int cost() {
            if (costReads++ == 3) {
                cap.setMax(100);
            }
            return super.cost();
        }
    }

    @Test
    void a_higher_cap_takes_effect_at_once_and_a_lower_one_as_permits_are_released() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(9));
        List<Request> requests = enterAll(gate, 6);

        cap.setMax(4);
        assertThat(cap.max()).isEqualTo(4);
        assertThat(gate.serve(new GrantedPermits())).containsExactlyElementsOf(requests.subList(1, 4));

        cap.setMax(2);
        assertThat(gate.release(requests.get(0))).isEmpty();
        assertThat(gate.release(requests.get(1))).isEmpty();
        assertThat(cap.used()).isEqualTo(2);
        assertThat(gate.release(requests.get(2))).containsExactly(requests.get(4));
        assertThat(cap.used()).isEqualTo(2);

        cap.setMax(FairCap.UNLIMITED);
        assertThat(gate.serve(new GrantedPermits())).containsExactly(requests.get(5));
    }

    @Test
    void a_new_cap_counts_running_permits_once_and_their_release_frees_as_many_slots() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(3));
        TestGate other = new TestGate(cap, Limits.of(3));
        List<Request> ones = enterAll(one, 3);
        List<Request> others = enterAll(other, 2);
        assertThat(cap.used()).as("slots are not counted without a cap").isZero();

        cap.setMax(4);
        one.recountAndServe();
        one.recountAndServe();
        other.recountAndServe();
        assertThat(cap.used()).isEqualTo(5);
        assertThat(other.tryEnter(other.request("late"))).isEqualTo(WAITING);

        assertThat(one.release(ones.get(0))).as("4 of 4 are held").isEmpty();
        assertThat(other.release(others.get(0))).hasSize(1);
        assertThat(cap.used()).isEqualTo(4);

        one.release(ones.get(1));
        one.release(ones.get(2));
        other.release(others.get(1));
        assertThat(cap.used()).isEqualTo(1);
    }

    @Test
    void a_gate_that_adopts_the_cap_late_counts_its_running_permits_before_the_first_release() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(3));
        List<Request> held = enterAll(gate, 3);

        cap.setMax(2);
        gate.release(held.get(0));
        assertThat(cap.used()).isEqualTo(2);

        gate.release(held.get(1));
        gate.release(held.get(2));
        assertThat(cap.used()).isZero();
    }

    @Test
    void permits_that_waited_at_their_gate_before_the_cap_are_granted_by_the_cap() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(2));
        List<Request> requests = enterAll(gate, 5);

        cap.setMax(1);
        assertThat(gate.recountAndServe()).isEmpty();
        assertThat(gate.release(requests.get(0))).as("one permit is still held").isEmpty();
        assertThat(gate.release(requests.get(1))).containsExactly(requests.get(2));
        assertThat(gate.release(requests.get(2))).containsExactly(requests.get(3));
        assertThat(gate.release(requests.get(3))).containsExactly(requests.get(4));
    }

    @Test
    void a_gate_without_waiting_permits_is_skipped() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(1));
        TestGate emptied = new TestGate(cap, Limits.of(1));
        TestGate paused = new TestGate(cap, Limits.of(1));
        TestGate last = new TestGate(cap, Limits.of(1));
        Request a = one.request("a");
        Request b = emptied.request("b");
        Request c = paused.request("c");
        Request d = last.request("d");
        one.tryEnter(a);
        emptied.tryEnter(b);
        paused.tryEnter(c);
        last.tryEnter(d);

        emptied.withdrawWaiting(b);
        paused.setPaused(true);
        assertThat(paused.firstWaitsForCap()).isFalse();
        assertThat(one.release(a)).containsExactly(d);

        last.release(d);
        assertThat(paused.setPaused(false)).as("the gate returns to the line").containsExactly(c);
        assertThat(emptied.tryEnter(emptied.request("again"))).isEqualTo(WAITING);
    }

    @Test
    void a_slot_reserved_for_a_wide_permit_that_is_withdrawn_goes_to_the_others() {
        FairCap cap = new FairCap(2, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(9));
        TestGate other = new TestGate(cap, Limits.of(9));
        Request a = one.request("a");
        Request wide = one.request("wide", 2, 0);
        Request b = other.request("b");
        List.of(a, wide).forEach(one::tryEnter);
        assertThat(other.tryEnter(b)).isEqualTo(WAITING);

        assertThat(one.withdrawWaiting(wide)).containsExactly(b);
    }

    @Test
    void a_flood_at_one_gate_does_not_delay_another() {
        FairCap cap = new FairCap(4, FairCap.UNLIMITED);
        TestGate flood = new TestGate(cap, Limits.of(1_000_000));
        TestGate quiet = new TestGate(cap, Limits.of(9));
        List<Request> running = new ArrayList<>(enterAll(flood, 10_000).subList(0, 4));
        for (int i = 0; i < 500; i++) {
            running.addAll(flood.release(running.removeFirst(), 1L << 20));
        }

        Request first = quiet.request("first");
        assertThat(quiet.tryEnter(first)).isEqualTo(WAITING);
        assertThat(flood.release(running.removeFirst(), 1L << 20)).containsExactly(first);
    }

    @Test
    void a_returning_gate_gets_half_of_the_cap_before_the_others_continue_and_then_its_share() {
        FairCap cap = new FairCap(8, FairCap.UNLIMITED);
        TestGate flood = new TestGate(cap, Limits.of(1_000_000));
        TestGate returning = new TestGate(cap, Limits.of(1_000_000));
        List<Request> running = new ArrayList<>(enterAll(flood, 1_000).subList(0, 8));
        for (int i = 0; i < 100; i++) {
            running.addAll(flood.release(running.removeFirst(), 1L << 20));
        }
        enterAll(returning, 100);

        List<TestGate> order = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Request ends = running.removeFirst();
            List<Request> next = ends.gate.release(ends, 1L << 20);
            running.addAll(next);
            assertThat(next).hasSize(1);
            order.add(next.getFirst().gate);
        }

        long burst = order.stream().takeWhile(gate -> gate == returning).count();
        assertThat(burst)
                .as("half of the cap, and one or two grants that precede the next one of the flood anyway")
                .isBetween(4L, 6L);
        List<TestGate> later = order.subList((int) burst, order.size());
        for (int i = 2; i < later.size(); i++) {
            assertThat(later.subList(i - 2, i + 1))
                    .as("afterwards no gate gets three grants in a row")
                    .contains(flood, returning);
        }
    }

    @Test
    void long_run_shares_are_proportional_to_weights_whatever_the_run_times() {
        Simulation simulation = new Simulation(8);
        simulation.add(1, () -> 2 * MILLI);
        simulation.add(2, () -> 20 * MILLI);
        simulation.add(3, () -> 5 * MILLI);
        simulation.run(20_000 * MILLI);

        assertThat(simulation.share(0)).isCloseTo(1 / 6.0, within(0.02 / 6));
        assertThat(simulation.share(1)).isCloseTo(2 / 6.0, within(0.02 * 2 / 6));
        assertThat(simulation.share(2)).isCloseTo(3 / 6.0, within(0.02 * 3 / 6));
    }

    @Test
    void shares_are_proportional_although_run_times_are_random() {
        Simulation simulation = new Simulation(4);
        Random random = new Random(7);
        simulation.add(1, () -> (long) (random.nextDouble() < 0.05 ? 100 * MILLI : MILLI * random.nextDouble()));
        simulation.add(1, () -> 3 * MILLI);
        simulation.run(100_000 * MILLI);

        assertThat(simulation.share(0)).isCloseTo(0.5, within(0.01));
    }

    @Test
    void a_wide_permit_is_charged_for_every_slot_it_takes() {
        Simulation simulation = new Simulation(6);
        simulation.add(1, () -> 4 * MILLI, 3);
        simulation.add(1, () -> 4 * MILLI, 1);
        simulation.run(20_000 * MILLI);

        assertThat(simulation.share(0)).isCloseTo(0.5, within(0.01));
    }

    @Test
    void many_gates_share_equally() {
        Simulation simulation = new Simulation(16);
        for (int i = 0; i < 100; i++) { // more than the initial capacity of the heap
            int length = 1 + i % 7;
            simulation.add(1, () -> length * MILLI);
        }
        simulation.run(40_000 * MILLI);

        for (int i = 0; i < 100; i++) {
            assertThat(simulation.share(i)).isCloseTo(0.01, within(0.0002));
        }
    }

    @Test
    void serve_returns_a_batch_of_grants_and_whether_there_are_more() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate gate = new TestGate(cap, Limits.of(1_000));
        enterAll(gate, 301);
        cap.setMax(1_000);
        GrantedPermits grants = new GrantedPermits();
        List<Integer> batches = new ArrayList<>();
        boolean more;
        do {
            more = cap.serve(grants);
            batches.add(grants.size());
            while (grants.poll() != null) {
                // all grants are consumed
            }
        } while (more);

        assertThat(batches.stream().mapToInt(size -> size).sum()).isEqualTo(300);
        assertThat(batches).allMatch(size -> size <= 64);
        assertThat(batches.getFirst()).isEqualTo(64);
        assertThat(cap.used()).isEqualTo(301);
        assertThat(cap.serve(grants)).as("no permit is left").isFalse();
    }

    @Test
    void pace_is_a_power_of_two_that_is_never_more_than_the_time() {
        assertThat(FairLine.pace(0)).isEqualTo((byte) 1);
        assertThat(FairLine.pace(-5)).isEqualTo((byte) 1);
        assertThat(FairLine.pace(1_000_000)).isEqualTo((byte) 19);
        assertThat(FairLine.pace(1 << 20)).isEqualTo((byte) 20);
        assertThat(FairLine.pace(Long.MAX_VALUE)).isEqualTo((byte) 42);
        assertThat(1L << FairLine.pace(Long.MAX_VALUE)).isEqualTo(FairLine.LONGEST_RUN);
    }

    @Test
    void virtual_times_stay_comparable_after_runs_of_any_length() {
        FairCap cap = new FairCap(1, FairCap.UNLIMITED);
        TestGate one = new TestGate(cap, Limits.of(1));
        TestGate other = new TestGate(cap, Limits.of(1));
        Request a = one.request("a");
        one.tryEnter(a);
        for (int i = 0; i < 100; i++) {
            Request b = other.request("b" + i);
            Request next = one.request("a" + i);
            other.tryEnter(b);
            one.tryEnter(next);
            assertThat(one.release(a, Long.MAX_VALUE)).hasSize(1);
            Request running = b.grants == 1 ? b : next;
            Request later = running == b ? next : b;
            assertThat(running.gate.release(running, 1)).containsExactly(later);
            a = one.request("again" + i);
            one.tryEnter(a);
            later.gate.release(later, 1);
        }
        assertThat(cap.used()).isEqualTo(1);
    }

    @Test
    void threads_that_enter_release_and_withdraw_concurrently_lose_no_permit_and_exceed_no_limit() throws Exception {
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
                        switch (gate.tryEnterWithoutServing(request)) {
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
                        returned.addAndGet(releaseOne(cap, granted));
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
            returned.addAndGet(releaseOne(cap, granted));
        }

        assertThat(cap.used()).isZero();
        assertThat(gates).allMatch(TestGate::hasNoPermits);
        assertThat(refused.get() + withdrawn.get() + returned.get()).isEqualTo(threads * rounds);
        assertThat(returned).hasPositiveValue();
    }

    private static int releaseOne(FairCap cap, ConcurrentLinkedQueue<Request> granted) {
        Request oldest = granted.poll();
        if (oldest == null) {
            return 0;
        }
        GrantedPermits grants = new GrantedPermits();
        oldest.gate.lock();
        try {
            oldest.gate.leave(oldest, MILLI, GrantedPermits.NO_TIME, grants);
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

    private static List<Request> enterAll(TestGate gate, int count) {
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requests.add(gate.request("r" + i));
            gate.tryEnter(requests.get(i));
        }
        return requests;
    }

    /** Simulates gates that always have waiting permits. Time advances from the end of one run to the next. */
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
                begin(run.request.gate.release(run.request, run.ends - run.began));
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
            return gate.tryEnterAndServe(gate.request("r", costs.get(index), 0));
        }

        private void begin(List<Request> granted) {
            for (Request request : granted) {
                long length = lengths.get(gates.indexOf(request.gate)).getAsLong();
                runs.add(new Run(request, now, now + Math.max(1, length)));
            }
        }

        private void check() { // called often, so messages are built only on failure
            int running = runs.stream().mapToInt(run -> run.request.taken).sum();
            int widest = costs.stream().mapToInt(cost -> cost).max().orElseThrow();
            if (cap.used() != running || running > cap.max() || running <= cap.max() - widest) {
                throw new AssertionError(running + " slots are taken and work is waiting, " + cap);
            }
        }
    }
}
