package dev.raddle.time;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An event that happens once. Threads wait for it, actions follow it.
 *
 * {@snippet :
 * Signal done = new Signal();
 * done.whenSet(() -> System.out.println("over"));
 * done.set();
 * done.await();
 * }
 *
 * <p>Memory consistency effects: actions before {@link #set()} <i>happen-before</i> everything that follows a return from
 * {@link #await()}, a true answer of {@link #isSet()}, and the actions given to {@link #whenSet}.
 */
public final class Signal {

    /*
     * Overview.
     *
     * `set` turns true once; `first` and `last` are the ends of the list of those who want to hear of it, and are null from
     * then on. Both are guarded by this signal's monitor, under which nothing foreign ever runs: setting takes the whole
     * list out and wakes its members after the monitor is free.
     *
     * A listener leaves the list in O(1) when it has waited long enough or was interrupted, so that polling with short
     * timeouts leaves nothing behind. It joins the list before its alarm is made: an alarm may ring at once. Three may race
     * for a listener: the setter, its alarm, its own thread. Each decides under the monitor, and `expired` is written only
     * there, so a wait that ended by its alarm says so although the signal is set a moment later.
     *
     * A platform thread looks at `set` again and again for a while before it parks: for about as long as to park and to be
     * woken would take, so it loses no more than that, and what is set soon is seen soon. A virtual thread parks at once;
     * the one that it waits for may need its carrier.
     */
    private static final class Listener {
        final @Nullable Thread thread;
        final @Nullable Runnable action;

        @Nullable
        Listener previous; // guarded by the signal

        @Nullable
        Listener next; // guarded by the signal until the list is taken out

        volatile boolean expired;

        Listener(@Nullable Thread thread, @Nullable Runnable action) {
            this.thread = thread;
            this.action = action;
        }

        void hear() {
            if (action != null) {
                action.run();
            } else {
                LockSupport.unpark(thread);
            }
        }
    }

    private static final int LOOKS = Runtime.getRuntime().availableProcessors() > 1 ? 1024 : 0; // tens of microseconds

    private volatile boolean set;
    private @Nullable Listener first; // guarded by this
    private @Nullable Listener last; // guarded by this

    /** Creates a signal that is not set. */
    public Signal() {}

    /**
     * Tells whether the event has happened. Never blocks.
     *
     * @return true from the moment of {@link #set()} on
     */
    public boolean isSet() {
        return set;
    }

    /**
     * Makes the event happen: wakes the waiting threads first, then runs the actions in this thread, each in the order of
     * arrival. The second call and later ones do nothing.
     *
     * @return true if this call was the first
     */
    public boolean set() {
        Listener heard;
        synchronized (this) {
            if (set) {
                return false;
            }
            set = true;
            heard = first;
            first = null;
            last = null;
        }
        for (Listener listener = heard; listener != null; listener = listener.next) {
            if (listener.action == null) {
                listener.hear();
            }
        }
        for (Listener listener = heard; listener != null; listener = listener.next) {
            if (listener.action != null) {
                listener.hear();
            }
        }
        return true;
    }

    /**
     * Runs an action when the event happens, in the thread that sets it, or at once, in this thread, if it has happened.
     *
     * @param action what to do; it must not throw
     */
    public void whenSet(Runnable action) {
        if (!join(new Listener(null, action))) {
            action.run();
        }
    }

    /**
     * Waits until the event has happened.
     *
     * @throws InterruptedException if the calling thread is interrupted before or while it waits
     */
    public void await() throws InterruptedException {
        if (!isSetSoon()) {
            Listener listener = new Listener(Thread.currentThread(), null);
            if (join(listener)) {
                park(listener);
            }
        }
    }

    /**
     * Waits until the event has happened or a moment has come.
     *
     * @param deadline the moment; one that has passed does not wait
     * @return true if the event has happened, false if the moment came first
     * @throws InterruptedException if the calling thread is interrupted before or while it waits
     */
    public boolean await(Deadline deadline) throws InterruptedException {
        if (set) {
            return true;
        }
        if (deadline.hasPassed()) {
            return false;
        }
        if (isSetSoon()) {
            return true;
        }
        Listener listener = new Listener(Thread.currentThread(), null);
        if (!join(listener)) {
            return true;
        }
        Alarm alarm = deadline.alarm(() -> expire(listener));
        try {
            return park(listener);
        } finally {
            alarm.cancel();
        }
    }

    private boolean isSetSoon() {
        Thread self = Thread.currentThread();
        int looks = self.isVirtual() ? 0 : LOOKS;
        while (!set && looks-- > 0 && !self.isInterrupted()) {
            Thread.onSpinWait();
        }
        return set;
    }

    private boolean park(Listener listener) throws InterruptedException {
        while (!set && !listener.expired) {
            if (Thread.interrupted()) {
                leave(listener);
                throw new InterruptedException();
            }
            LockSupport.park(this);
        }
        return !listener.expired;
    }

    private synchronized boolean join(Listener listener) {
        if (set) {
            return false;
        }
        listener.previous = last;
        if (last == null) {
            first = listener;
        } else {
            last.next = listener;
        }
        last = listener;
        return true;
    }

    private void expire(Listener listener) {
        synchronized (this) {
            if (set) {
                return;
            }
            leave(listener);
            listener.expired = true;
        }
        listener.hear();
    }

    private synchronized void leave(Listener listener) {
        if (set || listener.expired) {
            return; // it is in no list any more
        }
        Listener before = listener.previous;
        Listener after = listener.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
    }

    @Override
    public String toString() {
        return set ? "signal, set" : "signal, not set";
    }
}
