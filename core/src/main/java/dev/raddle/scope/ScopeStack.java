package dev.raddle.scope;

import dev.raddle.lock.Fields;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimedWait;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The stack of scopes that a thread has open, and its waits, during which it starts threads for other threads. */
final class ScopeStack {

    /*
     * Overview.
     *
     * In the JDK only the owner of a scope may start threads in it. Here a subtask may fork too, and asks the owner to
     * start the thread:
     *
     *   mailbox   NOT_WAITING         the owner is not waiting; no thread may post
     *             null, or Requests   the owner waits in join, joinUntil or close; newest request first
     *
     * The owner opens the mailbox before its last check whether it has to wait, and takes the requests after every
     * wakeup. When it stops waiting, one atomic step takes the last requests and sets NOT_WAITING. So a request is
     * either posted to an owner that will see it, or not posted at all. A poster wakes the owner and parks until it is
     * served; serving a request takes the owner one step without user code.
     *
     * An open mailbox also means that the owner must be woken. A thread that ends the wait (the last subtask to end, a
     * shutdown) first writes its state and then reads the mailbox; the owner first opens the mailbox and then
     * reads that state.
     *
     * If a wakeup has no visible cause, the owner assumes that the JDK's container has become empty, because the
     * container then wakes its owner. If subtasks are still counted, their threads may have terminated without running
     * them.
     */
    private static final Object NOT_WAITING = new Object();

    /** The stack, or {@link #BOUND_ONCE} while the thread has no scope open. */
    private static final ThreadLocal<@Nullable Object> CURRENT = new ThreadLocal<>();

    /** Says that the thread has bound a scoped value. A class of the JDK, so that a pooled thread retains no other. */
    private static final Object BOUND_ONCE = true;

    private static final VarHandle MAILBOX = Fields.handle(MethodHandles.lookup(), "mailbox", Object.class);

    /**
     * Binds a scoped value in every owner before its first scope. A thread that binds its first scoped value while a
     * scope is open seems to the JDK to have other bindings afterwards, and could not fork any more.
     */
    private static final ScopedValue.Carrier BIND_ONCE = ScopedValue.where(ScopedValue.newInstance(), true);

    /** A request to an owner to start a thread. */
    static final class Request {
        private final Runnable start;
        private final Thread poster = Thread.currentThread();

        @Nullable
        Object next; // the older request

        private @Nullable Throwable failure; // guarded by served
        private volatile boolean served;

        Request(Runnable start) {
            this.start = start;
        }

        private void serve() {
            try {
                start.run();
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                served = true;
                LockSupport.unpark(poster);
            }
        }

        /** Returns the exception if starting the thread failed, or null. */
        @Nullable
        Throwable failure() {
            return failure;
        }
    }

    final Thread thread = Thread.currentThread();

    @Nullable
    SubtaskScope innermost; // owner's thread only

    @SuppressWarnings("UnusedVariable") // by MAILBOX
    private volatile @Nullable Object mailbox = NOT_WAITING;

    private ScopeStack() {}

    /** Returns the stack of the calling thread. */
    static ScopeStack current() {
        Object known = CURRENT.get();
        if (known instanceof ScopeStack stack) {
            return stack;
        }
        ScopeStack stack = known == BOUND_ONCE ? new ScopeStack() : BIND_ONCE.call(ScopeStack::new);
        CURRENT.set(stack);
        return stack;
    }

    /** Returns the innermost scope that the calling thread has open, or null if there is none. */
    static @Nullable SubtaskScope innermostOfCaller() {
        Object known = CURRENT.get();
        if (known == null) {
            CURRENT.remove();
        }
        return known instanceof ScopeStack stack ? stack.innermost : null;
    }

    /**
     * Removes a scope from the stack, and severs the scopes that were opened after it, innermost first.
     *
     * @return whether no scope was opened after it
     */
    boolean pop(SubtaskScope scope) {
        if (innermost != scope && !isOnStack(scope)) {
            return true; // an enclosing scope was closed before, and removed this one
        }
        boolean inOrder = true;
        while (innermost != null && innermost != scope) {
            SubtaskScope inner = innermost;
            inner.sever();
            innermost = inner.enclosingInSameThread();
            inOrder = false;
        }
        innermost = scope.enclosingInSameThread();
        if (innermost == null && CURRENT.get() == this) {
            CURRENT.set(BOUND_ONCE); // the thread may soon open another
        }
        return inOrder;
    }

    private boolean isOnStack(SubtaskScope scope) {
        for (SubtaskScope each = innermost; each != null; each = each.enclosingInSameThread()) {
            if (each == scope) {
                return true;
            }
        }
        return false;
    }

    /** Wakes the owner if it waits. */
    void wake() {
        if (mailbox != NOT_WAITING) {
            LockSupport.unpark(thread);
        }
    }

    /** Waits until the wait for a scope is over, and serves requests meanwhile. Called by the owner. */
    void await(SubtaskScope scope, boolean closing) throws InterruptedException {
        if (!scope.isWaitOver(closing)) {
            park(scope, closing, null);
        }
    }

    /** Waits in the same way for a join until a deadline. Returns false if the deadline passed first. */
    boolean await(SubtaskScope scope, Deadline deadline) throws InterruptedException {
        if (scope.isWaitOver(false)) {
            return true;
        }
        TimedWait wait = new TimedWait(deadline, () -> {});
        try {
            return park(scope, false, wait);
        } finally {
            wait.end();
        }
    }

    private boolean park(SubtaskScope scope, boolean closing, @Nullable TimedWait wait) throws InterruptedException {
        mailbox = null;
        boolean unexplained = false; // whether the last wakeup had no visible cause
        try {
            while (!scope.isWaitOver(closing)) {
                if (unexplained) { // handled before the wait can end otherwise, because the container wakes only once
                    unexplained = false;
                    scope.abandonDead();
                    continue;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (wait != null && wait.isExpired()) {
                    return false;
                }
                TimedWait.park(wait, scope);
                Object posted = MAILBOX.getAndSet(this, null);
                unexplained = posted == null;
                if (posted != null) {
                    serve(posted);
                }
            }
            return true;
        } finally {
            Object posted = MAILBOX.getAndSet(this, NOT_WAITING);
            if (posted != null) {
                serve(posted);
            }
        }
    }

    private static void serve(Object posted) {
        for (Object each = posted; each instanceof Request request; ) {
            each = request.next; // read before the poster continues
            request.serve();
        }
    }

    /** Posts a request and waits until the owner has served it. Returns false if the owner is not waiting. */
    boolean post(Request request) {
        Object head;
        do {
            head = mailbox;
            if (head == NOT_WAITING) {
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
