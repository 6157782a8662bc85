package dev.raddle.kernel;

import static dev.raddle.kernel.Gate.Entry.BULKHEAD_FULL;
import static dev.raddle.kernel.Gate.Entry.COMMON_QUEUE_FULL;
import static dev.raddle.kernel.Gate.Entry.HELD;
import static dev.raddle.kernel.Gate.Entry.QUEUE_FULL;
import static dev.raddle.kernel.Gate.Entry.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.raddle.kernel.TestGate.Limits;
import dev.raddle.kernel.TestGate.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GateTest {

    @Test
    void permits_are_held_up_to_the_limit_and_wait_beyond_it_in_order_of_arrival() {
        TestGate gate = new TestGate(Limits.of(2));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        Request d = gate.request("d");

        assertThat(gate.ask(a)).isEqualTo(HELD);
        assertThat(gate.ask(b)).isEqualTo(HELD);
        assertThat(gate.ask(c)).isEqualTo(WAITING);
        assertThat(gate.ask(d)).isEqualTo(WAITING);
        assertThat(gate.slotsTaken()).isEqualTo(2);
        assertThat(gate.queued()).isEqualTo(2);
        assertThat(gate.holders()).containsExactly(a, b);

        assertThat(gate.giveBack(b)).containsExactly(c);
        assertThat(gate.giveBack(a)).containsExactly(d);
        assertThat(gate.holders()).containsExactly(c, d);
        assertThat(gate.giveBack(c)).isEmpty();
        assertThat(gate.giveBack(d)).isEmpty();
        assertThat(gate.nothingHere()).isTrue();
    }

    @Test
    void giving_back_twice_frees_one_slot() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        gate.ask(a);
        gate.ask(b);
        gate.ask(c);

        assertThat(gate.giveBack(a)).containsExactly(b);
        assertThat(gate.giveBack(a)).isEmpty();
        assertThat(gate.giveBack(c)).as("c waits, it holds nothing").isEmpty();

        assertThat(gate.slotsTaken()).isEqualTo(1);
        assertThat(gate.queued()).isEqualTo(1);
    }

    @Test
    void a_permit_that_has_left_the_queue_is_never_granted() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request first = gate.request("first");
        Request middle = gate.request("middle");
        Request last = gate.request("last");
        Request stays = gate.request("stays");
        List.of(a, first, middle, stays, last).forEach(gate::ask);

        assertThat(gate.abandon(middle)).isEmpty();
        assertThat(gate.abandon(first)).isEmpty();
        assertThat(gate.abandon(last)).isEmpty();
        assertThat(gate.queued()).isEqualTo(1);
        assertThat(gate.tryAbandon(middle)).as("left before").isFalse();
        assertThat(gate.tryAbandon(a)).as("holds").isFalse();

        assertThat(gate.giveBack(a)).containsExactly(stays);
        assertThat(gate.giveBack(stays)).isEmpty();
        assertThat(gate.nothingHere()).isTrue();
        assertThat(first.grants + middle.grants + last.grants).isZero();
    }

    @Test
    void a_permit_may_enter_again_after_it_was_given_back_or_withdrawn() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        gate.ask(a);
        gate.ask(b);
        gate.abandon(b);

        assertThat(gate.ask(b)).isEqualTo(WAITING);
        assertThat(gate.giveBack(a)).containsExactly(b);
        assertThat(gate.ask(a)).isEqualTo(WAITING);
        assertThat(gate.giveBack(b)).containsExactly(a);
    }

    @Test
    void no_more_than_the_allowed_number_waits() {
        TestGate gate = new TestGate(Limits.of(1).waiting(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");

        assertThat(gate.ask(a)).isEqualTo(HELD);
        assertThat(gate.ask(b)).isEqualTo(WAITING);
        assertThat(gate.ask(c)).isEqualTo(QUEUE_FULL);
        assertThat(gate.has(c)).isFalse();
        assertThat(gate.queues(c)).isFalse();

        gate.abandon(b);
        assertThat(gate.ask(c)).isEqualTo(WAITING);
    }

    @Test
    void with_no_room_to_wait_a_free_slot_is_still_given() {
        TestGate gate = new TestGate(Limits.of(1).waiting(0));
        for (int i = 0; i < 3; i++) {
            Request a = gate.request("a" + i);
            assertThat(gate.ask(a)).isEqualTo(HELD);
            assertThat(gate.ask(gate.request("b"))).isEqualTo(QUEUE_FULL);
            gate.giveBack(a);
        }
    }

    @Test
    void the_smaller_of_concurrency_and_bulkhead_is_in_force_and_the_refusal_tells_which() {
        TestGate gate = new TestGate(Limits.of(3).bulkhead(1).waiting(0));
        Request a = gate.request("a");
        gate.ask(a);
        assertThat(gate.ask(gate.request("b"))).isEqualTo(BULKHEAD_FULL);

        gate.limit(Limits.of(1).bulkhead(3).waiting(0));
        assertThat(gate.ask(gate.request("b"))).isEqualTo(QUEUE_FULL);

        gate.limit(Limits.of(1).bulkhead(1).waiting(0));
        assertThat(gate.ask(gate.request("b"))).isEqualTo(QUEUE_FULL);

        gate.limit(Limits.of(3).bulkhead(2).waiting(0));
        gate.paused(true);
        assertThat(gate.ask(gate.request("b"))).as("the bulkhead has room").isEqualTo(QUEUE_FULL);
    }

    @Test
    void the_common_queue_is_bounded_over_all_gates_and_a_place_in_it_is_freed_by_grant_withdrawal_and_drain() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, 2);
        TestGate one = new TestGate(cap, Limits.of(1));
        TestGate other = new TestGate(cap, Limits.of(1));
        Request a = one.request("a");
        Request b = one.request("b");
        Request c = other.request("c");
        Request d = other.request("d");
        one.ask(a);
        other.ask(c);
        assertThat(one.ask(b)).isEqualTo(WAITING);
        assertThat(other.ask(d)).isEqualTo(WAITING);

        Request e = other.request("e");
        assertThat(other.ask(e)).isEqualTo(COMMON_QUEUE_FULL);
        one.giveBack(a);
        assertThat(other.ask(e)).as("b was granted").isEqualTo(WAITING);

        Request f = one.request("f");
        assertThat(one.ask(f)).isEqualTo(COMMON_QUEUE_FULL);
        other.abandon(d);
        assertThat(one.ask(f)).as("d has left").isEqualTo(WAITING);

        Request g = one.request("g");
        assertThat(one.ask(g)).isEqualTo(COMMON_QUEUE_FULL);
        assertThat(other.forget()).containsExactly(e);
        assertThat(one.ask(g)).as("e was drained").isEqualTo(WAITING);
        assertThat(one.ask(one.request("h"))).isEqualTo(COMMON_QUEUE_FULL);
    }

    @Test
    void the_higher_priority_goes_first_and_equals_go_in_order_of_arrival() {
        TestGate gate = new TestGate(Limits.of(1));
        Request holder = gate.request("holder");
        gate.ask(holder);
        int[] priorities = {0, -1, 5, 0, Integer.MIN_VALUE, 5, Integer.MAX_VALUE, -1, 0};
        List<Request> asked = new ArrayList<>();
        for (int i = 0; i < priorities.length; i++) {
            asked.add(gate.request("p" + priorities[i] + "#" + i, 1, priorities[i]));
            gate.ask(asked.get(i));
        }
        List<Request> expected = new ArrayList<>(asked);
        expected.sort(Comparator.comparingInt((Request request) -> request.priority)
                .reversed()); // a stable sort: arrival decides between equals

        for (int place = 0; place < expected.size(); place++) {
            assertThat(gate.place(expected.get(place)))
                    .as("%s", expected.get(place))
                    .isEqualTo(place);
        }
        List<Request> granted = new ArrayList<>(gate.giveBack(holder));
        while (!granted.getLast().name.equals(expected.getLast().name)) {
            granted.addAll(gate.giveBack(granted.getLast()));
        }
        assertThat(granted).containsExactlyElementsOf(expected);
    }

    @Test
    void those_who_wait_are_counted_from_the_front_also_when_nobody_has_a_priority() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        List.of(gate.request("holder"), a, b, c).forEach(gate::ask);

        assertThat(gate.place(a)).isZero();
        assertThat(gate.place(b)).isEqualTo(1);
        assertThat(gate.place(c)).isEqualTo(2);
        gate.abandon(b);
        assertThat(gate.place(c)).isEqualTo(1);
    }

    @Test
    void the_queue_is_empty_when_the_last_of_every_priority_has_left() {
        TestGate gate = new TestGate(Limits.of(1));
        Request holder = gate.request("holder");
        Request low = gate.request("low", 1, -3);
        Request high = gate.request("high", 1, 3);
        Request zero = gate.request("zero");
        List.of(holder, low, high, zero).forEach(gate::ask);

        gate.abandon(high);
        gate.abandon(zero);
        gate.abandon(low);
        assertThat(gate.queued()).isZero();

        assertThat(gate.ask(zero)).isEqualTo(WAITING);
        assertThat(gate.ask(high)).isEqualTo(WAITING);
        assertThat(gate.giveBack(holder)).containsExactly(high);
        assertThat(gate.giveBack(high)).containsExactly(zero);
    }

    @Test
    void a_newcomer_of_higher_priority_may_pass_those_who_wait_for_more_slots_than_there_are() {
        TestGate gate = new TestGate(Limits.of(2));
        gate.ask(gate.request("holder"));
        Request wide = gate.request("wide", 2, 0);
        assertThat(gate.ask(wide)).isEqualTo(WAITING);

        assertThat(gate.ask(gate.request("equal"))).isEqualTo(WAITING);
        assertThat(gate.ask(gate.request("lower", 1, -1))).isEqualTo(WAITING);
        assertThat(gate.ask(gate.request("higher", 1, 1))).isEqualTo(HELD);
    }

    @Test
    void a_cost_is_taken_and_given_back_as_a_whole() {
        TestGate gate = new TestGate(Limits.of(4));
        Request three = gate.request("three", 3, 0);
        Request two = gate.request("two", 2, 0);
        Request one = gate.request("one");

        assertThat(gate.ask(three)).isEqualTo(HELD);
        assertThat(gate.ask(two)).as("one slot is free, and it needs two").isEqualTo(WAITING);
        assertThat(gate.ask(one)).as("it does not overtake").isEqualTo(WAITING);
        assertThat(gate.slotsTaken()).isEqualTo(3);

        assertThat(gate.giveBack(three)).containsExactly(two, one);
        assertThat(gate.slotsTaken()).isEqualTo(3);
        assertThat(two.taken).isEqualTo(2);
    }

    @Test
    void one_that_asks_for_more_than_there_is_takes_all_there_is() {
        TestGate gate = new TestGate(Limits.of(3));
        Request huge = gate.request("huge", Integer.MAX_VALUE, 0);
        Request also = gate.request("also", 4, 0);

        assertThat(gate.ask(huge)).isEqualTo(HELD);
        assertThat(huge.taken).isEqualTo(3);
        assertThat(gate.ask(also)).isEqualTo(WAITING);
        assertThat(gate.giveBack(huge)).containsExactly(also);
        assertThat(also.taken).isEqualTo(3);

        gate.giveBack(also);
        assertThat(gate.slotsTaken()).isZero();
    }

    @Test
    void slots_that_were_taken_are_given_back_although_the_limit_has_changed_meanwhile() {
        TestGate gate = new TestGate(Limits.of(4));
        Request wide = gate.request("wide", 4, 0);
        gate.ask(wide);

        gate.limit(Limits.of(2));
        gate.giveBack(wide);

        assertThat(gate.slotsTaken()).isZero();
        assertThat(gate.ask(gate.request("next", 4, 0))).isEqualTo(HELD);
        assertThat(gate.slotsTaken()).isEqualTo(2);
    }

    @Test
    void when_a_wide_permit_leaves_the_head_of_the_queue_those_behind_it_move_up_at_once() {
        TestGate gate = new TestGate(Limits.of(2));
        gate.ask(gate.request("holder"));
        Request wide = gate.request("wide", 2, 0);
        Request narrow = gate.request("narrow");
        Request next = gate.request("next");
        List.of(wide, narrow, next).forEach(gate::ask);

        assertThat(gate.abandon(wide)).containsExactly(narrow);
        assertThat(gate.queued()).isEqualTo(1);
    }

    @Test
    void a_higher_limit_takes_effect_at_once_and_a_lower_one_by_attrition() {
        TestGate gate = new TestGate(Limits.of(1));
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            requests.add(gate.request("r" + i));
            gate.ask(requests.get(i));
        }

        assertThat(gate.limit(Limits.of(4))).containsExactlyElementsOf(requests.subList(1, 4));
        assertThat(gate.limits()).isEqualTo(Limits.of(4));

        assertThat(gate.limit(Limits.of(2))).isEmpty();
        assertThat(gate.giveBack(requests.get(0))).as("3 of 2 run").isEmpty();
        assertThat(gate.giveBack(requests.get(1))).as("2 of 2 run").isEmpty();
        assertThat(gate.giveBack(requests.get(2))).containsExactly(requests.get(4));
        assertThat(gate.slotsTaken()).isEqualTo(2);
    }

    @Test
    void nothing_is_granted_while_paused_and_as_much_as_may_run_afterwards() {
        TestGate gate = new TestGate(Limits.of(2));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        Request d = gate.request("d");
        gate.ask(a);

        gate.paused(true);
        assertThat(gate.stopped()).isTrue();
        assertThat(gate.ask(b)).isEqualTo(WAITING);
        assertThat(gate.ask(c)).isEqualTo(WAITING);
        assertThat(gate.ask(d)).isEqualTo(WAITING);
        assertThat(gate.giveBack(a)).isEmpty();

        assertThat(gate.paused(false)).containsExactly(b, c);
        assertThat(gate.stopped()).isFalse();
    }

    @Test
    void before_the_limits_are_known_permits_pile_up_and_then_enter_in_order() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, 1);
        TestGate gate = new TestGate(cap, Limits.UNKNOWN);
        List<Request> early = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            early.add(gate.request("e" + i));
            assertThat(gate.ask(early.get(i))).isEqualTo(WAITING);
        }
        Request urgent = gate.request("urgent", 1, 1);
        gate.ask(urgent);
        TestGate elsewhere = new TestGate(cap, Limits.of(1));
        elsewhere.ask(elsewhere.request("holder"));
        assertThat(elsewhere.ask(elsewhere.request("waiter")))
                .as("those who do not know their limits have no place in the common queue")
                .isEqualTo(WAITING);

        Map<Permit, Gate.Entry> refused = new LinkedHashMap<>();
        assertThat(gate.settleOn(Limits.of(2).waiting(1), refused)).containsExactly(urgent, early.get(0));

        assertThat(refused)
                .as("the only place in the common queue is taken")
                .containsOnly(
                        entry(early.get(1), COMMON_QUEUE_FULL),
                        entry(early.get(2), COMMON_QUEUE_FULL),
                        entry(early.get(3), COMMON_QUEUE_FULL));
        assertThat(gate.queued()).isZero();
    }

    @Test
    void settling_refuses_those_for_whom_there_is_no_room_to_wait() {
        TestGate gate = new TestGate(Limits.UNKNOWN);
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        List.of(a, b, c).forEach(gate::ask);

        Map<Permit, Gate.Entry> refused = new LinkedHashMap<>();
        assertThat(gate.settleOn(Limits.of(1).waiting(1), refused)).containsExactly(a);

        assertThat(refused).containsOnly(entry(c, QUEUE_FULL));
        assertThat(gate.queues(b)).isTrue();
        assertThat(gate.giveBack(a)).containsExactly(b);
    }

    @Test
    void what_runs_counts_against_the_limits_found_after_the_old_ones_were_forgotten() {
        TestGate gate = new TestGate(Limits.of(2));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        List.of(a, b, c).forEach(gate::ask);

        assertThat(gate.forget()).containsExactly(c);
        Request d = gate.request("d");
        Request e = gate.request("e");
        assertThat(gate.ask(d)).isEqualTo(WAITING);
        assertThat(gate.ask(e)).isEqualTo(WAITING);

        assertThat(gate.settleOn(Limits.of(2))).isEmpty();
        assertThat(gate.giveBack(a)).containsExactly(d);
        assertThat(gate.giveBack(b)).containsExactly(e);
    }

    @Test
    void draining_takes_everybody_out_in_the_order_in_which_they_would_have_been_granted() {
        TestGate gate = new TestGate(Limits.of(1));
        Request holder = gate.request("holder");
        Request a = gate.request("a");
        Request high = gate.request("high", 1, 7);
        Request low = gate.request("low", 1, -7);
        Request b = gate.request("b");
        List.of(holder, low, a, high, b).forEach(gate::ask);

        assertThat(gate.forget()).containsExactly(high, a, b, low);

        assertThat(gate.queued()).isZero();
        assertThat(gate.has(holder)).isTrue();
        assertThat(gate.giveBack(holder)).isEmpty();
        assertThat(gate.nothingHere()).isTrue();
    }

    @Test
    void a_gate_with_no_cap_never_waits_for_one() {
        TestGate gate = new TestGate(Limits.of(1));
        gate.ask(gate.request("a"));
        gate.ask(gate.request("b"));

        assertThat(gate.firstWaitsForCap()).isFalse();
        gate.count();
        assertThat(gate.cap().used()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatever_happens_a_gate_does_what_a_sorted_list_would_do(long seed) {
        Random random = new Random(seed);
        TestGate gate = new TestGate(Limits.of(3));
        Model model = new Model();
        List<Request> known = new ArrayList<>();
        for (int step = 0; step < 4_000; step++) {
            Request some = known.isEmpty() ? null : known.get(random.nextInt(known.size()));
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3, 4 -> {
                    Request request = gate.request(
                            "r" + step,
                            random.nextInt(4) == 0 ? 1 + random.nextInt(5) : 1,
                            random.nextInt(4) == 0 ? random.nextInt(5) - 2 : 0);
                    known.add(request);
                    assertThat(gate.ask(request)).isEqualTo(model.ask(request));
                }
                case 5, 6, 7, 8 -> {
                    if (some != null) {
                        assertThat(gate.giveBack(some)).containsExactlyElementsOf(model.giveBack(some));
                    }
                }
                case 9 -> {
                    if (some != null && gate.queues(some)) {
                        assertThat(gate.abandon(some)).containsExactlyElementsOf(model.abandon(some));
                    }
                }
                case 10 -> {
                    int limit = 1 + random.nextInt(6);
                    int room = random.nextInt(8);
                    assertThat(gate.limit(Limits.of(limit).waiting(room)))
                            .containsExactlyElementsOf(model.limit(limit, room));
                }
                default -> {
                    boolean pause = random.nextInt(3) == 0;
                    assertThat(gate.paused(pause)).containsExactlyElementsOf(model.pause(pause));
                }
            }
            assertThat(gate.queued()).isEqualTo(model.waiting.size());
            assertThat(gate.holders()).containsExactlyElementsOf(model.held);
        }
        assertThat(known.stream().mapToInt(request -> request.grants)).allMatch(grants -> grants <= 1);
    }

    /** What a gate without a cap should do, told as simply as possible. */
    private static final class Model {
        final List<Request> held = new ArrayList<>();
        final List<Request> waiting = new ArrayList<>();
        int limit = 3;
        int room = Integer.MAX_VALUE;
        boolean paused;

        Gate.Entry ask(Request request) {
            boolean first = waiting.isEmpty() || request.priority > waiting.getFirst().priority;
            if (first && fits(request)) {
                held.add(request);
                return HELD;
            }
            if (waiting.size() >= room) {
                return QUEUE_FULL;
            }
            waiting.add(request);
            waiting.sort(Comparator.comparingInt((Request other) -> -other.priority));
            return WAITING;
        }

        List<Request> giveBack(Request request) {
            return held.remove(request) ? advance() : List.of();
        }

        List<Request> abandon(Request request) {
            waiting.remove(request);
            return advance();
        }

        List<Request> limit(int slots, int most) {
            limit = slots;
            room = most;
            return advance();
        }

        List<Request> pause(boolean pause) {
            paused = pause;
            return advance();
        }

        private boolean fits(Request request) {
            int running = held.stream().mapToInt(other -> other.taken).sum();
            return !paused && running + Math.min(request.cost, limit) <= limit;
        }

        private List<Request> advance() {
            List<Request> granted = new ArrayList<>();
            while (!waiting.isEmpty() && fits(waiting.getFirst())) {
                Request next = waiting.removeFirst();
                held.add(next);
                granted.add(next);
                next.taken = Math.min(next.cost, limit);
            }
            return granted;
        }
    }

    @Test
    void steps_without_the_lock_are_refused_where_assertions_are_on() {
        TestGate gate = new TestGate(Limits.of(1));
        Request request = gate.request("a");

        assertThatThrownBy(() -> gate.enter(request)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(gate::drain).isInstanceOf(AssertionError.class);
    }
}
