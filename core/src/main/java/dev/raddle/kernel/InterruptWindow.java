package dev.raddle.kernel;

import dev.raddle.lock.Fields;
import dev.raddle.time.UserCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The handshake between a thread and those that interrupt it: an interrupt that is meant for one activity of a thread
 * never reaches the next. A class whose objects have one such activity at a time extends this one.
 */
public abstract class InterruptWindow {

    /*
     * Overview.
     *
     * interrupt() names a thread, not what the thread does. A canceller that reads "this thread runs that task" and
     * then calls interrupt() may be late by any time, and interrupt the thread's next task. So interrupts are sent only
     * inside a window, and the runner does not leave the activity while one is being sent:
     *
     *   OPEN ──────► SENDING ──────► OPEN       a canceller that only interrupts
     *   OPEN ──────► SENDING ──────► CLOSED     a canceller that also ends the activity, or interrupts it once only
     *   OPEN ──────────────────────► CLOSED     the runner, when it leaves the activity
     *   CLOSED ────────────────────► OPEN       the runner, when it enters the next activity
     *
     * The steps from OPEN are a compare-and-set. A canceller calls interrupt() in the state SENDING only. The runner
     * that finds SENDING waits until the canceller has left it, and then clears its interrupt status where the
     * interrupt has served its purpose. No interrupt is sent after that.
     *
     * The runner waits with Thread.yield(), not by spinning: interrupt() may take long, because it closes the channel
     * that the thread waits for, and a canceller in a virtual thread may need the carrier of the runner meanwhile.
     *
     * The workers of a pool are in a window while they are idle, the subtasks of a StructuredTaskScope from their
     * creation to their end. A TaskRun and a flow's node follow the same protocol in a field which also holds the
     * runner and the outcome: the runner's own presence there is OPEN, an outcome is CLOSED. They share `send` and
     * `yieldToSender`.
     */

    private static final byte OPEN = 0;
    private static final byte SENDING = 1;
    private static final byte CLOSED = 2;
    private static final VarHandle WINDOW = Fields.handle(MethodHandles.lookup(), "window", byte.class);

    private volatile byte window;

    /** Creates a window that is open. */
    protected InterruptWindow() {}

    /** Opens the window. Called by the runner; interrupts may arrive from now on. */
    protected final void openWindow() {
        window = OPEN;
    }

    /**
     * Closes the window, unless an interrupt has closed it. Called by the runner; no interrupt is sent when this has
     * returned. The interrupt status of the thread is left as it is.
     *
     * @return true if this call closed the window; false if it was closed
     */
    protected final boolean closeWindow() {
        while (!WINDOW.compareAndSet(this, OPEN, CLOSED)) {
            if (window == CLOSED) {
                return false;
            }
            yieldToSender();
        }
        return true;
    }

    /**
     * Returns whether the window is open.
     *
     * @return false if it is closed; true also while an interrupt is being sent
     */
    protected final boolean isWindowOpen() {
        return window != CLOSED;
    }

    /**
     * Interrupts a thread, if the window is open and no other interrupt is being sent.
     *
     * @param runner the thread whose window this is
     * @param closing whether the window is closed afterwards, so that no second interrupt is sent
     * @param report the receiver of an exception that {@link Thread#interrupt()} throws, or null for the uncaught
     *     exception handler
     * @return true if this call sent an interrupt
     */
    protected final boolean interrupt(Thread runner, boolean closing, @Nullable Consumer<Throwable> report) {
        if (!WINDOW.compareAndSet(this, OPEN, SENDING)) {
            return false;
        }
        try {
            send(runner, report);
        } finally {
            window = closing ? CLOSED : OPEN;
        }
        return true;
    }

    /**
     * Interrupts a thread. Does not throw what {@link Thread#interrupt()} of a subclass throws: the caller has to end
     * the handshake.
     *
     * @param runner the thread
     * @param report the receiver of an exception, or null for the uncaught exception handler
     */
    public static void send(Thread runner, @Nullable Consumer<Throwable> report) {
        try {
            runner.interrupt();
        } catch (Throwable failure) {
            if (report == null) {
                UserCode.uncaught(failure);
            } else {
                report.accept(failure);
            }
        }
    }

    /** Lets the thread proceed that is sending an interrupt to the calling thread. */
    @SuppressWarnings("ThreadPriorityCheck") // the sender may need the carrier of this thread
    public static void yieldToSender() {
        Thread.yield();
    }
}
