package dev.raddle.time;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Many alarms that ride on one: arming and cancelling take a few instructions, whatever their number. */
final class Wheel extends BriefLock {

    /*
     * Overview.
     *
     * Time is cut into ticks of about a millisecond, counted from when the wheel was made. An alarm rings at the first tick
     * that begins at or after its moment: never early, and a tick late at most. Which alarms have which tick is known to
     * the `slots`. The lock guards them, the alarms in them, and two more words:
     *
     *   stroke       the one stroke that was asked of the bell and counts; null while there is none, or while it rings
     *   strokeTick   its tick; NEVER without a stroke, RINGING while a thread rings
     *
     * and keeps an invariant between them:
     *
     *   (1)  strokeTick <= slots.earliest()
     *
     * So a stroke comes in time for every alarm. Between the put of an early alarm and the stroke for it, (1) does not hold;
     * the thread that put it has yet to see to it.
     *
     * An alarm:     armed ──► rung         taken out of the slots by the thread that rings, which then runs its action
     *                     └─► cancelled    taken out of the slots by whoever cancelled it
     *
     * Each of the two takes it out under the lock, so exactly one of them happens. Alarms are taken out to ring one by one:
     * what waits behind a long action can still be cancelled.
     *
     * A stroke:     asked for ──► rings         it is still the wheel's; nobody asks for another until the ring has ended
     *                        └──► superseded    by an earlier one; it is cancelled, and does nothing if it strikes first
     *
     * Cancelling never touches the bell. A stroke that finds nothing to do asks for one for what is earliest by then, or for
     * none; so an empty wheel has at most one stroke to come, which keeps nothing alive but the wheel. A later alarm does
     * not touch the bell either. A million alarms that are armed and cancelled one after the other cost a few strokes.
     *
     * The bell is asked, and the actions run, after the lock is free. Two threads may ask at once, in either order: only one
     * of their strokes is the wheel's. What a thread has promised and not yet asked for, others rely on: if it loses its
     * processor in between, their alarms are that much late. An alarm that is armed while a thread rings needs no stroke,
     * since that thread looks at the slots before it ends. The ring's end does not depend on what the actions do: whatever leaves them, the next
     * stroke is asked for. The ring reads the clock once, so that actions that arm alarms for now do not hold the bell's
     * thread, which rings for others too.
     *
     * Many alarms may lie in a slot that is opened. They move a few at a time, with the lock free in between.
     */

    /** What calls the wheel back, in a thread of its own and never in that of the caller. */
    @FunctionalInterface
    interface Bell {
        Alarm after(long nanos, Runnable stroke);
    }

    private static final int TICK_BITS = 20;
    private static final long TICK_NANOS = 1L << TICK_BITS;
    private static final long RINGING = Long.MIN_VALUE;
    private static final int STEPS = 64; // in one section

    private final LongSupplier clock;
    private final Bell bell;
    private final long origin;
    private final Slots slots = new Slots(); // guarded by this lock
    private @Nullable Stroke stroke; // guarded by this lock
    private long strokeTick = Slots.NEVER; // guarded by this lock

    /** One call that the bell was asked for. */
    private final class Stroke implements Runnable {
        private final long tick;
        private volatile boolean superseded;
        private volatile @Nullable Alarm alarm;

        Stroke(long tick) {
            this.tick = tick;
        }

        /** Asks the bell. Whoever supersedes this meanwhile finds an alarm to cancel, or leaves a word to cancel it. */
        void ask() {
            Alarm asked = bell.after((tick << TICK_BITS) - elapsed(), this);
            alarm = asked;
            if (superseded) {
                asked.cancel();
            }
        }

        void supersede() {
            superseded = true;
            Alarm asked = alarm;
            if (asked != null) {
                asked.cancel();
            }
        }

        @Override
        public void run() {
            if (begin(this)) {
                ring();
            }
        }
    }

    /**
     * Creates a wheel without alarms.
     *
     * @param clock nanoseconds, of which only differences mean something
     * @param bell calls back at or after a moment of that clock
     */
    Wheel(LongSupplier clock, Bell bell) {
        this.clock = clock;
        this.bell = bell;
        origin = clock.getAsLong();
    }

    /** Arms an alarm, after a delay of at most 146 years. */
    Alarm after(long nanos, Runnable action) {
        long elapsed = elapsed();
        WheelAlarm alarm = new WheelAlarm(this, tick(elapsed, nanos), action);
        boolean early;
        lock();
        try {
            slots.follow(elapsed >>> TICK_BITS);
            early = slots.put(alarm) < strokeTick;
        } finally {
            unlock();
        }
        if (early) {
            askFor(alarm);
        }
        return alarm;
    }

    /** Whether an alarm will never ring, by this call or by an earlier one. */
    boolean cancel(WheelAlarm alarm) {
        lock();
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

    /** For tests: what lies where. */
    Slots slots() {
        return slots;
    }

    private long elapsed() {
        return Math.max(0, clock.getAsLong() - origin);
    }

    private static long tick(long elapsed, long nanos) {
        long roundedUp = nanos > 0 ? elapsed + nanos + TICK_NANOS - 1 : elapsed;
        return roundedUp >>> TICK_BITS;
    }

    private void askFor(WheelAlarm alarm) {
        try {
            askForEarliest();
        } catch (Throwable failure) {
            alarm.cancel(); // nobody has it
            throw failure;
        }
    }

    private void askForEarliest() {
        Stroke before;
        Stroke earlier;
        lock();
        try {
            if (slots.earliest() >= strokeTick) {
                return; // the alarm has been cancelled, or somebody else has asked, or rings
            }
            before = stroke;
            earlier = newStroke();
        } finally {
            unlock();
        }
        if (before != null) {
            before.supersede();
        }
        ask(earlier);
    }

    /** Restores (1), under the lock; the stroke has yet to be asked for. */
    private Stroke newStroke() {
        Stroke made = new Stroke(slots.earliest());
        stroke = made;
        strokeTick = made.tick;
        return made;
    }

    private void ask(Stroke made) {
        try {
            made.ask();
        } catch (Throwable failure) {
            forget(made);
            throw failure;
        }
    }

    /** Lets the next alarm that is armed ask again. */
    private void forget(Stroke failed) {
        lock();
        try {
            if (stroke == failed) {
                stroke = null;
                strokeTick = Slots.NEVER;
            }
        } finally {
            unlock();
        }
    }

    private boolean begin(Stroke struck) {
        lock();
        try {
            if (stroke != struck) {
                return false;
            }
            stroke = null;
            strokeTick = RINGING;
            return true;
        } finally {
            unlock();
        }
    }

    private void ring() {
        try {
            long now = elapsed() >>> TICK_BITS;
            for (Runnable action; (action = nextUntil(now)) != null; ) {
                run(action);
            }
        } finally {
            run(this::end);
        }
    }

    private @Nullable Runnable nextUntil(long now) {
        while (true) {
            lock();
            try {
                for (int steps = 0; steps < STEPS; steps++) {
                    if (slots.earliest() > now) {
                        return null;
                    }
                    WheelAlarm due = slots.step();
                    if (due != null) {
                        due.slot = WheelAlarm.RUNG;
                        return due.takeAction();
                    }
                }
            } finally {
                unlock();
            }
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
    }

    private void end() {
        Stroke made = null;
        lock();
        try {
            strokeTick = Slots.NEVER;
            if (!slots.isEmpty()) {
                made = newStroke();
            }
        } finally {
            unlock();
        }
        if (made != null) {
            ask(made);
        }
    }
}
