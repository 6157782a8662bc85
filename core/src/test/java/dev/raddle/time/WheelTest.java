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
    private final AtomicInteger asked = new AtomicInteger(); // how often the bell was
    private final Wheel wheel = wheel(time);
    private final List<String> rang = new ArrayList<>();

    private Wheel wheel(VirtualTime time) {
        return new Wheel(time::nanoTime, (nanos, stroke) -> {
            asked.incrementAndGet();
            return time.after(Duration.ofNanos(nanos), stroke);
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
    void an_alarm_rings_once_and_not_before_its_moment_and_at_most_a_tick_late(Duration delay) {
        for (long start : new long[] {0, 1, TICK / 2, TICK - 1, 63 * TICK, 4095 * TICK + 5}) {
            VirtualTime clock = new VirtualTime();
            Wheel each = wheel(clock);
            clock.advance(Duration.ofNanos(start));
            List<Long> rings = new ArrayList<>();
            each.after(delay.toNanos(), () -> rings.add(clock.nanoTime()));

            clock.advance(delay.minusNanos(1));
            assertThat(rings).isEmpty();
            clock.advance(Duration.ofNanos(TICK));

            assertThat(rings).hasSize(1);
            assertThat(rings.getFirst() - start).isBetween(delay.toNanos(), delay.toNanos() + TICK - 1);
            assertThat(clock.alarms()).as("strokes to come").isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -(Long.MAX_VALUE >> 1)})
    void an_alarm_without_a_delay_rings_as_soon_as_the_bell_can_and_not_in_the_caller(long delay) {
        time.advance(Duration.ofNanos(12_345));
        wheel.after(delay, () -> rang.add("at once"));
        assertThat(rang).isEmpty();

        time.advance(Duration.ZERO);

        assertThat(rang).containsExactly("at once");
    }

    @Test
    void alarms_ring_in_the_order_of_their_ticks_and_in_one_tick_in_the_order_in_which_they_were_armed() {
        wheel.after(20 * TICK, () -> rang.add("third"));
        wheel.after(5000 * TICK, () -> rang.add("fifth"));
        wheel.after(2 * TICK, () -> rang.add("first"));
        wheel.after(4999 * TICK, () -> rang.add("fourth"));
        wheel.after(2 * TICK - 1, () -> rang.add("second"));
        wheel.after(5000 * TICK, () -> rang.add("sixth"));

        time.advance(Duration.ofNanos(5000 * TICK));

        assertThat(rang).containsExactly("first", "second", "third", "fourth", "fifth", "sixth");
    }

    /** An alarm as it should be: its moment, and what became of it. */
    private static final class Expected {
        final long moment;
        final long tick;
        long rangAt = -1;
        Alarm alarm;

        Expected(long now, long delay) {
            moment = now + Math.max(0, delay);
            tick = delay > 0 ? (moment + TICK - 1) / TICK : moment / TICK;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatever_is_armed_and_cancelled_the_wheel_rings_what_a_sorted_queue_would(int seed) {
        Random random = new Random(seed);
        PriorityQueue<Expected> queue = new PriorityQueue<>(Comparator.comparingLong(e -> e.tick));
        List<Expected> armed = new ArrayList<>();
        List<Expected> rings = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            Expected expected = new Expected(time.nanoTime(), length(random) - 1);
            expected.alarm = wheel.after(expected.moment - time.nanoTime(), () -> {
                expected.rangAt = time.nanoTime();
                rings.add(expected);
            });
            queue.add(expected);
            armed.add(expected);
            if (random.nextInt(3) == 0) {
                Expected other = armed.get(random.nextInt(armed.size()));
                assertThat(other.alarm.cancel()).isEqualTo(other.rangAt < 0);
                queue.remove(other);
            }
            if (random.nextInt(2) == 0) {
                time.advance(Duration.ofNanos(Math.min(length(random), length(random))));
                compare(queue, rings);
            }
        }
        time.advance(LONGEST);
        compare(queue, rings);

        assertThat(queue).isEmpty();
        assertThatNothingIsLeft();
        assertThat(time.alarms()).isZero();
    }

    /** From a nanosecond to 50 days, of each magnitude as many. */
    private static long length(Random random) {
        return random.nextLong(1L << random.nextInt(1, 53));
    }

    private void compare(PriorityQueue<Expected> queue, List<Expected> rings) {
        for (Expected ring : rings) {
            assertThat(ring.tick).as("tick of what rang next").isEqualTo(queue.element().tick);
            assertThat(queue.remove(ring)).as("was armed").isTrue();
            assertThat(ring.rangAt - ring.moment).as("late by").isBetween(0L, TICK - 1);
        }
        rings.clear();
        if (!queue.isEmpty()) {
            assertThat(queue.element().tick * TICK)
                    .as("start of the tick of what did not ring")
                    .isGreaterThan(time.nanoTime());
        }
    }

    @Test
    void the_clock_may_wrap_around_on_the_way() {
        Tower tower = new Tower();
        long start = Long.MAX_VALUE - 3 * TICK / 2;
        tower.now = start;
        Wheel tolled = new Wheel(() -> tower.now, tower::after);
        tolled.after(2 * TICK, () -> rang.add("after"));
        tolled.after(TICK, () -> rang.add("before"));
        tolled.after(LONGEST.toNanos(), () -> rang.add("in 146 years"));

        tower.now = start + TICK;
        tower.strike();
        assertThat(rang).containsExactly("before");
        tower.now = start + 2 * TICK - 1;
        assertThat(tower.now).as("the clock has wrapped").isNegative();
        tower.strike();
        assertThat(rang).containsExactly("before");
        tower.now = start + 2 * TICK;
        tower.strike();
        assertThat(rang).containsExactly("before", "after");
        tolled.after(1, () -> rang.add("beyond"));
        tower.now = start + 3 * TICK;
        tower.strike();
        assertThat(rang).containsExactly("before", "after", "beyond");
        tower.now = start + LONGEST.toNanos() - 1;
        tower.strike();
        assertThat(rang).containsExactly("before", "after", "beyond");
        tower.now = start + LONGEST.toNanos() + TICK;
        tower.strike();

        assertThat(rang).containsExactly("before", "after", "beyond", "in 146 years");
    }

    @Test
    void an_alarm_that_was_called_off_never_rings_and_says_so_each_time() {
        Alarm alarm = wheel.after(TICK, () -> rang.add("ring"));

        assertThat(alarm.cancel()).isTrue();
        assertThat(alarm.cancel()).isTrue();
        time.advance(Duration.ofSeconds(1));

        assertThat(rang).isEmpty();
        assertThat(alarm.cancel()).isTrue();
    }

    @Test
    void an_alarm_that_rings_or_rang_cannot_be_called_off() {
        List<Boolean> answers = new ArrayList<>();
        Alarm[] itself = new Alarm[1];
        itself[0] = wheel.after(TICK, () -> answers.add(itself[0].cancel()));

        time.advance(Duration.ofNanos(TICK));
        answers.add(itself[0].cancel());

        assertThat(answers).containsExactly(false, false);
    }

    @Test
    void an_action_may_call_off_another_alarm_of_the_same_tick() {
        Alarm[] second = new Alarm[1];
        wheel.after(TICK, () -> rang.add("first cancels second: " + second[0].cancel()));
        second[0] = wheel.after(TICK, () -> rang.add("second"));
        wheel.after(TICK, () -> rang.add("third"));

        time.advance(Duration.ofSeconds(1));

        assertThat(rang).containsExactly("first cancels second: true", "third");
    }

    @Test
    void whoever_is_called_off_leaves_those_around_it_in_their_slot() {
        for (int leaver = 0; leaver < 3; leaver++) { // the first, one in the middle, the last
            List<String> rings = new ArrayList<>();
            List<Alarm> alarms = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                String name = "alarm " + i;
                alarms.add(wheel.after(100 * TICK, () -> rings.add(name)));
            }
            alarms.get(leaver).cancel();
            wheel.after(100 * TICK, () -> rings.add("last"));

            time.advance(Duration.ofNanos(100 * TICK));

            List<String> expected = new ArrayList<>(List.of("alarm 0", "alarm 1", "alarm 2", "last"));
            expected.remove(leaver);
            assertThat(rings).isEqualTo(expected);
        }
    }

    @Test
    void of_a_hundred_thousand_alarms_that_were_called_off_nothing_is_left() {
        Random random = new Random(42);
        List<WheelAlarm> alarms = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            alarms.add((WheelAlarm)
                    wheel.after(1 + (random.nextLong() >>> random.nextInt(2, 64)), () -> rang.add("ring")));
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
        assertThat(time.alarms()).as("strokes to come").isLessThanOrEqualTo(1);
        time.advance(LONGEST);
        assertThat(time.alarms()).as("strokes to come").isZero();
        assertThat(rang).isEmpty();
    }

    @Test
    void an_alarm_that_rang_keeps_neither_its_action_nor_others() {
        WheelAlarm alarm = (WheelAlarm) wheel.after(TICK, () -> rang.add("ring"));
        wheel.after(TICK, () -> rang.add("other"));

        time.advance(Duration.ofNanos(TICK));

        assertThat(rang).containsExactly("ring", "other");
        assertThat(alarm.takeAction()).isNull();
        assertThat(alarm.next).isSameAs(alarm);
        assertThat(alarm.previous).isSameAs(alarm);
    }

    private void assertThatNothingIsLeft() {
        assertThatNothingIsLeftIn(wheel);
    }

    private static void assertThatNothingIsLeftIn(Wheel emptied) {
        assertThat(emptied.slots().isEmpty()).isTrue();
        assertThat(emptied.slots().earliest()).isEqualTo(Slots.NEVER);
        assertThat(IntStream.range(0, SLOTS).mapToObj(emptied.slots()::first)).containsOnlyNulls();
    }

    @Test
    void an_earlier_alarm_asks_the_bell_anew_and_calls_off_what_was_asked_before() {
        wheel.after(1000 * TICK, () -> rang.add("late"));
        wheel.after(2 * TICK, () -> rang.add("early"));

        assertThat(asked).hasValue(2);
        assertThat(time.alarms()).isEqualTo(1);
        time.advance(Duration.ofNanos(2 * TICK));
        assertThat(rang).containsExactly("early");
        time.advance(Duration.ofNanos(998 * TICK));
        assertThat(rang).containsExactly("early", "late");
    }

    @Test
    void a_later_alarm_does_not_touch_the_bell_and_neither_does_calling_off() {
        Alarm first = wheel.after(2 * TICK, () -> rang.add("first"));
        wheel.after(1000 * TICK, () -> rang.add("late")).cancel();
        wheel.after(1000 * TICK, () -> rang.add("late"));
        first.cancel();
        wheel.after(2 * TICK, () -> rang.add("again"));

        assertThat(asked).hasValue(1);
    }

    @Test
    void alarms_that_are_armed_and_called_off_one_after_the_other_cost_few_strokes() {
        for (int i = 0; i < 1_000_000; i++) { // ten seconds
            wheel.after(Duration.ofMillis(500).toNanos(), () -> rang.add("ring"))
                    .cancel();
            time.advance(Duration.ofNanos(10_000));
        }

        assertThat(asked).hasValueLessThan(200);
        assertThat(rang).isEmpty();
    }

    @Test
    void a_wheel_that_was_idle_for_long_asks_for_one_stroke() {
        wheel.after(TICK, () -> rang.add("ring"));
        time.advance(Duration.ofHours(1));
        asked.set(0);

        wheel.after(10 * TICK, () -> rang.add("after an hour"));
        time.advance(Duration.ofNanos(11 * TICK));

        assertThat(asked).hasValueLessThanOrEqualTo(2);
        assertThat(rang).containsExactly("ring", "after an hour");
    }

    @Test
    void an_alarm_far_away_costs_a_stroke_for_each_level_at_most() {
        wheel.after(LONGEST.toNanos(), () -> rang.add("ring"));

        time.advance(LONGEST);
        time.advance(Duration.ofNanos(TICK));

        assertThat(rang).containsExactly("ring");
        assertThat(asked).hasValueLessThanOrEqualTo(8);
    }

    @Test
    void what_an_action_throws_goes_to_the_uncaught_exception_handler_and_the_others_ring() {
        Error thrown = new Error("from an alarm");
        wheel.after(TICK, () -> {
            throw thrown;
        });
        wheel.after(TICK, () -> rang.add("same tick"));
        wheel.after(100 * TICK, () -> rang.add("later"));

        List<Throwable> uncaught = uncaughtIn(() -> time.advance(Duration.ofSeconds(1)));

        assertThat(uncaught).containsExactly(thrown);
        assertThat(rang).containsExactly("same tick", "later");
    }

    @Test
    void a_handler_that_throws_does_not_keep_the_others_from_ringing() {
        wheel.after(100 * TICK, () -> {
            throw new Error("from an alarm");
        });
        wheel.after(100 * TICK, () -> rang.add("same tick"));
        wheel.after(110 * TICK, () -> rang.add("later"));

        handling(
                failure -> {
                    throw new IllegalStateException("from the handler", failure);
                },
                () -> time.advance(Duration.ofSeconds(1)));

        assertThat(rang).containsExactly("same tick", "later");
    }

    private static List<Throwable> uncaughtIn(Runnable strokes) {
        List<Throwable> uncaught = new ArrayList<>();
        handling(uncaught::add, strokes);
        return uncaught;
    }

    private static void handling(Consumer<Throwable> handler, Runnable strokes) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((where, failure) -> handler.accept(failure));
        try {
            strokes.run();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
    }

    @Test
    void an_action_may_arm_alarms() {
        wheel.after(TICK, () -> {
            wheel.after(TICK, () -> rang.add("a tick later"));
            wheel.after(0, () -> rang.add("at once"));
            rang.add("first");
        });

        time.advance(Duration.ofNanos(TICK));
        assertThat(rang).containsExactly("first", "at once");
        time.advance(Duration.ofNanos(TICK));
        assertThat(rang).containsExactly("first", "at once", "a tick later");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void actions_that_arm_for_now_without_end_let_the_bell_go_when_the_tick_is_over() {
        Tower tower = new Tower();
        Wheel tolled = new Wheel(() -> tower.now, tower::after);
        Runnable[] again = new Runnable[1];
        again[0] = () -> {
            rang.add("again");
            tower.now += TICK / 4;
            tolled.after(0, again[0]);
        };
        tolled.after(0, again[0]);

        tower.strike();

        assertThat(rang).hasSizeBetween(1, 4);
        tower.strike();
        assertThat(rang).hasSizeBetween(2, 8);
    }

    @Test
    void many_alarms_in_one_slot_all_ring() {
        int alarms = 10_000;
        AtomicInteger rings = new AtomicInteger();
        for (int i = 0; i < alarms; i++) {
            wheel.after(Duration.ofSeconds(300).toNanos() + i, rings::incrementAndGet);
        }

        time.advance(Duration.ofSeconds(301));

        assertThat(rings).hasValue(alarms);
        assertThatNothingIsLeft();
    }

    /** A clock that passes without striking, and a bell that strikes when told to, even what was called off. */
    private static final class Tower {
        private record Asked(long moment, Runnable stroke) {}

        long now;
        final List<Asked> strokes = new ArrayList<>();
        int cancelled;

        Alarm after(long nanos, Runnable stroke) {
            strokes.add(new Asked(now + nanos, stroke));
            return () -> {
                cancelled++;
                return true;
            };
        }

        void strike() {
            List<Asked> all = List.copyOf(strokes);
            strokes.clear();
            all.forEach(each -> each.stroke.run());
        }
    }

    @Test
    void a_bell_that_strikes_too_early_rings_nothing_and_is_asked_again() {
        Tower tower = new Tower();
        Wheel tolled = new Wheel(() -> tower.now, tower::after);
        tolled.after(2 * TICK, () -> rang.add("ring"));

        tower.now = 2 * TICK - 1;
        tower.strike();
        assertThat(rang).isEmpty();
        assertThat(tower.strokes).hasSize(1);
        assertThat(tower.strokes.getFirst().moment).isEqualTo(2 * TICK);
        tower.now = 2 * TICK;
        tower.strike();

        assertThat(rang).containsExactly("ring");
        assertThat(tower.strokes).isEmpty();
    }

    @Test
    void a_bell_that_strikes_late_rings_everything_that_is_due_in_order() {
        Tower tower = new Tower();
        Wheel tolled = new Wheel(() -> tower.now, tower::after);
        tolled.after(70 * TICK, () -> rang.add("third"));
        tolled.after(TICK, () -> rang.add("first"));
        tower.now = 50 * TICK;
        tolled.after(10 * TICK, () -> rang.add("second"));
        tolled.after(5000 * TICK, () -> rang.add("fifth"));
        tower.now = 4000 * TICK;
        tolled.after(TICK, () -> rang.add("fourth"));

        tower.now = 4001 * TICK;
        tower.strike();

        assertThat(rang).containsExactly("first", "second", "third", "fourth");
    }

    @Test
    void a_superseded_stroke_that_strikes_nevertheless_does_nothing() {
        Tower tower = new Tower();
        Wheel tolled = new Wheel(() -> tower.now, tower::after);
        tolled.after(1000 * TICK, () -> rang.add("late"));
        Runnable superseded = tower.strokes.removeFirst().stroke;
        tolled.after(2 * TICK, () -> rang.add("early"));
        assertThat(tower.cancelled).isEqualTo(1);

        tower.now = 2 * TICK;
        superseded.run();
        assertThat(rang).isEmpty();
        assertThat(tower.strokes).hasSize(1);
        tower.strike();
        assertThat(rang).containsExactly("early");
    }

    @Test
    void a_stroke_that_is_superseded_while_the_bell_is_being_asked_for_it_is_called_off() {
        Tower tower = new Tower();
        AtomicBoolean first = new AtomicBoolean(true);
        Wheel[] tolled = new Wheel[1];
        tolled[0] = new Wheel(() -> tower.now, (nanos, stroke) -> {
            if (first.getAndSet(false)) {
                tolled[0].after(2 * TICK, () -> rang.add("early")); // as another thread would, in this moment
                assertThat(tower.cancelled).isZero();
            }
            return tower.after(nanos, stroke);
        });

        tolled[0].after(1000 * TICK, () -> rang.add("late"));

        assertThat(tower.cancelled).isEqualTo(1);
        tower.now = 2 * TICK;
        tower.strike();
        assertThat(rang).containsExactly("early");
    }

    @Test
    void a_bell_that_cannot_be_asked_fails_the_call_and_the_next_one_asks_again() {
        Tower tower = new Tower();
        OutOfMemoryError broken = new OutOfMemoryError("no bell");
        AtomicBoolean breaks = new AtomicBoolean(true);
        Wheel tolled = new Wheel(() -> tower.now, (nanos, stroke) -> {
            if (breaks.get()) {
                throw broken;
            }
            return tower.after(nanos, stroke);
        });

        assertThatThrownBy(() -> tolled.after(TICK, () -> rang.add("nobody has it")))
                .isSameAs(broken);
        assertThat(tolled.slots().isEmpty()).isTrue();
        breaks.set(false);
        tolled.after(50 * TICK, () -> rang.add("first"));
        breaks.set(true);
        tower.now = TICK;
        assertThat(uncaughtIn(tower::strike)).as("asks for the next stroke").containsExactly(broken);
        breaks.set(false);
        tolled.after(1000 * TICK, () -> rang.add("second")); // asks for what is earliest, not only for itself
        assertThat(tower.strokes.getLast().moment).isEqualTo(50 * TICK);
        tower.now = 50 * TICK;
        tower.strike();

        assertThat(rang).containsExactly("first");
    }

    @Test
    void no_action_is_no_alarm() {
        assertThatThrownBy(() -> wheel.after(TICK, null)).isInstanceOf(NullPointerException.class);

        assertThatNothingIsLeft();
    }

    @Test
    void threads_that_arm_and_call_off_while_time_passes_lose_no_alarm_and_get_none_twice() throws Exception {
        int threads = 4;
        int each = 50_000;
        AtomicLong now = new AtomicLong(); // a clock that nobody waits for, so that the threads meet in the wheel
        Wheel shared = new Wheel(now::get, (nanos, stroke) -> time.after(Duration.ofNanos(nanos), stroke));
        AtomicIntegerArray ends = new AtomicIntegerArray(threads * each); // 1 for each ring, 100 for each cancel
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
            int place = random.nextInt(recent.length);
            if (recent[place] != null && recent[place].cancel()) {
                ends.addAndGet(numbers[place], 100);
            }
            long delay = random.nextLong(1L << random.nextInt(1, 34)) - 1;
            recent[place] = shared.after(delay, () -> ends.addAndGet(number, 1));
            numbers[place] = number;
        }
    }

    @Test
    void an_alarm_is_called_off_by_one_of_many_or_rings() throws Exception {
        int alarms = 20_000;
        AtomicInteger rings = new AtomicInteger();
        Alarm[] armed = new Alarm[alarms];
        Arrays.setAll(armed, i -> wheel.after(1 + i * 100L, rings::incrementAndGet));
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
            assertThat(one.get()[i]).as("both hear the same of alarm %d", i).isEqualTo(other.get()[i]);
            cancelled += one.get()[i] ? 1 : 0;
        }
        assertThat(rings.get() + cancelled).isEqualTo(alarms);
        assertThatNothingIsLeft();
    }

    private static <T> FutureTask<T> inThread(Callable<T> callable) {
        FutureTask<T> task = new FutureTask<>(callable);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }
}
