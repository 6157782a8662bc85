package dev.raddle.scope;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A container that uses the JDK's own scope. */
final class JdkContainer extends JdkScope implements Container {

    /*
     * Overview.
     *
     * If the owner forks, the JDK's scope calls newThread with its own runnable, which finally calls the subtask.
     *
     * If another thread forks, it creates a thread with the factory itself. Then:
     *
     *   (a) if the owner waits, it forks on behalf of the caller, and newThread returns the prepared thread;
     *   (b) otherwise the caller forks in a JDK scope that its own thread owns and that encloses everything it does. If
     *       the caller has no scope open, a JDK scope is opened for this purpose. Otherwise it is the JDK scope of the
     *       caller's outermost scope, which is then shared: when that scope closes, its JDK scope stays open until
     *       the threads that were started in this way have terminated.
     *
     * In both cases the JDK passes on all scoped values that are bound throughout the caller's subtask. A subtask
     * cannot fork into an enclosing scope within a binding of its own, whether the owner waits or not. The thread of a
     * subtask that forks in a JDK scope of its own terminates after the threads that it started.
     *
     * A JDK scope that was closed from outside (because an enclosing scope was closed, or the extent of a scoped value
     * has ended) creates the thread, does not start it, and does not throw. The forker checks the thread's state.
     *
     * While the JDK's scope contains all threads, it wakes the owner when they have terminated, and the subtasks do
     * not. That is one wakeup instead of two, and no second wait in close(). `wokenByContainer` is cleared before the
     * first thread is started elsewhere and after its subtask is counted. So the thread that decrements the count to
     * zero afterwards sees that. It is also cleared in a scope whose container is shared: the scope's own threads may
     * have terminated while others are still in the container.
     */
    private final SubtaskScope scope;

    private @Nullable ForkedSubtask<?> forking; // owner's thread only: the subtask for newThread
    private @Nullable Thread prepared; // owner's thread only: the thread for newThread, or null to create one
    private @Nullable OuterForks sharedForks; // owner's thread only

    JdkContainer(SubtaskScope scope) {
        this.scope = scope;
        open();
        scope.wokenByContainer = WAKES_OWNER;
    }

    @Override
    String scopeName() {
        return scope.name;
    }

    @Override
    public void start(ForkedSubtask<?> subtask, boolean byOwner) {
        if (byOwner) {
            forking = subtask;
            prepared = null; // the JDK may have refused the last fork on behalf of another thread
            fork(subtask);
        } else {
            startFromInside(subtask);
        }
    }

    /** Starts a subtask in a thread that its forker has created. Called by the owner. */
    private void startInOwner(ForkedSubtask<?> subtask, Thread made) {
        forking = subtask;
        prepared = made;
        fork(subtask);
    }

    @Override
    public Thread newThread(Runnable run) {
        if (sharedForks != null && sharedForks.isStarting()) {
            return sharedForks.newThread(run);
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
        ensureNothingBound(subtask.getClass());
        Runnable body = subtask::call;
        Thread thread = scope.newThread(body);
        ScopeStack.Request request = startRequest(subtask, thread);
        if (scope.owner.post(request)) {
            Throwable failure = request.failure();
            switch (failure) {
                case null -> {
                    return;
                }
                case StructureViolationException ownersBindings -> thread = scope.newThread(body); // the first is spent
                case Error error -> throw error;
                default -> throw (RuntimeException) failure;
            }
        }
        scope.wokenByContainer = false;
        OuterForks forks = OuterForks.ofCaller(scope);
        subtask.thread = thread;
        forks.start(thread);
    }

    private ScopeStack.Request startRequest(ForkedSubtask<?> subtask, Thread made) {
        return new ScopeStack.Request(() -> startInOwner(subtask, made));
    }

    /**
     * Ensures that the calling thread's subtask is not within a binding of its own. Only the stack shows that.
     *
     * @param runner the class whose frame is the first of a subtask
     */
    private void ensureNothingBound(Class<?> runner) {
        boolean bound = StackWalker.getInstance()
                .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                        .takeWhile(each -> !each.equals(runner.getName()))
                        .anyMatch(ScopedValue.Carrier.class.getName()::equals));
        if (bound) {
            throw new StructureViolationException(
                    "a subtask forks under the scoped values it was started with; this fork in scope \"" + scope.name
                            + "\" is within a binding of its own");
        }
    }

    /** Returns the container of the calling thread's outermost open scope that has one, or null if none has. */
    private static @Nullable JdkContainer outermostOfCaller() {
        JdkContainer outermost = null;
        for (SubtaskScope each = ScopeStack.innermostOfCaller(); each != null; each = each.enclosingInSameThread()) {
            if (each.container instanceof JdkContainer container) {
                outermost = container;
            }
        }
        return outermost;
    }

    private OuterForks sharedForks() {
        if (sharedForks == null) {
            scope.wokenByContainer = false;
            sharedForks = new OuterForks(this);
        }
        return sharedForks;
    }

    @Override
    public void close() {
        SubtaskScope enclosing = sharedForks == null ? null : SubtaskScope.ofCaller();
        if (sharedForks != null && enclosing != null && sharedForks.removeTerminated()) {
            OuterForks.closeAfterSubtask(enclosing, sharedForks);
        } else if (joinAndClose()) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "JDK scope";
    }

    /** A JDK scope owned by a subtask's thread that contains the threads which the subtask forks into outer scopes. */
    static final class OuterForks extends JdkScope {
        private final String name;
        private final JdkScope jdk; // this, or a shared one
        private final List<Thread> started = new ArrayList<>(); // used only by the subtask's thread
        private @Nullable Thread prepared; // used only by the subtask's thread

        private OuterForks(String name) {
            this.name = name;
            jdk = this;
            open();
        }

        private OuterForks(JdkScope shared) {
            name = shared.scopeName();
            jdk = shared;
        }

        @Override
        String scopeName() {
            return name;
        }

        /** Returns the outer forks of the calling thread, which runs a subtask. */
        static OuterForks ofCaller(SubtaskScope target) {
            SubtaskScope current = SubtaskScope.ofCaller();
            if (current == null) {
                throw new AssertionError("a thread inside a scope runs a subtask");
            }
            Thread self = Thread.currentThread();
            OuterForks known = current.outerForksOf(self);
            if (known != null) {
                return known;
            }
            JdkContainer outermost = outermostOfCaller();
            if (outermost != null) {
                return outermost.sharedForks();
            }
            OuterForks opened = new OuterForks(target.name + ", forked by #" + self.threadId());
            closeAfterSubtask(current, opened);
            return opened;
        }

        /**
         * Lets the calling thread, which runs a subtask of a scope, wait for these forks when the subtask has ended.
         */
        private static void closeAfterSubtask(SubtaskScope current, OuterForks forks) {
            current.wokenByContainer = false;
            current.putOuterForks(Thread.currentThread(), forks);
        }

        boolean isStarting() {
            return prepared != null;
        }

        /** Removes terminated threads. Returns whether any threads are left. */
        boolean removeTerminated() {
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
                throw new IllegalStateException("a scope for outer forks starts prepared threads only");
            }
            return thread;
        }

        /** Waits for the started threads, even if the calling thread is interrupted, and closes the JDK scope. */
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
