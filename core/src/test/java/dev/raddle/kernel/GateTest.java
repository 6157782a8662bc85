package dev.raddle.kernel;

import static dev.raddle.kernel.Entry.COMMON_QUEUE_FULL;
import static dev.raddle.kernel.Entry.HELD;
import static dev.raddle.kernel.Entry.QUEUE_FULL;
import static dev.raddle.kernel.Entry.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.raddle.kernel.TestGate.Limits;
import dev.raddle.kernel.TestGate.Request;
import dev.raddle.task.WaitReason;
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

        assertThat(gate.tryEnter(a)).isEqualTo(HELD);
        assertThat(gate.tryEnter(b)).isEqualTo(HELD);
        assertThat(gate.tryEnter(c)).isEqualTo(WAITING);
        assertThat(gate.tryEnter(d)).isEqualTo(WAITING);
        assertThat(gate.slotsTaken()).isEqualTo(2);
        assertThat(gate.queued()).isEqualTo(2);
        assertThat(gate.holders()).containsExactly(a, b);

        assertThat(gate.release(b)).containsExactly(c);
        assertThat(gate.release(a)).containsExactly(d);
        assertThat(gate.holders()).containsExactly(c, d);
        assertThat(gate.release(c)).isEmpty();
        assertThat(gate.release(d)).isEmpty();
        assertThat(gate.hasNoPermits()).isTrue();
    }

    @Test
    void releasing_twice_frees_one_slot() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        gate.tryEnter(a);
        gate.tryEnter(b);
        gate.tryEnter(c);

        assertThat(gate.release(a)).containsExactly(b);
        assertThat(gate.release(a)).isEmpty();
        assertThat(gate.release(c)).as("c waits and holds no slot").isEmpty();

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
        List.of(a, first, middle, stays, last).forEach(gate::tryEnter);

        assertThat(gate.withdrawWaiting(middle)).isEmpty();
        assertThat(gate.withdrawWaiting(first)).isEmpty();
        assertThat(gate.withdrawWaiting(last)).isEmpty();
        assertThat(gate.queued()).isEqualTo(1);
        assertThat(gate.tryWithdraw(middle)).as("withdrawn before").isFalse();
        assertThat(gate.tryWithdraw(a)).as("held, not waiting").isFalse();

        assertThat(gate.release(a)).containsExactly(stays);
        assertThat(gate.release(stays)).isEmpty();
        assertThat(gate.hasNoPermits()).isTrue();
        assertThat(first.grants + middle.grants + last.grants).isZero();
    }

    @Test
    void a_permit_may_enter_again_after_it_was_released_or_withdrawn() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        gate.tryEnter(a);
        gate.tryEnter(b);
        gate.withdrawWaiting(b);

        assertThat(gate.tryEnter(b)).isEqualTo(WAITING);
        assertThat(gate.release(a)).containsExactly(b);
        assertThat(gate.tryEnter(a)).isEqualTo(WAITING);
        assertThat(gate.release(b)).containsExactly(a);
    }

    @Test
    void the_number_of_waiting_permits_is_limited() {
        TestGate gate = new TestGate(Limits.of(1).waiting(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");

        assertThat(gate.tryEnter(a)).isEqualTo(HELD);
        assertThat(gate.tryEnter(b)).isEqualTo(WAITING);
        assertThat(gate.tryEnter(c)).isEqualTo(QUEUE_FULL);
        assertThat(gate.holds(c)).isFalse();
        assertThat(gate.isQueued(c)).isFalse();

        gate.withdrawWaiting(b);
        assertThat(gate.tryEnter(c)).isEqualTo(WAITING);
    }

    @Test
    void without_a_queue_a_free_slot_is_still_granted() {
        TestGate gate = new TestGate(Limits.of(1).waiting(0));
        for (int i = 0; i < 3; i++) {
            Request a = gate.request("a" + i);
            assertThat(gate.tryEnter(a)).isEqualTo(HELD);
            assertThat(gate.tryEnter(gate.request("b"))).isEqualTo(QUEUE_FULL);
            gate.release(a);
        }
    }

    @Test
    void the_smaller_of_concurrency_and_bulkhead_applies_and_the_refusal_names_it() {
        TestGate gate = new TestGate(Limits.of(3).bulkhead(1).waiting(0));
        Request a = gate.request("a");
        gate.tryEnter(a);
        Request b = gate.request("b");
        assertThat(gate.tryEnter(b)).isEqualTo(QUEUE_FULL);
        assertThat(gate.obstacleOf(b)).isEqualTo(WaitReason.BULKHEAD);

        gate.setLimits(Limits.of(1).bulkhead(3).waiting(0));
        assertThat(gate.tryEnter(b)).isEqualTo(QUEUE_FULL);
        assertThat(gate.obstacleOf(b)).isEqualTo(WaitReason.GROUP_LIMIT);

        gate.setLimits(Limits.of(1).bulkhead(1).waiting(0));
        assertThat(gate.tryEnter(b)).isEqualTo(QUEUE_FULL);
        assertThat(gate.obstacleOf(b)).isEqualTo(WaitReason.GROUP_LIMIT);

        gate.setLimits(Limits.of(3).bulkhead(2).waiting(0));
        gate.setPaused(true);
        assertThat(gate.tryEnter(b)).isEqualTo(QUEUE_FULL);
        assertThat(gate.obstacleOf(b)).as("the bulkhead is not full").isEqualTo(WaitReason.PAUSED);
    }

    @Test
    void the_common_queue_is_bounded_over_all_gates_and_a_grant_a_withdrawal_and_a_drain_free_a_place() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, 2);
        TestGate one = new TestGate(cap, Limits.of(1));
        TestGate other = new TestGate(cap, Limits.of(1));
        Request a = one.request("a");
        Request b = one.request("b");
        Request c = other.request("c");
        Request d = other.request("d");
        one.tryEnter(a);
        other.tryEnter(c);
        assertThat(one.tryEnter(b)).isEqualTo(WAITING);
        assertThat(other.tryEnter(d)).isEqualTo(WAITING);

        Request e = other.request("e");
        assertThat(other.tryEnter(e)).isEqualTo(COMMON_QUEUE_FULL);
        one.release(a);
        assertThat(other.tryEnter(e)).as("b was granted").isEqualTo(WAITING);

        Request f = one.request("f");
        assertThat(one.tryEnter(f)).isEqualTo(COMMON_QUEUE_FULL);
        other.withdrawWaiting(d);
        assertThat(one.tryEnter(f)).as("d was withdrawn").isEqualTo(WAITING);

        Request g = one.request("g");
        assertThat(one.tryEnter(g)).isEqualTo(COMMON_QUEUE_FULL);
        assertThat(other.drainAndUnbind()).containsExactly(e);
        assertThat(one.tryEnter(g)).as("e was drained").isEqualTo(WAITING);
        assertThat(one.tryEnter(one.request("h"))).isEqualTo(COMMON_QUEUE_FULL);
    }

    @Test
    void higher_priorities_go_first_and_equal_ones_go_in_order_of_arrival() {
        TestGate gate = new TestGate(Limits.of(1));
        Request holder = gate.request("holder");
        gate.tryEnter(holder);
        int[] priorities = {0, -1, 5, 0, Integer.MIN_VALUE, 5, Integer.MAX_VALUE, -1, 0};
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < priorities.length; i++) {
            requests.add(gate.request("p" + priorities[i] + "#" + i, 1, priorities[i]));
            gate.tryEnter(requests.get(i));
        }
        List<Request> expected = new ArrayList<>(requests);
        expected.sort(Comparator.comparingInt((Request request) -> request.priority)
                .reversed()); // a stable sort: equal priorities stay in order of arrival

        for (int index = 0; index < expected.size(); index++) {
            assertThat(gate.position(expected.get(index)))
                    .as("%s", expected.get(index))
                    .isEqualTo(index);
        }
        List<Request> granted = new ArrayList<>(gate.release(holder));
        while (!granted.getLast().name.equals(expected.getLast().name)) {
            granted.addAll(gate.release(granted.getLast()));
        }
        assertThat(granted).containsExactlyElementsOf(expected);
    }

    @Test
    void the_position_of_a_waiting_permit_counts_from_the_head_also_without_priorities() {
        TestGate gate = new TestGate(Limits.of(1));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        List.of(gate.request("holder"), a, b, c).forEach(gate::tryEnter);

        assertThat(gate.position(a)).isZero();
        assertThat(gate.position(b)).isEqualTo(1);
        assertThat(gate.position(c)).isEqualTo(2);
        gate.withdrawWaiting(b);
        assertThat(gate.position(c)).isEqualTo(1);
    }

    @Test
    void the_queue_is_empty_when_the_last_permit_of_each_priority_was_withdrawn() {
        TestGate gate = new TestGate(Limits.of(1));
        Request holder = gate.request("holder");
        Request low = gate.request("low", 1, -3);
        Request high = gate.request("high", 1, 3);
        Request zero = gate.request("zero");
        List.of(holder, low, high, zero).forEach(gate::tryEnter);

        gate.withdrawWaiting(high);
        gate.withdrawWaiting(zero);
        gate.withdrawWaiting(low);
        assertThat(gate.queued()).isZero();

        assertThat(gate.tryEnter(zero)).isEqualTo(WAITING);
        assertThat(gate.tryEnter(high)).isEqualTo(WAITING);
        assertThat(gate.release(holder)).containsExactly(high);
        assertThat(gate.release(high)).containsExactly(zero);
    }

    @Test
    void a_newcomer_of_higher_priority_may_overtake_permits_that_wait_for_more_slots_than_are_free() {
        TestGate gate = new TestGate(Limits.of(2));
        gate.tryEnter(gate.request("holder"));
        Request wide = gate.request("wide", 2, 0);
        assertThat(gate.tryEnter(wide)).isEqualTo(WAITING);

        assertThat(gate.tryEnter(gate.request("equal"))).isEqualTo(WAITING);
        assertThat(gate.tryEnter(gate.request("lower", 1, -1))).isEqualTo(WAITING);
        assertThat(gate.tryEnter(gate.request("higher", 1, 1))).isEqualTo(HELD);
    }

    @Test
    void all_slots_of_a_permit_are_acquired_and_released_together() {
        TestGate gate = new TestGate(Limits.of(4));
        Request three = gate.request("three", 3, 0);
        Request two = gate.request("two", 2, 0);
        Request one = gate.request("one");

        assertThat(gate.tryEnter(three)).isEqualTo(HELD);
        assertThat(gate.tryEnter(two)).as("one slot is free, and it needs two").isEqualTo(WAITING);
        assertThat(gate.tryEnter(one)).as("it does not overtake").isEqualTo(WAITING);
        assertThat(gate.slotsTaken()).isEqualTo(3);

        assertThat(gate.release(three)).containsExactly(two, one);
        assertThat(gate.slotsTaken()).isEqualTo(3);
        assertThat(two.taken).isEqualTo(2);
    }

    @Test
    void a_permit_whose_cost_exceeds_the_limit_takes_all_slots() {
        TestGate gate = new TestGate(Limits.of(3));
        Request huge = gate.request("huge", Integer.MAX_VALUE, 0);
        Request another = gate.request("another", 4, 0);

        assertThat(gate.tryEnter(huge)).isEqualTo(HELD);
        assertThat(huge.taken).isEqualTo(3);
        assertThat(gate.tryEnter(another)).isEqualTo(WAITING);
        assertThat(gate.release(huge)).containsExactly(another);
        assertThat(another.taken).isEqualTo(3);

        gate.release(another);
        assertThat(gate.slotsTaken()).isZero();
    }

    @Test
    void all_taken_slots_are_released_although_the_limit_has_changed_meanwhile() {
        TestGate gate = new TestGate(Limits.of(4));
        Request wide = gate.request("wide", 4, 0);
        gate.tryEnter(wide);

        gate.setLimits(Limits.of(2));
        gate.release(wide);

        assertThat(gate.slotsTaken()).isZero();
        assertThat(gate.tryEnter(gate.request("next", 4, 0))).isEqualTo(HELD);
        assertThat(gate.slotsTaken()).isEqualTo(2);
    }

    @Test
    void when_a_wide_permit_leaves_the_head_of_the_queue_the_next_ones_are_granted_at_once() {
        TestGate gate = new TestGate(Limits.of(2));
        gate.tryEnter(gate.request("holder"));
        Request wide = gate.request("wide", 2, 0);
        Request narrow = gate.request("narrow");
        Request next = gate.request("next");
        List.of(wide, narrow, next).forEach(gate::tryEnter);

        assertThat(gate.withdrawWaiting(wide)).containsExactly(narrow);
        assertThat(gate.queued()).isEqualTo(1);
    }

    @Test
    void a_higher_limit_takes_effect_at_once_and_a_lower_one_as_permits_are_released() {
        TestGate gate = new TestGate(Limits.of(1));
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            requests.add(gate.request("r" + i));
            gate.tryEnter(requests.get(i));
        }

        assertThat(gate.setLimits(Limits.of(4))).containsExactlyElementsOf(requests.subList(1, 4));
        assertThat(gate.limits()).isEqualTo(Limits.of(4));

        assertThat(gate.setLimits(Limits.of(2))).isEmpty();
        assertThat(gate.release(requests.get(0))).as("3 of 2 running").isEmpty();
        assertThat(gate.release(requests.get(1))).as("2 of 2 running").isEmpty();
        assertThat(gate.release(requests.get(2))).containsExactly(requests.get(4));
        assertThat(gate.slotsTaken()).isEqualTo(2);
    }

    @Test
    void no_permit_is_granted_while_paused_and_as_many_as_fit_are_granted_afterwards() {
        TestGate gate = new TestGate(Limits.of(2));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        Request d = gate.request("d");
        gate.tryEnter(a);

        gate.setPaused(true);
        assertThat(gate.isStopped()).isTrue();
        assertThat(gate.tryEnter(b)).isEqualTo(WAITING);
        assertThat(gate.tryEnter(c)).isEqualTo(WAITING);
        assertThat(gate.tryEnter(d)).isEqualTo(WAITING);
        assertThat(gate.release(a)).isEmpty();

        assertThat(gate.setPaused(false)).containsExactly(b, c);
        assertThat(gate.isStopped()).isFalse();
    }

    @Test
    void permits_wait_until_the_limits_are_known_and_then_enter_in_order() {
        FairCap cap = new FairCap(FairCap.UNLIMITED, 1);
        TestGate gate = new TestGate(cap, Limits.UNKNOWN);
        List<Request> early = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            early.add(gate.request("e" + i));
            assertThat(gate.tryEnter(early.get(i))).isEqualTo(WAITING);
        }
        Request urgent = gate.request("urgent", 1, 1);
        gate.tryEnter(urgent);
        TestGate otherGate = new TestGate(cap, Limits.of(1));
        otherGate.tryEnter(otherGate.request("holder"));
        assertThat(otherGate.tryEnter(otherGate.request("waiter")))
                .as("permits whose limits are unknown take no place in the common queue")
                .isEqualTo(WAITING);

        Map<Permit, Entry> refused = new LinkedHashMap<>();
        assertThat(gate.bindFirstLimits(Limits.of(2).waiting(1), refused)).containsExactly(urgent, early.get(0));

        assertThat(refused)
                .as("the common queue is full")
                .containsOnly(
                        entry(early.get(1), COMMON_QUEUE_FULL),
                        entry(early.get(2), COMMON_QUEUE_FULL),
                        entry(early.get(3), COMMON_QUEUE_FULL));
        assertThat(gate.queued()).isZero();
    }

    @Test
    void binding_the_first_limits_refuses_permits_that_exceed_the_queue() {
        TestGate gate = new TestGate(Limits.UNKNOWN);
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        List.of(a, b, c).forEach(gate::tryEnter);

        Map<Permit, Entry> refused = new LinkedHashMap<>();
        assertThat(gate.bindFirstLimits(Limits.of(1).waiting(1), refused)).containsExactly(a);

        assertThat(refused).containsOnly(entry(c, QUEUE_FULL));
        assertThat(gate.isQueued(b)).isTrue();
        assertThat(gate.release(a)).containsExactly(b);
    }

    @Test
    void running_permits_count_against_limits_that_are_bound_after_a_drain() {
        TestGate gate = new TestGate(Limits.of(2));
        Request a = gate.request("a");
        Request b = gate.request("b");
        Request c = gate.request("c");
        List.of(a, b, c).forEach(gate::tryEnter);

        assertThat(gate.drainAndUnbind()).containsExactly(c);
        Request d = gate.request("d");
        Request e = gate.request("e");
        assertThat(gate.tryEnter(d)).isEqualTo(WAITING);
        assertThat(gate.tryEnter(e)).isEqualTo(WAITING);

        assertThat(gate.bindFirstLimits(Limits.of(2))).isEmpty();
        assertThat(gate.release(a)).containsExactly(d);
        assertThat(gate.release(b)).containsExactly(e);
    }

    @Test
    void draining_removes_the_waiting_permits_in_the_order_in_which_they_would_have_been_granted() {
        TestGate gate = new TestGate(Limits.of(1));
        Request holder = gate.request("holder");
        Request a = gate.request("a");
        Request high = gate.request("high", 1, 7);
        Request low = gate.request("low", 1, -7);
        Request b = gate.request("b");
        List.of(holder, low, a, high, b).forEach(gate::tryEnter);

        assertThat(gate.drainAndUnbind()).containsExactly(high, a, b, low);

        assertThat(gate.queued()).isZero();
        assertThat(gate.holds(holder)).isTrue();
        assertThat(gate.release(holder)).isEmpty();
        assertThat(gate.hasNoPermits()).isTrue();
    }

    @Test
    void a_gate_with_no_cap_never_waits_for_one() {
        TestGate gate = new TestGate(Limits.of(1));
        gate.tryEnter(gate.request("a"));
        gate.tryEnter(gate.request("b"));

        assertThat(gate.firstWaitsForCap()).isFalse();
        gate.recountAndServe();
        assertThat(gate.cap().used()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void a_gate_behaves_like_a_sorted_list(long seed) {
        Random random = new Random(seed);
        TestGate gate = new TestGate(Limits.of(3));
        Model model = new Model();
        List<Request> known = new ArrayList<>();
        for (int step = 0; step < 4_000; step++) {
            Request candidate = known.isEmpty() ? null : known.get(random.nextInt(known.size()));
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3, 4 -> {
                    Request request = gate.request(
                            "r" + step,
                            random.nextInt(4) == 0 ? 1 + random.nextInt(5) : 1,
                            random.nextInt(4) == 0 ? random.nextInt(5) - 2 : 0);
                    known.add(request);
                    assertThat(gate.tryEnter(request)).isEqualTo(model.tryEnter(request));
                }
                case 5, 6, 7, 8 -> {
                    if (candidate != null) {
                        assertThat(gate.release(candidate)).containsExactlyElementsOf(model.release(candidate));
                    }
                }
                case 9 -> {
                    if (candidate != null && gate.isQueued(candidate)) {
                        assertThat(gate.withdrawWaiting(candidate))
                                .containsExactlyElementsOf(model.withdrawWaiting(candidate));
                    }
                }
                case 10 -> {
                    int limit = 1 + random.nextInt(6);
                    int queueCapacity = random.nextInt(8);
                    assertThat(gate.setLimits(Limits.of(limit).waiting(queueCapacity)))
                            .containsExactlyElementsOf(model.setLimits(limit, queueCapacity));
                }
                default -> {
                    boolean pause = random.nextInt(3) == 0;
                    assertThat(gate.setPaused(pause)).containsExactlyElementsOf(model.pause(pause));
                }
            }
            assertThat(gate.queued()).isEqualTo(model.waiting.size());
            assertThat(gate.holders()).containsExactlyElementsOf(model.held);
        }
        assertThat(known.stream().mapToInt(request -> request.grants)).allMatch(grants -> grants <= 1);
    }

    /** A simple model of a gate without a cap. */
    private static final class Model {
        final List<Request> held = new ArrayList<>();
        final List<Request> waiting = new ArrayList<>();
        int limit = 3;
        int queueCapacity = Integer.MAX_VALUE;
        boolean paused;

        Entry tryEnter(Request request) {
            boolean first = waiting.isEmpty() || request.priority > waiting.getFirst().priority;
            if (first && fits(request)) {
                held.add(request);
                return HELD;
            }
            if (waiting.size() >= queueCapacity) {
                return QUEUE_FULL;
            }
            waiting.add(request);
            waiting.sort(Comparator.comparingInt((Request other) -> -other.priority));
            return WAITING;
        }

        List<Request> release(Request request) {
            return held.remove(request) ? advance() : List.of();
        }

        List<Request> withdrawWaiting(Request request) {
            waiting.remove(request);
            return advance();
        }

        List<Request> setLimits(int slots, int maxWaiting) {
            limit = slots;
            queueCapacity = maxWaiting;
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
    void calls_without_the_lock_fail_if_assertions_are_enabled() {
        TestGate gate = new TestGate(Limits.of(1));
        Request request = gate.request("a");

        assertThatThrownBy(() -> gate.enter(request, GrantedPermits.NO_TIME)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> gate.drain(permit -> {})).isInstanceOf(AssertionError.class);
    }
}
