package dev.raddle.pool;

import dev.raddle.kernel.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Threads that wait for one side of a queue to have something for them. */
final class WaitingRoom extends SpinLock {

    /*
     * Overview.
     *
     * Waking a thread costs more than running a hundred small tasks, so a putter wakes one only if none is on its way:
     *
     *   latest, oldest   the ends of the list of those who wait   guarded by the lock
     *   waiting          how many                                 written under the lock
     *   calling          somebody has been called, or is looking, and has not answered yet
     *
     * Whoever puts something into the queue calls one waiter unless `calling` is true already. Whoever was called answers,
     * looks into the queue, takes one thing, and if there is more calls the next. So a burst wakes as many threads as it
     * needs, each by the one before, and the putter pays for one of them.
     *
     * Nothing is left lying while somebody waits. Let a thing be put in after the last look of a waiter W.
     *   - W joins (volatile write of `waiting`), then looks again. The putter publishes, has a full fence, then reads
     *     `waiting`. One of the two sees the other: W the thing, or the putter W.
     *   - The putter sees W but `calling` as well: then somebody C has been called and not answered. C answers (volatile
     *     write of `calling`), then looks. Either C's look sees the thing, or C answered before the putter read `calling`,
     *     which then was false. C takes it or finds that another took it; and having taken one it calls on if more is left.
     *   - C may be interrupted or out of time by then; it answers and looks all the same.
     *
     * Two may race for a place: the caller, who takes it out of the list, and its own thread, which leaves. Both decide under
     * the lock. Of workers the latest is called, because its cache is warm, and those that have waited longest may then end.
     * Of submitters the oldest is; one that was called and came too late keeps its turn.
     *
     * Where a thing cannot lie, because the queue hands over, a waiter that brings it shows it before it waits, and takes it
     * back when it leaves; in between it makes no attempt. A thread on the other side takes it from the waiter that has waited
     * longest. All three are done under the lock, so the thing goes one way. A taker that finds nothing shown must be made to
     * look again after something is: see Crew.
     *
     * Near the end of the stack a call or a wait fails before it has begun, so nobody is left called and not woken.
     *
     * A thread that finds nothing looks for a moment before it waits, as if it had been called: what is put in meanwhile
     * wakes nobody. Only one at a time does so, and for less than it would take to be woken.
     */

    /** One thread's place in the room. */
    static final class Place {
        private final Thread thread = Thread.currentThread();
        private @Nullable Place earlier; // guarded by the room
        private @Nullable Place later; // guarded by the room
        private boolean listed; // guarded by the room
        private volatile boolean called;
        private volatile boolean expired;
        private final @Nullable Runnable thing; // what the thread brings, to be shown while it waits
        private boolean shown; // guarded by the room
        private volatile boolean taken; // written under the room's lock

        /** A place for a thread that waits for something. */
        Place() {
            this(null);
        }

        /** A place for a thread that wants to get rid of something, which may be taken from it while it waits. */
        Place(@Nullable Runnable thing) {
            this.thing = thing;
        }

        /** Returns whether the thing has been taken: for its own thread, after the wait. */
        boolean isTaken() {
            return taken;
        }

        /** Tells whether its thread is still willing to wait. */
        boolean isAwaited() {
            return !expired && !thread.isInterrupted();
        }

        boolean isExpired() {
            return expired;
        }

        /** Ends the wait from outside: for alarms. */
        void expire() {
            expired = true;
            LockSupport.unpark(thread);
        }
    }

    private static final int MOST_LOOKS = Runtime.getRuntime().availableProcessors() > 1 ? 256 : 0;
    private static final int FEWEST_LOOKS = 4;
    private static final VarHandle CALLING;

    static {
        try {
            CALLING = MethodHandles.lookup().findVarHandle(WaitingRoom.class, "calling", boolean.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private int looks = FEWEST_LOOKS; // whoever is calling
    private volatile boolean calling;
    private volatile int waiting;
    private final boolean latestFirst;
    private @Nullable Place latest; // guarded by this lock
    private @Nullable Place oldest; // guarded by this lock

    WaitingRoom(boolean latestFirst) {
        this.latestFirst = latestFirst;
    }

    /** Calls one waiter, unless one is on its way. To be called after a full fence behind what it will look for. */
    void call() {
        if (waiting != 0 && !calling) {
            callNext();
        }
    }

    private void callNext() {
        StackRoom.ensure();
        Place place;
        lock();
        try {
            place = latestFirst ? latest : oldest;
            if (place == null || !CALLING.compareAndSet(this, false, true)) {
                return;
            }
            remove(place);
            place.called = true;
        } finally {
            unlock();
        }
        LockSupport.unpark(place.thread);
    }

    /** Calls everybody, to look again for themselves. */
    void callAll() {
        StackRoom.ensure();
        Thread[] threads;
        lock();
        try {
            threads = new Thread[waiting];
            for (int i = 0; oldest != null; i++) {
                Place place = oldest;
                remove(place);
                place.called = true;
                threads[i] = place.thread;
            }
        } finally {
            unlock();
        }
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
    }

    /** As the other, for a place that brings nothing. */
    boolean attempt(Place place, BooleanSupplier attempt, BooleanSupplier more) throws InterruptedException {
        return attempt(place, attempt, more, () -> {});
    }

    /**
     * Makes attempts until one succeeds, and waits in between.
     *
     * @param place what may end the wait
     * @param attempt what the thread waits for, tried again each time there may be something for it
     * @param more whether there is something for another waiter as well
     * @param shown is run after what the place brings has been shown, to make those look that would take it
     * @return true if an attempt succeeded, false if the place has expired
     * @throws InterruptedException if the thread is interrupted before or while it waits, and not if it succeeded
     */
    boolean attempt(Place place, BooleanSupplier attempt, BooleanSupplier more, Runnable shown)
            throws InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            StackRoom.ensure();
            join(place);
            boolean done = true; // if the attempt throws, it is not repeated
            try {
                done = attempt.getAsBoolean();
                if (!done) {
                    show(place, shown);
                    await(place);
                }
            } finally {
                if (leave(place)) {
                    try {
                        done = done || place.taken || attempt.getAsBoolean();
                    } finally {
                        callIf(more);
                    }
                }
            }
            if (done || place.expired) {
                return done;
            }
        }
    }

    private void callIf(BooleanSupplier more) {
        if (more.getAsBoolean()) {
            call();
        }
    }

    /**
     * Looks for a moment without waiting, unless another thread does.
     *
     * @return true if there may be something now: then the caller tries, and calls on if there is more than it takes
     */
    boolean look(BooleanSupplier more) {
        if (MOST_LOOKS == 0 || calling || !CALLING.compareAndSet(this, false, true)) {
            return false;
        }
        int left = looks;
        while (left > 0 && !more.getAsBoolean()) {
            Thread.onSpinWait();
            left--;
        }
        looks = left > 0 ? Math.min(2 * looks, MOST_LOOKS) : Math.max(looks / 2, FEWEST_LOOKS);
        calling = false;
        return true;
    }

    private void join(Place place) {
        lock();
        try {
            boolean oldestAgain = place.called && !latestFirst;
            place.called = false;
            place.listed = true;
            if (oldestAgain) {
                link(place, oldest);
            } else {
                link(latest, place);
            }
            if (oldestAgain || oldest == null) {
                oldest = place;
            }
            if (!oldestAgain || latest == null) {
                latest = place;
            }
            count(1);
        } finally {
            unlock();
        }
    }

    private void show(Place place, Runnable shown) {
        if (place.thing != null) {
            lock();
            try {
                place.shown = place.listed;
            } finally {
                unlock();
            }
            VarHandle.fullFence();
            shown.run();
        }
    }

    /**
     * Takes what has been shown for longest, if anything is.
     *
     * @param allowed whether it may be taken, asked under the lock
     */
    @Nullable
    Runnable takeShown(BooleanSupplier allowed) {
        if (waiting == 0) {
            return null;
        }
        Place place;
        lock();
        try {
            place = oldest;
            while (place != null && !place.shown) {
                place = place.later;
            }
            if (place == null || !allowed.getAsBoolean()) {
                return null;
            }
            remove(place);
            place.taken = true;
            place.called = true;
        } finally {
            unlock();
        }
        LockSupport.unpark(place.thread);
        return place.thing;
    }

    private void await(Place place) {
        while (!place.called && place.isAwaited()) {
            LockSupport.park(this);
        }
    }

    /** Gives a place up, and answers if it was called: then the caller looks again, and calls on if there is more. */
    private boolean leave(Place place) {
        lock();
        try {
            if (place.listed) {
                remove(place);
                return false;
            }
        } finally {
            unlock();
        }
        calling = false;
        return true;
    }

    private void remove(Place place) {
        Place earlier = place.earlier;
        Place later = place.later;
        link(earlier, later);
        if (earlier == null) {
            oldest = later;
        }
        if (later == null) {
            latest = earlier;
        }
        place.listed = false;
        place.shown = false;
        place.earlier = null;
        place.later = null;
        count(-1);
    }

    private void count(int change) {
        int count = waiting;
        waiting = count + change;
    }

    private static void link(@Nullable Place earlier, @Nullable Place later) {
        if (earlier != null) {
            earlier.later = later;
        }
        if (later != null) {
            later.earlier = earlier;
        }
    }
}
