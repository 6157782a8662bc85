package dev.raddle.scope;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread that has scopes open: the stack of them, its waiting, and what it starts for others while it waits. */
final class Owner {

    /*
     * Overview.
     *
     * The JDK lets only the owner of a scope start threads in it. Here a subtask may, and asks the owner to do it:
     *
     *   mailbox   AWAY                 the owner is not waiting; nobody may post
     *             null, or Requests    the owner waits in join, joinUntil or close; newest request first
     *
     * The owner opens the mailbox before it looks for the last time whether it has to wait, and takes what is there after
     * every wakeup. It leaves by putting AWAY in its place, by the same step that takes the last requests; so a request is
     * posted to an owner that will see it, or not posted at all. A poster wakes the owner and sleeps until it is served,
     * which takes the owner one step without foreign code.
     *
     * An open mailbox also says that there is somebody to wake. Whoever makes the wait pointless (the last subtask to end, a
     * shutdown, an alarm) writes that first and reads the mailbox then; the owner opens it first and reads then.
     *
     * A wakeup without a visible cause is taken as a sign that the JDK's container has become empty: it wakes its owner
     * then. If subtasks are still counted, their threads may have died without running them.
     */
    private static final Object AWAY = new Object();
    private static final ThreadLocal<@Nullable Owner> OF_THREAD = new ThreadLocal<>();
    private static final VarHandle MAILBOX;

    /**
     * The JDK takes a thread that has never bound a scoped value for one with other bindings as soon as it has bound one and
     * let it go, and would refuse to fork. So every owner has bound one.
     */
    private static final ScopedValue.Carrier TOUCH = ScopedValue.where(ScopedValue.newInstance(), true);

    static {
        try {
            MAILBOX = MethodHandles.lookup().findVarHandle(Owner.class, "mailbox", Object.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** Asks an owner to start a thread. */
    static final class Request {
        private final JdkContainer container;
        private final ForkedSubtask<?> subtask;
        private final Thread prepared;
        private final Thread poster = Thread.currentThread();

        @Nullable
        Object next; // the older request

        private @Nullable Throwable failure; // guarded by served
        private volatile boolean served;

        Request(JdkContainer container, ForkedSubtask<?> subtask, Thread prepared) {
            this.container = container;
            this.subtask = subtask;
            this.prepared = prepared;
        }

        private void serve() {
            try {
                container.startHere(subtask, prepared);
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                served = true;
                LockSupport.unpark(poster);
            }
        }

        /** Returns what was thrown instead of starting the thread, or null. */
        @Nullable
        Throwable failure() {
            return failure;
        }
    }

    /** Tells the owner that a moment has come. */
    private static final class Expiry implements Runnable {
        private final Owner owner;
        private volatile boolean passed;

        Expiry(Owner owner) {
            this.owner = owner;
        }

        @Override
        public void run() {
            passed = true;
            owner.wake();
        }
    }

    private final Thread thread = Thread.currentThread();
    private @Nullable StructuredTaskScope<?> innermost; // owner's thread only

    @SuppressWarnings("UnusedVariable") // by MAILBOX
    private volatile @Nullable Object mailbox = AWAY;

    private Owner() {}

    /** Returns the calling thread as an owner. */
    static Owner current() {
        Owner known = OF_THREAD.get();
        if (known == null) {
            TOUCH.run(() -> {});
            known = new Owner();
            OF_THREAD.set(known);
        }
        return known;
    }

    /** Returns the outermost open scope of the calling thread that has a scope of the JDK's, or null if there is none. */
    static @Nullable JdkContainer outermostContainer() {
        Owner known = OF_THREAD.get();
        if (known == null) {
            OF_THREAD.remove();
            return null;
        }
        JdkContainer outermost = null;
        for (StructuredTaskScope<?> each = known.innermost; each != null; each = each.enclosingHere()) {
            if (each.container() instanceof JdkContainer container) {
                outermost = container;
            }
        }
        return outermost;
    }

    boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    Thread thread() {
        return thread;
    }

    @Nullable
    StructuredTaskScope<?> innermost() {
        return innermost;
    }

    void push(StructuredTaskScope<?> scope) {
        innermost = scope;
    }

    /**
     * Takes a scope off the stack, and severs all that were opened after it, innermost first.
     *
     * @return true if there were none of those
     */
    boolean pop(StructuredTaskScope<?> scope) {
        if (!isOnStack(scope)) {
            return true; // one outside it was closed before, and took it along
        }
        boolean inOrder = true;
        while (innermost != null && innermost != scope) {
            StructuredTaskScope<?> inner = innermost;
            inner.sever();
            innermost = inner.enclosingHere();
            inOrder = false;
        }
        innermost = scope.enclosingHere();
        if (innermost == null && OF_THREAD.get() == this) {
            OF_THREAD.remove();
        }
        return inOrder;
    }

    private boolean isOnStack(StructuredTaskScope<?> scope) {
        for (StructuredTaskScope<?> each = innermost; each != null; each = each.enclosingHere()) {
            if (each == scope) {
                return true;
            }
        }
        return false;
    }

    /** Wakes the owner, if it waits. */
    void wake() {
        if (mailbox != AWAY) {
            LockSupport.unpark(thread);
        }
    }

    /** Waits until a scope wants no more waiting. Serves others meanwhile. Called by the owner. */
    void await(StructuredTaskScope<?> scope, boolean closing) throws InterruptedException {
        if (!scope.isQuiet(closing)) {
            park(scope, closing, null);
        }
    }

    /** Waits the same way, until a deadline. Returns false if that came first. */
    boolean await(StructuredTaskScope<?> scope, boolean closing, Deadline deadline) throws InterruptedException {
        if (scope.isQuiet(closing)) {
            return true;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (deadline.hasPassed()) {
            return false;
        }
        Expiry expiry = new Expiry(this);
        Alarm alarm = deadline.alarm(expiry);
        try {
            return park(scope, closing, expiry);
        } finally {
            alarm.cancel();
        }
    }

    private boolean park(StructuredTaskScope<?> scope, boolean closing, @Nullable Expiry expiry)
            throws InterruptedException {
        mailbox = null;
        try {
            while (true) {
                if (scope.isQuiet(closing)) {
                    return true;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (expiry != null && expiry.passed) {
                    return false;
                }
                LockSupport.park(scope);
                if (!serve(MAILBOX.getAndSet(this, null)) && !scope.isQuiet(closing)) {
                    scope.abandonDead();
                }
            }
        } finally {
            serve(MAILBOX.getAndSet(this, AWAY));
        }
    }

    private static boolean serve(@Nullable Object posted) {
        Object each = posted;
        while (each instanceof Request request) {
            each = request.next; // the poster may be gone once it is served
            request.serve();
        }
        return posted != null;
    }

    /** Has the owner serve a request. Returns false if it is not waiting, and has not seen it. */
    boolean handOver(Request request) {
        Object head;
        do {
            head = mailbox;
            if (head == AWAY) {
                return false;
            }
            request.next = head;
        } while (!MAILBOX.compareAndSet(this, head, request));
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (!request.served) {
            LockSupport.park(request);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }
}
