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
     * Somebody else forks: it makes a thread from the factory itself, as always, and then
     *
     *   (a) the owner waits somewhere: it forks in the caller's name, and newThread answers with the prepared thread;
     *   (b) else the caller, inside the scope, has a scope of the JDK's own below all that it does, and forks in that one.
     *       Opened when first needed, while the caller has no other scope open; its thread ends after those it started.
     *       Opened under a binding of the caller's, it would be a violation when that is left: so it is one at once;
     *   (c) else a plain thread with the registered scoped values.
     *
     * In (a) and (b) the JDK hands all scoped values on. A scope of the JDK's that was closed from outside (because a scope
     * around it was closed, or a scoped value's extent was left) makes the thread and does not start it, and does not say so.
     * The forker looks at the thread.
     *
     * While the JDK's scope has all threads, `complete`, it wakes the owner when they are gone, and subtasks do not: one
     * wakeup instead of two, and no second wait in close(). `complete` is unset before the first thread is started elsewhere
     * and after its subtask is counted. So whoever counts down to zero afterwards sees it.
     */
    private final StructuredTaskScope<?> scope;
    private final List<ScopedValue<?>> registered;
    private final JdkScope jdk;

    private volatile boolean complete = JdkScope.WAKES_OWNER;
    private @Nullable ForkedSubtask<?> forking; // owner's thread only: for newThread
    private @Nullable Thread prepared; // the same

    JdkContainer(StructuredTaskScope<?> scope, List<ScopedValue<?>> registered) {
        this.scope = scope;
        this.registered = registered;
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
        if (inner == null) {
            entry.carrying(registered);
            thread.start();
        } else {
            inner.start(thread);
        }
    }

    @Override
    public void close() {
        if (jdk.joinAndClose()) {
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

        /** Returns the calling thread's, or null if it has none and cannot open one any more. */
        static @Nullable Inner ofCaller(StructuredTaskScope<?> target) {
            StructuredTaskScope<?> mine = StructuredTaskScope.ofCaller();
            if (mine == null) {
                return null;
            }
            Thread self = Thread.currentThread();
            Inner known = mine.innerOf(self);
            if (known == null && !Owner.hasOpenScopes()) {
                ensureNothingBound(target);
                if (mine.container() instanceof JdkContainer container) {
                    container.complete = false; // this thread will stay for longer than its subtask
                }
                known = new Inner(target.name() + ", forked by #" + self.threadId());
                mine.innerOf(self, known);
            }
            return known;
        }

        /** Ensures that the calling thread's subtask is not within a binding of its own. The stack is all that tells. */
        private static void ensureNothingBound(StructuredTaskScope<?> target) {
            boolean bound = StackWalker.getInstance()
                    .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                            .takeWhile(each -> !each.equals(ForkedSubtask.class.getName()))
                            .anyMatch(ScopedValue.Carrier.class.getName()::equals));
            if (bound) {
                throw new StructureViolationException(
                        "a subtask forks under the scoped values it was started with; this fork in scope \""
                                + target.name() + "\" is within a binding of its own");
            }
        }

        void start(Thread thread) {
            if (started.size() >= 64 && Integer.bitCount(started.size()) == 1) {
                started.removeIf(each -> !each.isAlive());
            }
            prepared = thread;
            jdk.fork(() -> null);
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
