package dev.raddle.time;

import dev.raddle.lock.SpinLock;
import dev.raddle.lock.TimerThread;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Multiplexes many alarms onto one timer. Arming and cancelling take a few instructions, whatever their number. */
final class Wheel extends SpinLock {

    /*
     * Overview.
     *
     * Time is divided into ticks of about a millisecond, counted from the creation of the wheel. An alarm fires at the
     * first tick that begins at or after its moment: never early, and at most one tick late. `slots` holds the alarms,
     * ordered by tick. The wheel's lock guards the slots, the alarms in them, and two more fields:
     *
     *   wakeup       the current wakeup that was requested from the timer; null if there is none, or while alarms fire
     *   wakeupTick   its tick; NEVER without a wakeup, FIRING while a thread fires alarms
     *
     * and keeps an invariant between them:
     *
     *   (1)  wakeupTick <= slots.earliest()
     *
     * So the wakeup comes in time for every alarm. After a thread has put an early alarm and before the wakeup for it
     * has been set, (1) does not hold; that thread must restore it.
     *
     * An alarm:     armed ──► fired        removed from the slots by the firing thread, which then runs its action
     *                     └─► cancelled    removed from the slots by the canceller
     *
     * Each of the two removes it under the lock, so exactly one of them happens. The firing thread removes alarms one
     * by one: an alarm that waits behind a long action can still be cancelled.
     *
     * A wakeup:     requested ──► fires        no thread requests another one until firing has ended
     *                         └─► superseded   by an earlier one; it is cancelled, and does nothing if it fires first
     *
     * Cancelling an alarm does not touch the timer. A wakeup that finds nothing to do requests one for the alarm that
     * is then the earliest, or none; so an empty wheel has at most one pending wakeup, which the timer can make it
     * withdraw, between two wakeups. A later alarm does not touch the timer either. A million alarms that are armed
     * and cancelled in sequence cost a few wakeups.
     *
     * The timer is called, and actions run, after the lock is released. Two threads may call the timer at once, in
     * either order: only one of their wakeups is the current one. Other threads rely on a wakeup that has been set and
     * not yet requested: if its thread loses its processor in between, their alarms are late by as much. An alarm that
     * is armed while a thread fires needs no wakeup, since that thread looks at the slots before it ends. The end of
     * firing does not depend on the actions: whatever they throw, the next wakeup is requested. A firing thread reads
     * the clock once, so that actions that arm alarms for now do not occupy the timer's thread, which other alarms need
     * too.
     *
     * A slot that is opened may contain many alarms. They move a few at a time, and the lock is released in between.
     */

    /** Calls the wheel back after a delay, in a thread of its own and never in that of the caller. */
    @FunctionalInterface
    interface Timer {
        Alarm after(long nanos, TimerThread.Wakeup wakeup);
    }

    private static final int TICK_BITS = 20;
    private static final long TICK_NANOS = 1L << TICK_BITS;
    private static final long FIRING = Long.MIN_VALUE;
    private static final int STEPS_PER_SECTION = 64; // of one lock acquisition

    private final LongSupplier clock;
    private final Timer timer;
    private final long origin;
    private final WheelSlots slots = new WheelSlots(); // guarded by this lock
    private @Nullable Wakeup wakeup; // guarded by this lock
    private long wakeupTick = WheelSlots.NEVER; // guarded by this lock

    @SuppressWarnings("unused") // separates the fields of two wheels by a cache line
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    /** A callback from the timer. */
    private final class Wakeup implements TimerThread.Wakeup {
        private final long tick;
        private volatile boolean superseded;
        private volatile @Nullable Alarm alarm;

        Wakeup(long tick) {
            this.tick = tick;
        }

        /** Arms the timer. A concurrent {@link #supersede} cancels the alarm itself or leaves that to this method. */
        void request() {
            Alarm requested = timer.after((tick << TICK_BITS) - elapsed(), this);
            alarm = requested;
            if (superseded) {
                requested.cancel();
            }
        }

        void supersede() {
            superseded = true;
            Alarm requested = alarm;
            if (requested != null) {
                requested.cancel();
            }
        }

        @Override
        public void run() {
            if (beginFiring(this)) {
                fire();
            }
        }

        @Override
        public void withdrawIfUnneeded() {
            if (withdraw(this)) {
                supersede();
            }
        }
    }

    /**
     * Creates a wheel without alarms.
     *
     * @param clock a clock in nanoseconds, of which only differences mean something
     * @param timer the timer, on the same clock
     */
    Wheel(LongSupplier clock, Timer timer) {
        this.clock = clock;
        this.timer = timer;
        origin = clock.getAsLong();
    }

    /** Arms an alarm that fires after a delay of at most 146 years. */
    Alarm after(long nanos, Runnable action) {
        long elapsed = elapsed();
        WheelAlarm alarm = new WheelAlarm(this, tick(elapsed, nanos), action);
        boolean early;
        lockSoon();
        try {
            slots.advanceTo(elapsed >>> TICK_BITS);
            early = slots.put(alarm) < wakeupTick;
        } finally {
            unlock();
        }
        if (early) {
            requestWakeupFor(alarm);
        }
        return alarm;
    }

    /** Cancels an alarm. Returns whether it never fires, because of this call or an earlier one. */
    boolean cancel(WheelAlarm alarm) {
        lockSoon();
        try {
            if (alarm.slot < 0) {
                return alarm.slot == WheelAlarm.CANCELLED;
            }
            slots.remove(alarm);
            alarm.slot = WheelAlarm.CANCELLED;
        } finally {
            unlock();
        }
        alarm.takeAction();
        return true;
    }

    /** Returns the slots, for tests. */
    WheelSlots slots() {
        return slots;
    }

    private long elapsed() {
        return Math.max(0, clock.getAsLong() - origin);
    }

    private static long tick(long elapsed, long nanos) {
        long roundedUp = nanos > 0 ? elapsed + nanos + TICK_NANOS - 1 : elapsed;
        return roundedUp >>> TICK_BITS;
    }

    private void requestWakeupFor(WheelAlarm alarm) {
        try {
            requestEarliestWakeup();
        } catch (Throwable failure) {
            alarm.cancel(); // no caller will receive it
            throw failure;
        }
    }

    private void requestEarliestWakeup() {
        Wakeup before;
        Wakeup earlier;
        lockSoon();
        try {
            if (slots.earliest() >= wakeupTick) {
                return; // the alarm was cancelled, or another thread has requested a wakeup or is firing
            }
            before = wakeup;
            earlier = setWakeup();
        } finally {
            unlock();
        }
        if (before != null) {
            before.supersede();
        }
        request(earlier);
    }

    /** Restores (1), under the lock. The caller must then request the wakeup. */
    private Wakeup setWakeup() {
        Wakeup made = new Wakeup(slots.earliest());
        wakeup = made;
        wakeupTick = made.tick;
        return made;
    }

    private void request(Wakeup made) {
        try {
            made.request();
        } catch (Throwable failure) {
            discard(made);
            throw failure;
        }
    }

    /** Discards a wakeup whose request failed, so that the next alarm that is armed requests another. */
    private void discard(Wakeup failed) {
        lockSoon();
        try {
            if (wakeup == failed) {
                wakeup = null;
                wakeupTick = WheelSlots.NEVER;
            }
        } finally {
            unlock();
        }
    }

    /** Restores (1) for an empty wheel, whose wakeup this is, without a wakeup. Returns false if it is not one. */
    private boolean withdraw(Wakeup unneeded) {
        lockSoon();
        try {
            if (wakeup != unneeded || !slots.isEmpty()) {
                return false;
            }
            wakeup = null;
            wakeupTick = WheelSlots.NEVER;
            return true;
        } finally {
            unlock();
        }
    }

    private boolean beginFiring(Wakeup fired) {
        lockSoon();
        try {
            if (wakeup != fired) {
                return false;
            }
            wakeup = null;
            wakeupTick = FIRING;
            return true;
        } finally {
            unlock();
        }
    }

    private void fire() {
        try {
            long now = elapsed() >>> TICK_BITS;
            for (Runnable action; (action = nextUntil(now)) != null; ) {
                UserCode.run(action);
            }
        } finally {
            UserCode.run(this::endFiring);
        }
    }

    private @Nullable Runnable nextUntil(long now) {
        while (true) {
            lockSoon();
            try {
                for (int steps = 0; steps < STEPS_PER_SECTION; steps++) {
                    if (slots.earliest() > now) {
                        return null;
                    }
                    WheelAlarm due = slots.step();
                    if (due != null) {
                        due.slot = WheelAlarm.FIRED;
                        return due.takeAction();
                    }
                }
            } finally {
                unlock();
            }
        }
    }

    private void endFiring() {
        Wakeup made = null;
        lockSoon();
        try {
            wakeupTick = WheelSlots.NEVER;
            if (!slots.isEmpty()) {
                made = setWakeup();
            }
        } finally {
            unlock();
        }
        if (made != null) {
            request(made);
        }
    }
}
