package dev.raddle.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SignalTest {

    private final Signal signal = new Signal();
    private final VirtualTime time = new VirtualTime();
    private final Map<FutureTask<?>, Thread> threads = new ConcurrentHashMap<>();

    @Test
    void only_the_first_set_counts() {
        assertThat(signal.isSet()).isFalse();
        assertThat(signal).hasToString("signal, not set");

        assertThat(signal.set()).isTrue();
        assertThat(signal.set()).isFalse();

        assertThat(signal.isSet()).isTrue();
        assertThat(signal).hasToString("signal, set");
    }

    @Test
    void actions_run_once_in_the_setting_thread_in_the_order_of_registration() {
        List<String> ran = new ArrayList<>();
        signal.whenSet(() -> ran.add("a"));
        signal.whenSet(() -> ran.add("b"));
        signal.whenSet(() -> ran.add("c"));
        assertThat(ran).isEmpty();

        signal.set();
        signal.set();

        assertThat(ran).containsExactly("a", "b", "c");
    }

    @Test
    void an_action_that_is_registered_after_the_event_runs_at_once() {
        List<String> ran = new ArrayList<>();
        signal.set();

        signal.whenSet(() -> ran.add("late"));

        assertThat(ran).containsExactly("late");
    }

    @Test
    void an_action_sees_the_signal_set_and_may_use_it() {
        List<String> ran = new ArrayList<>();
        signal.whenSet(() -> {
            ran.add(signal.set() ? "first" : "second");
            signal.whenSet(() -> ran.add("inner"));
        });

        signal.set();

        assertThat(ran).containsExactly("second", "inner");
    }

    @Test
    void threads_are_woken_before_actions_run() throws Exception {
        FutureTask<Boolean> waiter = inThread(() -> {
            signal.await();
            return true;
        });
        List<Boolean> ran = new ArrayList<>();
        signal.whenSet(() -> ran.add(result(waiter))); // would hang if the waiter were woken only after this
        awaitParked(waiter);

        signal.set();

        assertThat(ran).containsExactly(true);
    }

    @Test
    void set_wakes_every_waiter() throws Exception {
        List<FutureTask<Boolean>> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(inThread(() -> {
                signal.await();
                return signal.isSet();
            }));
            waiters.add(inThread(() -> signal.await(Deadline.after(time, Duration.ofSeconds(1)))));
        }
        time.awaitAlarms(4);
        for (FutureTask<Boolean> waiter : waiters) {
            awaitParked(waiter);
        }

        signal.set();

        for (FutureTask<Boolean> waiter : waiters) {
            assertThat(waiter.get()).isTrue();
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void waiting_for_a_set_signal_returns_at_once_and_leaves_the_interrupt_status_alone() throws Exception {
        signal.set();
        Thread.currentThread().interrupt();

        signal.await();
        boolean set = signal.await(Deadline.after(time, Duration.ofSeconds(1)));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(set).isTrue();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_deadline_that_has_passed_does_not_wait() throws InterruptedException {
        assertThat(signal.await(Deadline.after(time, Duration.ZERO))).isFalse();
        assertThat(signal.await(Deadline.after(time, Duration.ofSeconds(Long.MIN_VALUE))))
                .isFalse();

        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_timed_wait_ends_at_its_deadline_and_leaves_nothing_behind() throws Exception {
        FutureTask<Boolean> early = inThread(() -> signal.await(Deadline.after(time, Duration.ofSeconds(1))));
        time.awaitAlarms(1);
        FutureTask<Boolean> middle = inThread(() -> signal.await(Deadline.after(time, Duration.ofSeconds(2))));
        time.awaitAlarms(2);
        FutureTask<Boolean> late = inThread(() -> signal.await(Deadline.after(time, Duration.ofSeconds(3))));
        time.awaitAlarms(3);
        awaitParked(early);
        awaitParked(middle);
        awaitParked(late);

        time.advance(Duration.ofSeconds(2)); // the first two leave, each from the head of the list
        assertThat(early.get()).isFalse();
        assertThat(middle.get()).isFalse();
        assertThat(time.alarms()).isEqualTo(1);

        signal.set();
        assertThat(late.get()).isTrue();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_waiter_that_leaves_the_list_leaves_the_others_in_it() throws Exception {
        for (int index = 0; index < 3; index++) { // the first, one in the middle, the last
            Signal each = new Signal();
            List<FutureTask<Boolean>> waiters = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiters.add(inThread(() -> {
                    each.await();
                    return true;
                }));
                awaitParked(waiters.getLast());
            }

            FutureTask<Boolean> leaver = waiters.remove(index);
            threads.get(leaver).interrupt();
            assertThatThrownBy(leaver::get).hasCauseInstanceOf(InterruptedException.class);
            List<String> ran = new ArrayList<>();
            each.whenSet(() -> ran.add("action"));
            each.set();

            assertThat(waiters.get(0).get()).isTrue();
            assertThat(waiters.get(1).get()).isTrue();
            assertThat(ran).containsExactly("action");
        }
    }

    @Test
    void an_interrupt_ends_a_wait_and_cancels_its_alarm() throws Exception {
        FutureTask<Boolean> waiter = inThread(() -> signal.await(Deadline.after(time, Duration.ofSeconds(1))));
        time.awaitAlarms(1);

        threads.get(waiter).interrupt();

        assertThatThrownBy(waiter::get).hasCauseInstanceOf(InterruptedException.class);
        assertThat(time.alarms()).isZero();
        assertThat(signal.set()).isTrue();
    }

    @Test
    void a_thread_that_is_interrupted_does_not_begin_to_wait() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(signal::await).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted())
                .as("interrupt status after the exception")
                .isFalse();
    }

    @Test
    void an_alarm_that_fires_before_the_wait_begins_ends_it_and_leaves_the_others_in_the_list() throws Exception {
        FutureTask<Boolean> other = inThread(() -> {
            signal.await();
            return true;
        });
        awaitParked(other);
        List<String> ran = new ArrayList<>();
        signal.whenSet(() -> ran.add("action"));

        boolean answer = signal.await(Deadline.after(new FiringAtOnce(() -> {}), Duration.ofSeconds(1)));
        signal.set();

        assertThat(answer).isFalse();
        assertThat(ran).containsExactly("action");
        assertThat(other.get()).isTrue();
    }

    @Test
    void a_wait_that_its_alarm_ended_returns_false_although_the_signal_is_set_later() throws InterruptedException {
        assertThat(signal.await(Deadline.after(new FiringAtOnce(signal::set), Duration.ofSeconds(1))))
                .isFalse();
    }

    @Test
    void an_alarm_that_fires_after_the_signal_was_set_changes_nothing() throws InterruptedException {
        TimeSource late = new TimeSource() {
            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                signal.set();
                action.run();
                return () -> false;
            }
        };

        assertThat(signal.await(Deadline.after(late, Duration.ofSeconds(1)))).isTrue();
    }

    @Test
    void an_alarm_that_fires_after_the_interrupt_of_its_waiter_removes_no_other_one() {
        Signal signal = new Signal();
        List<Runnable> alarms = new ArrayList<>();
        Deadline deadline = Deadline.after(recording(alarms), Duration.ofSeconds(1));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> signal.await(deadline)).isInstanceOf(InterruptedException.class);
        AtomicInteger actions = new AtomicInteger();
        signal.whenSet(actions::incrementAndGet);

        alarms.getFirst().run(); // cancelled too late
        signal.set();

        assertThat(actions).hasValue(1);
    }

    @Test
    void an_action_that_throws_does_not_keep_the_others_from_running() {
        Signal signal = new Signal();
        List<String> ran = new ArrayList<>();
        signal.whenSet(() -> ran.add("first"));
        signal.whenSet(() -> {
            throw new StackOverflowError("second");
        });
        signal.whenSet(() -> ran.add("third"));

        assertThatThrownBy(signal::set).isInstanceOf(StackOverflowError.class).hasMessage("second");

        assertThat(ran).containsExactly("first", "third");
    }

    /** Returns a time source that stands still and whose alarms cannot be cancelled. */
    private static TimeSource recording(List<Runnable> alarms) {
        return new TimeSource() {
            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                alarms.add(action);
                return () -> false;
            }
        };
    }

    @Test
    void alarms_and_interrupts_that_race_with_set_lose_no_waiter() throws Exception {
        int rounds = 4_000;
        Signal[] signals = new Signal[rounds];
        Arrays.setAll(signals, i -> new Signal());
        Phaser start = new Phaser(2);
        Phaser end = new Phaser(3);
        FutureTask<Integer> patient = inThread(() -> {
            for (Signal each : signals) {
                each.await();
            }
            return rounds;
        });
        FutureTask<Integer> impatient = inThread(() -> {
            int set = 0;
            for (Signal each : signals) {
                try {
                    set += each.await(Deadline.after(time, Duration.ofNanos(1))) ? 1 : 0;
                } catch (InterruptedException interrupt) {
                    // lost the race to the interrupt
                }
                end.arriveAndAwaitAdvance();
                Thread.interrupted();
                end.arriveAndAwaitAdvance();
            }
            return set;
        });
        FutureTask<Integer> setter = inThread(() -> {
            int first = 0;
            for (Signal each : signals) {
                start.arriveAndAwaitAdvance();
                first += each.set() ? 1 : 0;
                end.arriveAndAwaitAdvance();
                end.arriveAndAwaitAdvance();
            }
            return first;
        });
        AtomicInteger actions = new AtomicInteger();

        for (int round = 0; round < rounds; round++) {
            signals[round].whenSet(actions::incrementAndGet);
            time.awaitAlarms(1);
            start.arriveAndAwaitAdvance();
            if (round % 2 == 0) {
                time.advance(Duration.ofNanos(1));
            } else {
                threads.get(impatient).interrupt();
            }
            end.arriveAndAwaitAdvance();
            assertThat(time.alarms()).isZero();
            end.arriveAndAwaitAdvance();
        }

        assertThat(patient.get()).isEqualTo(rounds);
        assertThat(setter.get()).isEqualTo(rounds);
        assertThat(impatient.get()).isBetween(0, rounds);
        assertThat(actions).hasValue(rounds);
    }

    /** Fires each alarm as soon as it is armed and then runs an action. */
    private record FiringAtOnce(Runnable after) implements TimeSource {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            action.run();
            after.run();
            return () -> false;
        }
    }

    @Test
    void an_action_that_was_removed_is_not_called_and_leaves_the_others_in_order() {
        Signal signal = new Signal();
        List<String> called = new ArrayList<>();
        signal.whenSet(() -> called.add("a"));
        Runnable removal = signal.whenSet(() -> called.add("b"));
        signal.whenSet(() -> called.add("c"));
        removal.run();
        removal.run();
        signal.set();
        removal.run();
        signal.whenSet(() -> called.add("d")).run();

        assertThat(called).containsExactly("a", "c", "d");
    }

    private <T> FutureTask<T> inThread(Callable<T> body) {
        FutureTask<T> task = new FutureTask<>(body);
        Thread thread = new Thread(task, "waiter");
        thread.setDaemon(true);
        threads.put(task, thread);
        thread.start();
        return task;
    }

    private void awaitParked(FutureTask<?> waiter) {
        Thread thread = threads.get(waiter);
        Wait.until(() -> thread.getState() == Thread.State.WAITING);
    }

    private static boolean result(FutureTask<Boolean> task) {
        try {
            return task.get();
        } catch (InterruptedException | ExecutionException failure) {
            throw new AssertionError(failure);
        }
    }
}
