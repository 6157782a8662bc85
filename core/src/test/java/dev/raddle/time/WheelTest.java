package dev.raddle.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class WheelTest {

    private static final long TICK = 1L << 20;
    private static final int SLOTS = 8 * 64;
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE >> 1);

    private final VirtualTime time = new VirtualTime();
    private final AtomicInteger requested = new AtomicInteger(); // how often a wakeup was requested
    private final Wheel wheel = wheel(time);
    private final List<String> fired = new ArrayList<>();

    private Wheel wheel(VirtualTime time) {
        return new Wheel(time::nanoTime, (nanos, wakeup) -> {
            requested.incrementAndGet();
            return time.after(Duration.ofNanos(nanos), wakeup);
        });
    }

    static Stream<Duration> delays() {
        return Stream.of(
                Duration.ofNanos(1),
                Duration.ofMillis(1),
                Duration.ofNanos(TICK),
                Duration.ofNanos(64 * TICK),
                Duration.ofMillis(100),
                Duration.ofSeconds(10),
                Duration.ofHours(1),
                Duration.ofDays(10),
                Duration.ofDays(10_000),
                LONGEST);
    }

    @ParameterizedTest
    @MethodSource("delays")
    void an_alarm_fires_once_never_before_its_moment_and_at_most_one_tick_late(Duration delay) {
        for (long start : new long[] {0, 1, TICK / 2, TICK - 1, 63 * TICK, 4095 * TICK + 5}) {
            VirtualTime clock = new VirtualTime();
            Wheel each = wheel(clock);
            clock.advance(Duration.ofNanos(start));
            List<Long> firings = new ArrayList<>();
            each.after(delay.toNanos(), () -> firings.add(clock.nanoTime()));

            clock.advance(delay.minusNanos(1));
            assertThat(firings).isEmpty();
            clock.advance(Duration.ofNanos(TICK));

            assertThat(firings).hasSize(1);
            assertThat(firings.getFirst() - start).isBetween(delay.toNanos(), delay.toNanos() + TICK - 1);
            assertThat(clock.alarms()).as("pending wakeups").isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -(Long.MAX_VALUE >> 1)})
    void an_alarm_without_a_delay_fires_as_soon_as_the_timer_can_and_not_in_the_calling_thread(long delay) {
        time.advance(Duration.ofNanos(12_345));
        wheel.after(delay, () -> fired.add("at once"));
        assertThat(fired).isEmpty();

        time.advance(Duration.ZERO);

        assertThat(fired).containsExactly("at once");
    }

    @Test
    void alarms_fire_in_tick_order_and_within_a_tick_in_the_order_of_arming() {
        wheel.after(20 * TICK, () -> fired.add("third"));
        wheel.after(5000 * TICK, () -> fired.add("fifth"));
        wheel.after(2 * TICK, () -> fired.add("first"));
        wheel.after(4999 * TICK, () -> fired.add("fourth"));
        wheel.after(2 * TICK - 1, () -> fired.add("second"));
        wheel.after(5000 * TICK, () -> fired.add("sixth"));

        time.advance(Duration.ofNanos(5000 * TICK));

        assertThat(fired).containsExactly("first", "second", "third", "fourth", "fifth", "sixth");
    }

    /** The expected behaviour of an alarm. */
    private static final class Expected {
        final long moment;
        final long tick;
        long firedAt = -1;
        Alarm alarm;

        Expected(long now, long delay) {
            moment = now + Math.max(0, delay);
            tick = delay > 0 ? (moment + TICK - 1) / TICK : moment / TICK;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void the_wheel_fires_the_same_alarms_in_the_same_order_as_a_sorted_queue(int seed) {
        Random random = new Random(seed);
        PriorityQueue<Expected> queue = new PriorityQueue<>(Comparator.comparingLong(e -> e.tick));
        List<Expected> armed = new ArrayList<>();
        List<Expected> firings = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            Expected expected = new Expected(time.nanoTime(), length(random) - 1);
            expected.alarm = wheel.after(expected.moment - time.nanoTime(), () -> {
                expected.firedAt = time.nanoTime();
                firings.add(expected);
            });
            queue.add(expected);
            armed.add(expected);
            if (random.nextInt(3) == 0) {
                Expected other = armed.get(random.nextInt(armed.size()));
                assertThat(other.alarm.cancel()).isEqualTo(other.firedAt < 0);
                queue.remove(other);
            }
            if (random.nextInt(2) == 0) {
                time.advance(Duration.ofNanos(Math.min(length(random), length(random))));
                compare(queue, firings);
            }
        }
        time.advance(LONGEST);
        compare(queue, firings);

        assertThat(queue).isEmpty();
        assertThatNothingIsLeft();
        assertThat(time.alarms()).isZero();
    }

    /** Returns a length from a nanosecond to 50 days, each magnitude with equal probability. */
    private static long length(Random random) {
        return random.nextLong(1L << random.nextInt(1, 53));
    }

    private void compare(PriorityQueue<Expected> queue, List<Expected> firings) {
        for (Expected each : firings) {
            assertThat(each.tick).as("tick of the alarm that fired next").isEqualTo(queue.element().tick);
            assertThat(queue.remove(each)).as("was armed").isTrue();
            assertThat(each.firedAt - each.moment).as("late by").isBetween(0L, TICK - 1);
        }
        firings.clear();
        if (!queue.isEmpty()) {
            assertThat(queue.element().tick * TICK)
                    .as("start of the tick of the earliest pending alarm")
                    .isGreaterThan(time.nanoTime());
        }
    }

    @Test
    void alarms_fire_correctly_when_the_clock_wraps_around() {
        ManualTimer timer = new ManualTimer();
        long start = Long.MAX_VALUE - 3 * TICK / 2;
        timer.now = start;
        Wheel wheel = new Wheel(() -> timer.now, timer::after);
        wheel.after(2 * TICK, () -> fired.add("after"));
        wheel.after(TICK, () -> fired.add("before"));
        wheel.after(LONGEST.toNanos(), () -> fired.add("in 146 years"));

        timer.now = start + TICK;
        timer.fire();
        assertThat(fired).containsExactly("before");
        timer.now = start + 2 * TICK - 1;
        assertThat(timer.now).as("the clock has wrapped").isNegative();
        timer.fire();
        assertThat(fired).containsExactly("before");
        timer.now = start + 2 * TICK;
        timer.fire();
        assertThat(fired).containsExactly("before", "after");
        wheel.after(1, () -> fired.add("beyond"));
        timer.now = start + 3 * TICK;
        timer.fire();
        assertThat(fired).containsExactly("before", "after", "beyond");
        timer.now = start + LONGEST.toNanos() - 1;
        timer.fire();
        assertThat(fired).containsExactly("before", "after", "beyond");
        timer.now = start + LONGEST.toNanos() + TICK;
        timer.fire();

        assertThat(fired).containsExactly("before", "after", "beyond", "in 146 years");
    }

    @Test
    void a_cancelled_alarm_never_fires_and_each_call_of_cancel_returns_true() {
        Alarm alarm = wheel.after(TICK, () -> fired.add("alarm"));

        assertThat(alarm.cancel()).isTrue();
        assertThat(alarm.cancel()).isTrue();
        time.advance(Duration.ofSeconds(1));

        assertThat(fired).isEmpty();
        assertThat(alarm.cancel()).isTrue();
    }

    @Test
    void an_alarm_that_fires_or_has_fired_cannot_be_cancelled() {
        List<Boolean> answers = new ArrayList<>();
        Alarm[] itself = new Alarm[1];
        itself[0] = wheel.after(TICK, () -> answers.add(itself[0].cancel()));

        time.advance(Duration.ofNanos(TICK));
        answers.add(itself[0].cancel());

        assertThat(answers).containsExactly(false, false);
    }

    @Test
    void an_action_may_cancel_another_alarm_of_the_same_tick() {
        Alarm[] second = new Alarm[1];
        wheel.after(TICK, () -> fired.add("first cancels second: " + second[0].cancel()));
        second[0] = wheel.after(TICK, () -> fired.add("second"));
        wheel.after(TICK, () -> fired.add("third"));

        time.advance(Duration.ofSeconds(1));

        assertThat(fired).containsExactly("first cancels second: true", "third");
    }

    @Test
    void a_cancelled_alarm_leaves_its_neighbours_in_their_slot() {
        for (int leaver = 0; leaver < 3; leaver++) { // the first, one in the middle, the last
            List<String> firings = new ArrayList<>();
            List<Alarm> alarms = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                String name = "alarm " + i;
                alarms.add(wheel.after(100 * TICK, () -> firings.add(name)));
            }
            alarms.get(leaver).cancel();
            wheel.after(100 * TICK, () -> firings.add("last"));

            time.advance(Duration.ofNanos(100 * TICK));

            List<String> expected = new ArrayList<>(List.of("alarm 0", "alarm 1", "alarm 2", "last"));
            expected.remove(leaver);
            assertThat(firings).isEqualTo(expected);
        }
    }

    @Test
    void a_hundred_thousand_cancelled_alarms_leave_nothing_behind() {
        Random random = new Random(42);
        List<WheelAlarm> alarms = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            alarms.add((WheelAlarm)
                    wheel.after(1 + (random.nextLong() >>> random.nextInt(2, 64)), () -> fired.add("alarm")));
        }
        Collections.shuffle(alarms, random);

        for (WheelAlarm alarm : alarms) {
            assertThat(alarm.cancel()).isTrue();
        }

        assertThatNothingIsLeft();
        for (WheelAlarm alarm : alarms) {
            assertThat(alarm.next).isSameAs(alarm);
            assertThat(alarm.previous).isSameAs(alarm);
            assertThat(alarm.takeAction()).isNull();
        }
        assertThat(time.alarms()).as("pending wakeups").isLessThanOrEqualTo(1);
        time.advance(LONGEST);
        assertThat(time.alarms()).as("pending wakeups").isZero();
        assertThat(fired).isEmpty();
    }

    @Test
    void a_fired_alarm_retains_neither_its_action_nor_other_alarms() {
        WheelAlarm alarm = (WheelAlarm) wheel.after(TICK, () -> fired.add("alarm"));
        wheel.after(TICK, () -> fired.add("other"));

        time.advance(Duration.ofNanos(TICK));

        assertThat(fired).containsExactly("alarm", "other");
        assertThat(alarm.takeAction()).isNull();
        assertThat(alarm.next).isSameAs(alarm);
        assertThat(alarm.previous).isSameAs(alarm);
    }

    private void assertThatNothingIsLeft() {
        assertThatNothingIsLeftIn(wheel);
    }

    private static void assertThatNothingIsLeftIn(Wheel emptied) {
        assertThat(emptied.slots().isEmpty()).isTrue();
        assertThat(emptied.slots().earliest()).isEqualTo(WheelSlots.NEVER);
        assertThat(IntStream.range(0, SLOTS).mapToObj(emptied.slots()::first)).containsOnlyNulls();
    }

    @Test
    void an_earlier_alarm_requests_another_wakeup_and_cancels_the_one_before() {
        wheel.after(1000 * TICK, () -> fired.add("late"));
        wheel.after(2 * TICK, () -> fired.add("early"));

        assertThat(requested).hasValue(2);
        assertThat(time.alarms()).isEqualTo(1);
        time.advance(Duration.ofNanos(2 * TICK));
        assertThat(fired).containsExactly("early");
        time.advance(Duration.ofNanos(998 * TICK));
        assertThat(fired).containsExactly("early", "late");
    }

    @Test
    void neither_a_later_alarm_nor_a_cancellation_touches_the_timer() {
        Alarm first = wheel.after(2 * TICK, () -> fired.add("first"));
        wheel.after(1000 * TICK, () -> fired.add("late")).cancel();
        wheel.after(1000 * TICK, () -> fired.add("late"));
        first.cancel();
        wheel.after(2 * TICK, () -> fired.add("again"));

        assertThat(requested).hasValue(1);
    }

    @Test
    void alarms_that_are_armed_and_cancelled_in_sequence_cost_few_wakeups() {
        for (int i = 0; i < 1_000_000; i++) { // ten seconds
            wheel.after(Duration.ofMillis(500).toNanos(), () -> fired.add("alarm"))
                    .cancel();
            time.advance(Duration.ofNanos(10_000));
        }

        assertThat(requested).hasValueLessThan(200);
        assertThat(fired).isEmpty();
    }

    @Test
    void a_wheel_that_was_idle_for_long_requests_one_wakeup() {
        wheel.after(TICK, () -> fired.add("alarm"));
        time.advance(Duration.ofHours(1));
        requested.set(0);

        wheel.after(10 * TICK, () -> fired.add("after an hour"));
        time.advance(Duration.ofNanos(11 * TICK));

        assertThat(requested).hasValueLessThanOrEqualTo(2);
        assertThat(fired).containsExactly("alarm", "after an hour");
    }

    @Test
    void a_distant_alarm_costs_at_most_one_wakeup_for_each_level() {
        wheel.after(LONGEST.toNanos(), () -> fired.add("alarm"));

        time.advance(LONGEST);
        time.advance(Duration.ofNanos(TICK));

        assertThat(fired).containsExactly("alarm");
        assertThat(requested).hasValueLessThanOrEqualTo(8);
    }

    @Test
    void an_exception_from_an_action_goes_to_the_uncaught_exception_handler_and_the_other_alarms_fire() {
        Error thrown = new Error("from an alarm");
        wheel.after(TICK, () -> {
            throw thrown;
        });
        wheel.after(TICK, () -> fired.add("same tick"));
        wheel.after(100 * TICK, () -> fired.add("later"));

        List<Throwable> uncaught = uncaughtIn(() -> time.advance(Duration.ofSeconds(1)));

        assertThat(uncaught).containsExactly(thrown);
        assertThat(fired).containsExactly("same tick", "later");
    }

    @Test
    void the_other_alarms_fire_although_the_uncaught_exception_handler_throws() {
        wheel.after(100 * TICK, () -> {
            throw new Error("from an alarm");
        });
        wheel.after(100 * TICK, () -> fired.add("same tick"));
        wheel.after(110 * TICK, () -> fired.add("later"));

        handling(
                failure -> {
                    throw new IllegalStateException("from the handler", failure);
                },
                () -> time.advance(Duration.ofSeconds(1)));

        assertThat(fired).containsExactly("same tick", "later");
    }

    private static List<Throwable> uncaughtIn(Runnable wakeups) {
        List<Throwable> uncaught = new ArrayList<>();
        handling(uncaught::add, wakeups);
        return uncaught;
    }

    private static void handling(Consumer<Throwable> handler, Runnable wakeups) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((where, failure) -> handler.accept(failure));
        try {
            wakeups.run();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
    }

    @Test
    void an_action_may_arm_alarms() {
        wheel.after(TICK, () -> {
            wheel.after(TICK, () -> fired.add("a tick later"));
            wheel.after(0, () -> fired.add("at once"));
            fired.add("first");
        });

        time.advance(Duration.ofNanos(TICK));
        assertThat(fired).containsExactly("first", "at once");
        time.advance(Duration.ofNanos(TICK));
        assertThat(fired).containsExactly("first", "at once", "a tick later");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void actions_that_keep_arming_alarms_for_now_release_the_timer_thread_when_the_tick_is_over() {
        ManualTimer timer = new ManualTimer();
        Wheel wheel = new Wheel(() -> timer.now, timer::after);
        Runnable[] again = new Runnable[1];
        again[0] = () -> {
            fired.add("again");
            timer.now += TICK / 4;
            wheel.after(0, again[0]);
        };
        wheel.after(0, again[0]);

        timer.fire();

        assertThat(fired).hasSizeBetween(1, 4);
        timer.fire();
        assertThat(fired).hasSizeBetween(2, 8);
    }

    @Test
    void many_alarms_in_one_slot_all_fire() {
        int alarms = 10_000;
        AtomicInteger firings = new AtomicInteger();
        for (int i = 0; i < alarms; i++) {
            wheel.after(Duration.ofSeconds(300).toNanos() + i, firings::incrementAndGet);
        }

        time.advance(Duration.ofSeconds(301));

        assertThat(firings).hasValue(alarms);
        assertThatNothingIsLeft();
    }

    /** A clock that the test sets, and a timer that fires when the test calls it, even wakeups that were cancelled. */
    private static final class ManualTimer {
        private record Requested(long moment, Runnable wakeup) {}

        long now;
        final List<Requested> wakeups = new ArrayList<>();
        int cancelled;

        Alarm after(long nanos, Runnable wakeup) {
            wakeups.add(new Requested(now + nanos, wakeup));
            return () -> {
                cancelled++;
                return true;
            };
        }

        void fire() {
            List<Requested> all = List.copyOf(wakeups);
            wakeups.clear();
            all.forEach(each -> each.wakeup.run());
        }
    }

    @Test
    void a_wakeup_that_comes_too_early_fires_no_alarm_and_requests_another() {
        ManualTimer timer = new ManualTimer();
        Wheel wheel = new Wheel(() -> timer.now, timer::after);
        wheel.after(2 * TICK, () -> fired.add("alarm"));

        timer.now = 2 * TICK - 1;
        timer.fire();
        assertThat(fired).isEmpty();
        assertThat(timer.wakeups).hasSize(1);
        assertThat(timer.wakeups.getFirst().moment).isEqualTo(2 * TICK);
        timer.now = 2 * TICK;
        timer.fire();

        assertThat(fired).containsExactly("alarm");
        assertThat(timer.wakeups).isEmpty();
    }

    @Test
    void a_wakeup_that_comes_late_fires_every_due_alarm_in_order() {
        ManualTimer timer = new ManualTimer();
        Wheel wheel = new Wheel(() -> timer.now, timer::after);
        wheel.after(70 * TICK, () -> fired.add("third"));
        wheel.after(TICK, () -> fired.add("first"));
        timer.now = 50 * TICK;
        wheel.after(10 * TICK, () -> fired.add("second"));
        wheel.after(5000 * TICK, () -> fired.add("fifth"));
        timer.now = 4000 * TICK;
        wheel.after(TICK, () -> fired.add("fourth"));

        timer.now = 4001 * TICK;
        timer.fire();

        assertThat(fired).containsExactly("first", "second", "third", "fourth");
    }

    @Test
    void a_superseded_wakeup_that_fires_nevertheless_does_nothing() {
        ManualTimer timer = new ManualTimer();
        Wheel wheel = new Wheel(() -> timer.now, timer::after);
        wheel.after(1000 * TICK, () -> fired.add("late"));
        Runnable superseded = timer.wakeups.removeFirst().wakeup;
        wheel.after(2 * TICK, () -> fired.add("early"));
        assertThat(timer.cancelled).isEqualTo(1);

        timer.now = 2 * TICK;
        superseded.run();
        assertThat(fired).isEmpty();
        assertThat(timer.wakeups).hasSize(1);
        timer.fire();
        assertThat(fired).containsExactly("early");
    }

    @Test
    void a_wakeup_that_is_superseded_while_it_is_being_requested_is_cancelled() {
        ManualTimer timer = new ManualTimer();
        AtomicBoolean first = new AtomicBoolean(true);
        Wheel[] wheel = new Wheel[1];
        wheel[0] = new Wheel(() -> timer.now, (nanos, wakeup) -> {
            if (first.getAndSet(false)) {
                wheel[0].after(2 * TICK, () -> fired.add("early")); // as another thread might do now
                assertThat(timer.cancelled).isZero();
            }
            return timer.after(nanos, wakeup);
        });

        wheel[0].after(1000 * TICK, () -> fired.add("late"));

        assertThat(timer.cancelled).isEqualTo(1);
        timer.now = 2 * TICK;
        timer.fire();
        assertThat(fired).containsExactly("early");
    }

    @Test
    void a_timer_that_throws_fails_the_call_and_the_next_call_requests_again() {
        ManualTimer timer = new ManualTimer();
        OutOfMemoryError broken = new OutOfMemoryError("no timer");
        AtomicBoolean breaks = new AtomicBoolean(true);
        Wheel wheel = new Wheel(() -> timer.now, (nanos, wakeup) -> {
            if (breaks.get()) {
                throw broken;
            }
            return timer.after(nanos, wakeup);
        });

        assertThatThrownBy(() -> wheel.after(TICK, () -> fired.add("never armed")))
                .isSameAs(broken);
        assertThat(wheel.slots().isEmpty()).isTrue();
        breaks.set(false);
        wheel.after(50 * TICK, () -> fired.add("first"));
        breaks.set(true);
        timer.now = TICK;
        assertThat(uncaughtIn(timer::fire)).as("requests the next wakeup").containsExactly(broken);
        breaks.set(false);
        wheel.after(1000 * TICK, () -> fired.add("second")); // requests a wakeup for the earliest alarm, not for itself
        assertThat(timer.wakeups.getLast().moment).isEqualTo(50 * TICK);
        timer.now = 50 * TICK;
        timer.fire();

        assertThat(fired).containsExactly("first");
    }

    @Test
    void a_null_action_is_refused_and_arms_nothing() {
        assertThatThrownBy(() -> wheel.after(TICK, null)).isInstanceOf(NullPointerException.class);

        assertThatNothingIsLeft();
    }

    @Test
    void alarms_that_threads_arm_and_cancel_while_time_passes_end_exactly_once() throws Exception {
        int threads = 4;
        int each = 50_000;
        AtomicLong now = new AtomicLong(); // a clock without a lock, so that the threads contend only for the wheel
        Wheel shared = new Wheel(now::get, (nanos, wakeup) -> time.after(Duration.ofNanos(nanos), wakeup));
        // 1 for each firing, 100 for each cancellation
        AtomicIntegerArray ends = new AtomicIntegerArray(threads * each);
        Phaser start = new Phaser(threads);
        AtomicInteger working = new AtomicInteger(threads);
        List<FutureTask<Void>> workers = new ArrayList<>();
        for (int worker = 0; worker < threads; worker++) {
            int first = worker * each;
            workers.add(inThread(() -> {
                try {
                    start.arriveAndAwaitAdvance();
                    armAndCancel(shared, first, each, ends);
                    return null;
                } finally {
                    working.decrementAndGet();
                }
            }));
        }

        while (working.get() > 0) {
            pass(now, Duration.ofNanos(TICK / 4));
        }
        for (FutureTask<Void> worker : workers) {
            worker.get();
        }
        pass(now, Duration.ofMinutes(10));

        assertThat(IntStream.range(0, ends.length()).map(ends::get)).containsOnly(1, 100);
        assertThatNothingIsLeftIn(shared);
        assertThat(time.alarms()).isZero();
    }

    private void pass(AtomicLong now, Duration length) {
        now.addAndGet(length.toNanos());
        time.advance(length);
    }

    private static void armAndCancel(Wheel shared, int first, int count, AtomicIntegerArray ends) {
        Random random = new Random(first);
        Alarm[] recent = new Alarm[16];
        int[] numbers = new int[recent.length];
        for (int i = first; i < first + count; i++) {
            int number = i;
            int index = random.nextInt(recent.length);
            if (recent[index] != null && recent[index].cancel()) {
                ends.addAndGet(numbers[index], 100);
            }
            long delay = random.nextLong(1L << random.nextInt(1, 34)) - 1;
            recent[index] = shared.after(delay, () -> ends.addAndGet(number, 1));
            numbers[index] = number;
        }
    }

    @Test
    void an_alarm_is_either_cancelled_or_fires_and_all_cancellers_get_the_same_result() throws Exception {
        int alarms = 20_000;
        AtomicInteger firings = new AtomicInteger();
        Alarm[] armed = new Alarm[alarms];
        Arrays.setAll(armed, i -> wheel.after(1 + i * 100L, firings::incrementAndGet));
        Callable<boolean[]> cancelAll = () -> {
            boolean[] answers = new boolean[alarms];
            for (int i = alarms - 1; i >= 0; i--) {
                answers[i] = armed[i].cancel();
            }
            return answers;
        };
        FutureTask<boolean[]> one = inThread(cancelAll);
        FutureTask<boolean[]> other = inThread(cancelAll);
        for (int i = 0; i < 4; i++) {
            time.advance(Duration.ofNanos(TICK));
        }

        int cancelled = 0;
        for (int i = 0; i < alarms; i++) {
            assertThat(one.get()[i])
                    .as("result of both cancellers for alarm %d", i)
                    .isEqualTo(other.get()[i]);
            cancelled += one.get()[i] ? 1 : 0;
        }
        assertThat(firings.get() + cancelled).isEqualTo(alarms);
        assertThatNothingIsLeft();
    }

    private static <T> FutureTask<T> inThread(Callable<T> callable) {
        FutureTask<T> task = new FutureTask<>(callable);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }
}
