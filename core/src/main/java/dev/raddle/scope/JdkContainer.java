package dev.raddle.scope;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** The JDK's own scope as a container of threads. */
final class JdkContainer implements Container, ThreadFactory {

    /*
     * Overview.
     *
     * The owner forks: the JDK's scope calls newThread with its own runnable, which calls the subtask in the end.
     *
     * Another thread forks: it makes a thread from the factory itself, as always, and then
     *
     *   (a) the owner waits somewhere: it forks in the caller's name, and newThread answers with the prepared thread;
     *   (b) else the caller, inside the scope, has a scope of the JDK's below all that it does, and forks in that one. If the
     *       caller has no scope of its own open, that is one opened for this. If it has, it is that of its outermost scope,
     *       which then has guests: when that scope closes, its scope of the JDK's stays open for them.
     *
     * Either way the JDK hands all scoped values on, those that are in force throughout the caller's subtask: within a binding
     * of its own a subtask cannot fork into a scope around it, whether the owner waits or not. The thread of a subtask that
     * forks in its own scope of the JDK's ends after the threads it started.
     *
     * A scope of the JDK's that was closed from outside (because a scope around it was closed, or a scoped value's extent was
     * left) makes the thread and does not start it, and does not say so. The forker looks at the thread.
     *
     * While the JDK's scope has all threads, `complete`, it wakes the owner when they are gone, and subtasks do not: one
     * wakeup instead of two, and no second wait in close(). `complete` is unset before the first thread is started elsewhere
     * and after its subtask is counted. So whoever counts down to zero afterwards sees it. A container with guests is not
     * complete either: its threads may be gone while they are there.
     */
    private final StructuredTaskScope<?> scope;
    private final JdkScope jdk;

    private volatile boolean complete = JdkScope.WAKES_OWNER;
    private @Nullable ForkedSubtask<?> forking; // owner's thread only: for newThread
    private @Nullable Thread prepared; // the same
    private @Nullable Inner guests; // owner's thread only

    JdkContainer(StructuredTaskScope<?> scope) {
        this.scope = scope;
        this.jdk = JdkScope.open(scope.name(), this);
    }

    @Override
    public void start(ForkedSubtask<?> subtask) {
        if (scope.owner().isCurrentThread()) {
            startHere(subtask, null);
        } else {
            startFromInside(subtask);
        }
    }

    /** Starts a subtask in the owner's thread: in a new thread, or in one that somebody has made. */
    void startHere(ForkedSubtask<?> subtask, @Nullable Thread made) {
        forking = subtask;
        prepared = made;
        jdk.fork(subtask);
    }

    @Override
    public Thread newThread(Runnable run) {
        if (guests != null && guests.isStarting()) {
            return guests.newThread(run);
        }
        ForkedSubtask<?> subtask = forking;
        Thread thread = prepared;
        forking = null;
        prepared = null; // the factory may fork, too
        if (thread == null) {
            thread = scope.newThread(run);
        }
        if (subtask != null) {
            subtask.thread = thread;
        }
        return thread;
    }

    private void startFromInside(ForkedSubtask<?> subtask) {
        ensureNothingBound();
        Entry entry = new Entry(subtask);
        Thread thread = scope.newThread(entry);
        Owner.Request request = new Owner.Request(this, subtask, thread);
        if (scope.owner().handOver(request)) {
            Throwable failure = request.failure();
            switch (failure) {
                case null -> {
                    return;
                }
                case StructureViolationException ownersBindings -> thread = scope.newThread(entry); // that one is spent
                case Error error -> throw error;
                default -> throw (RuntimeException) failure;
            }
        }
        complete = false;
        Inner inner = Inner.ofCaller(scope);
        subtask.thread = thread;
        inner.start(thread);
    }

    /** Ensures that the calling thread's subtask is not within a binding of its own. The stack is all that tells. */
    private void ensureNothingBound() {
        boolean bound = StackWalker.getInstance()
                .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                        .takeWhile(each -> !each.equals(ForkedSubtask.class.getName()))
                        .anyMatch(ScopedValue.Carrier.class.getName()::equals));
        if (bound) {
            throw new StructureViolationException(
                    "a subtask forks under the scoped values it was started with; this fork in scope \"" + scope.name()
                            + "\" is within a binding of its own");
        }
    }

    private Inner guests() {
        if (guests == null) {
            complete = false;
            guests = new Inner(jdk);
        }
        return guests;
    }

    @Override
    public void close() {
        StructuredTaskScope<?> around = StructuredTaskScope.ofCaller();
        if (guests != null && around != null && guests.isInUse()) {
            Inner.keep(around, guests);
        } else if (jdk.joinAndClose()) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean wakesOwner() {
        return complete;
    }

    @Override
    public String toString() {
        return "JDK scope";
    }

    /** A scope of the JDK's in a subtask's thread, below all that the subtask does, for what it forks into outer scopes. */
    static final class Inner implements ThreadFactory {
        private final JdkScope jdk;
        private final List<Thread> started = new ArrayList<>(); // its thread only
        private @Nullable Thread prepared; // its thread only

        private Inner(String name) {
            jdk = JdkScope.open(name, this);
        }

        private Inner(JdkScope lent) {
            jdk = lent;
        }

        /** Returns the calling thread's, which runs a subtask. */
        static Inner ofCaller(StructuredTaskScope<?> target) {
            StructuredTaskScope<?> mine = StructuredTaskScope.ofCaller();
            if (mine == null) {
                throw new AssertionError("a thread inside a scope runs a subtask");
            }
            Thread self = Thread.currentThread();
            Inner known = mine.innerOf(self);
            if (known != null) {
                return known;
            }
            JdkContainer outermost = Owner.outermostContainer();
            if (outermost != null) {
                return outermost.guests();
            }
            Inner opened = new Inner(target.name() + ", forked by #" + self.threadId());
            keep(mine, opened);
            return opened;
        }

        /** Has the calling thread, which runs a subtask of a scope, stay until all threads started in an inner scope ended. */
        private static void keep(StructuredTaskScope<?> mine, Inner inner) {
            if (mine.container() instanceof JdkContainer container) {
                container.complete = false;
            }
            mine.innerOf(Thread.currentThread(), inner);
        }

        boolean isStarting() {
            return prepared != null;
        }

        boolean isInUse() {
            started.removeIf(each -> !each.isAlive());
            return !started.isEmpty();
        }

        void start(Thread thread) {
            if (started.size() >= 64 && Integer.bitCount(started.size()) == 1) {
                started.removeIf(each -> !each.isAlive());
            }
            prepared = thread;
            try {
                jdk.fork(() -> null);
            } finally {
                prepared = null;
            }
            started.add(thread);
        }

        @Override
        public Thread newThread(Runnable unused) {
            Thread thread = prepared;
            prepared = null;
            if (thread == null) {
                throw new IllegalStateException("an inner scope starts prepared threads only");
            }
            return thread;
        }

        /** Waits for what was started here, although its thread may be interrupted, and closes it. */
        void close() {
            boolean interrupted = Thread.interrupted();
            for (Thread thread : started) {
                while (thread.isAlive()) {
                    try {
                        thread.join();
                    } catch (InterruptedException interrupt) {
                        interrupted = true;
                    }
                }
            }
            interrupted |= jdk.joinAndClose();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
