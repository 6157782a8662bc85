package dev.raddle.scope;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.ScopeControl;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.ExceptionSink;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A block of code and the subtasks that it forks: no subtask outlives the block. This is the API of JEP 462, without
 * preview features of the JDK.
 *
 * {@snippet :
 * try (var scope = new StructuredTaskScope.ShutdownOnFailure()) {
 *     Subtask<String> user = scope.fork(() -> findUser());
 *     Subtask<Integer> order = scope.fork(() -> fetchOrder());
 *     scope.join().throwIfFailed();
 *     return new Response(user.get(), order.get());
 * }
 * }
 *
 * <p>The thread that opens a scope owns it. Only the owner may join and close it. The owner may fork, and so may every
 * thread inside the scope, that is, a thread that runs a subtask of it or of a scope opened inside it. The owner must
 * join after its forks before it reads results. Shutting down a scope prevents further subtasks from starting and
 * interrupts the running ones; {@link #close()} shuts down and waits.
 *
 * <p>Subtasks inherit the scoped values that were bound where the scope was opened. A fork under other bindings is a
 * {@linkplain StructureViolationException structure violation}, and so is closing scopes in another order than the
 * reverse of their opening. A scope of the JDK serves as the container of the threads; it detects these violations and
 * shows the threads in {@code jcmd Thread.dump_to_file}. If the JDK has no suitable scope, plain threads are used;
 * {@link #toString} says which.
 *
 * <p>Memory consistency effects: actions of a thread before it forks <i>happen-before</i> the subtask; actions of the
 * subtask <i>happen-before</i> its result is read, and before a return from {@link #join} that waited for it to end.
 *
 * @param <T> the type of the results of subtasks
 * @see <a href="https://openjdk.org/jeps/462">JEP 462: Structured Concurrency</a>
 */
public class StructuredTaskScope<T extends @Nullable Object> extends SubtaskScope implements AutoCloseable {

    /*
     * Overview.
     *
     * This class has the rules of the API and the results; SubtaskScope starts and stops the subtasks, and
     * ForkedSubtask runs them.
     *
     * The owner's forks between two completed joins are a round. Three numbers, used only by the owner, say whether it
     * has to join:
     *
     *   forkRound           the round of the last fork that started a subtask; a completed join ends the round
     *   lastJoinAttempted   if it is forkRound, close() does not throw
     *   lastJoinCompleted   if it is forkRound, results may be read
     */
    private int forkRound; // owner only, like those below
    private int lastJoinAttempted;
    private int lastJoinCompleted;

    /**
     * Opens a scope owned by the calling thread.
     *
     * @param name the name in dumps and messages, or null for the scope's identity
     * @param factory the factory of the subtasks' threads, called by the thread that forks
     */
    public StructuredTaskScope(@Nullable String name, ThreadFactory factory) {
        this(StructuredScopeOptions.defaults()
                .withThreadFactory(Objects.requireNonNull(factory, "factory"))
                .withName(name));
    }

    /** Opens a scope without a name whose subtasks run in virtual threads. It is owned by the calling thread. */
    public StructuredTaskScope() {
        this(StructuredScopeOptions.defaults());
    }

    /**
     * Opens a scope with options that JEP 462 does not have. It is owned by the calling thread.
     *
     * @param options the settings
     */
    public StructuredTaskScope(StructuredScopeOptions options) {
        super(options);
        if (this instanceof ScopeControl.Holder holder) {
            holder.receive(new Control(this));
        }
    }

    /** The control of a scope for a subclass in another package of this module. */
    private record Control(StructuredTaskScope<?> scope) implements ScopeControl {

        @Override
        public TimeSource time() {
            return scope.options.time();
        }

        @Override
        public OffloadExecutor offload() {
            return scope.offload();
        }

        @Override
        public void stop() {
            scope.stop();
        }

        @Override
        public boolean joinBy(Deadline deadline) throws InterruptedException {
            return scope.joinBy(deadline);
        }
    }

    /**
     * Starts a thread for a subtask. The owner and every thread inside this scope may call this method.
     *
     * {@snippet :
     * Subtask<String> user = scope.fork(() -> findUser());
     * scope.join();
     * String name = user.get();
     * }
     *
     * <p>If this scope is shut down, the subtask never runs, its state stays {@code UNAVAILABLE}, and it requires no
     * join. Otherwise it runs, even if a shutdown follows at once; its thread is then interrupted. An overriding method
     * must call this one.
     *
     * @param <U> the type of the result
     * @param task the callable to run
     * @return the subtask
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is neither the owner nor inside this scope
     * @throws StructureViolationException if other scoped values are bound than where this scope was opened, or, in a
     *     subtask that forks, than where the subtask began
     * @throws RejectedExecutionException if the thread factory returned null; the scope continues as if there had been
     *     no fork
     */
    public <U extends T> Subtask<U> fork(Callable<? extends U> task) {
        StackRoom.ensure();
        Objects.requireNonNull(task, "task");
        boolean owned = Thread.currentThread() == owner.thread;
        if (state == CLOSED) {
            throw closed("fork");
        }
        if (!owned) {
            ensureInside("fork");
        }
        int round = !owned ? -1 : forkRound == lastJoinCompleted ? forkRound + 1 : forkRound;
        ForkedSubtask<U> subtask = new ForkedSubtask<>(this, task, round, pending.forkMillis(options.time()));
        if (start(subtask, owned) && owned && round != forkRound) { // seldom written: runners read the fields beside it
            forkRound = round;
        }
        return subtask;
    }

    /**
     * Waits until every subtask has ended or this scope is shut down. Only the owner may call this method.
     *
     * <p>An overriding method must call this one.
     *
     * @return this scope
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws InterruptedException if the owner was interrupted before or while it waited; no subtask is interrupted,
     *     and the owner may join again
     */
    public StructuredTaskScope<T> join() throws InterruptedException {
        beginJoin();
        owner.await(this, false);
        completeJoin();
        return this;
    }

    /**
     * Waits until every subtask has ended, this scope is shut down, or the deadline has passed. Only the owner may call
     * this method.
     *
     * {@snippet :
     * scope.joinUntil(Instant.now().plusMillis(200));
     * }
     *
     * <p>An overriding method must call this one.
     *
     * @param deadline the deadline on the wall clock; if it has passed, this method does not wait
     * @return this scope
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws InterruptedException if the owner was interrupted before or while it waited; no subtask is interrupted,
     *     and the owner may join again
     * @throws TimeoutException if the deadline passed first; no subtask is cancelled, and the owner may join again
     */
    public StructuredTaskScope<T> joinUntil(Instant deadline) throws InterruptedException, TimeoutException {
        Duration timeout = Duration.between(Instant.now(), deadline);
        if (!joinBy(Deadline.after(options.time(), timeout))) {
            throw new TimeoutException("scope \"" + name + "\" was not joined by " + deadline + "; " + pending.count()
                    + " subtasks go on");
        }
        return this;
    }

    private boolean joinBy(Deadline deadline) throws InterruptedException {
        beginJoin();
        boolean inTime = owner.await(this, deadline);
        if (inTime) {
            completeJoin();
        }
        return inTime;
    }

    private void beginJoin() {
        ensureOwner("join");
        lastJoinAttempted = forkRound;
        if (state == CLOSED) {
            throw closed("join");
        }
    }

    private void completeJoin() {
        pending.clearIfEmpty();
        lastJoinCompleted = forkRound;
    }

    /**
     * Shuts this scope down without closing it. No further subtasks start, all threads in this scope except the
     * caller's are interrupted, and the owner returns from {@code join}. The owner and every thread inside this scope
     * may call this method.
     *
     * <p>Results of subtasks that end later are discarded; {@link #handleComplete} is not called for them. This method
     * does not wait; {@link #close()} does. It has no effect if this scope is shut down. An overriding method must call
     * this one.
     *
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is neither the owner nor inside this scope
     */
    public void shutdown() {
        if (Thread.currentThread() != owner.thread) {
            ensureInside("shut down");
        }
        if (state == CLOSED) {
            throw closed("shut down");
        }
        stop();
    }

    /** {@return whether {@link #shutdown()} or {@link #close()} was called} */
    public final boolean isShutdown() {
        return state != OPEN;
    }

    /**
     * Shuts this scope down if necessary, waits for all subtasks to end, and closes it. Only the owner may call this
     * method.
     *
     * <p>An interrupt does not end the wait; the interrupt status is kept. Subtasks that run for longer than the
     * {@linkplain StructuredScopeOptions#withPatience patience} are reported to the sink, once in each interval.
     * Closing a closed scope has no effect. If scopes that were opened later are still open, this method waits for
     * their threads too, and they start no further subtasks. An overriding method must call this one.
     *
     * @throws IllegalStateException if the owner has forked and not tried to join since; this scope is closed
     *     nevertheless
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if scopes opened later were still open, or scoped values that were bound
     *     later are still bound; this scope is closed nevertheless
     */
    @Override
    public void close() {
        ensureOwner("close");
        if (state == CLOSED) {
            return;
        }
        try {
            stop();
        } finally {
            closeContainer();
        }
        if (forkRound > lastJoinAttempted) {
            lastJoinCompleted = forkRound;
            throw notJoined();
        }
    }

    /**
     * Called for each subtask that has succeeded or failed, by the thread that ran it, unless this scope was shut down
     * before. An implementation must be safe for use by many threads. An exception that it throws goes to the thread's
     * uncaught exception handler.
     *
     * @param subtask the completed subtask
     * @throws IllegalArgumentException if the subtask has not completed
     */
    protected void handleComplete(Subtask<? extends T> subtask) {
        if (subtask.state() == Subtask.State.UNAVAILABLE) {
            throw new IllegalArgumentException("a completed subtask is SUCCESS or FAILED, this is " + subtask);
        }
    }

    /** Notifies a decision of a completed subtask. Returns whether the scope must be shut down. */
    static <T extends @Nullable Object> boolean decides(
            JoinDecision<? super Subtask<? extends T>, Throwable> decision, Subtask<? extends T> subtask) {
        return subtask.state() == Subtask.State.SUCCESS
                ? decision.succeeded(subtask)
                : decision.failed(subtask.exception());
    }

    /**
     * Ensures that the caller is the owner and has joined since it forked. For methods of subclasses that read results.
     *
     * @throws WrongThreadException if the caller is not the owner
     * @throws IllegalStateException if this scope is open and the owner has not completed a join since it forked
     */
    protected final void ensureOwnerAndJoined() {
        ensureOwner("read results");
        if (state != CLOSED && forkRound > lastJoinCompleted) {
            throw notJoined();
        }
    }

    final void ensureJoinedIfOwner(int round) {
        if (round > lastJoinCompleted && Thread.currentThread() == owner.thread) {
            throw notJoined();
        }
    }

    private void ensureOwner(String action) {
        if (Thread.currentThread() != owner.thread) {
            throw new WrongThreadException("only its owner, " + owner.thread + ", may " + action + " scope \"" + name
                    + "\"; this is " + Thread.currentThread());
        }
    }

    private void ensureInside(String action) {
        if (isCallerInside()) {
            return;
        }
        throw new WrongThreadException("only its owner, " + owner.thread + ", and threads inside may " + action
                + " scope \"" + name + "\"; this is " + Thread.currentThread());
    }

    private IllegalStateException closed(String action) {
        return new IllegalStateException("scope \"" + name + "\" is closed; " + action + " inside its try block");
    }

    private IllegalStateException notJoined() {
        return new IllegalStateException(
                "the owner of scope \"" + name + "\" has forked and not joined since; call join() first");
    }

    final ExceptionSink sink() {
        return options.sink();
    }

    /** {@return the name of this scope, its state, and its container: {@code checkout/shutdown (JDK scope)}} */
    @Override
    public String toString() {
        long now = state;
        return name + (now == OPEN ? "" : now == CLOSED ? "/closed" : "/shutdown") + " (" + container + ")";
    }

    /**
     * A forked subtask. Its methods never block.
     *
     * @param <T> the type of the result
     */
    public sealed interface Subtask<T extends @Nullable Object> extends Supplier<T> permits ForkedSubtask {

        /** The state of a subtask. */
        enum State {
            /** It has not ended, or ended after its scope was shut down, or was never started. */
            UNAVAILABLE,
            /** Its task has returned. This state is final. */
            SUCCESS,
            /** Its task has thrown. This state is final. */
            FAILED
        }

        /** {@return the task that was forked} */
        Callable<? extends T> task();

        /** {@return the current state} */
        State state();

        /**
         * Returns the result of the task.
         *
         * @return the result, which is null if the task returned null
         * @throws IllegalStateException if the state is not {@code SUCCESS}, or the caller is the owner, forked this
         *     subtask and has not joined since
         */
        @Override
        T get();

        /**
         * Returns the exception of the task.
         *
         * @return the exception or error
         * @throws IllegalStateException if the state is not {@code FAILED}, or the caller is the owner, forked this
         *     subtask and has not joined since
         */
        Throwable exception();
    }

    /**
     * A scope that shuts down when a subtask succeeds, and keeps the first result.
     *
     * {@snippet :
     * try (var scope = new StructuredTaskScope.ShutdownOnSuccess<String>()) {
     *     mirrors.forEach(mirror -> scope.fork(() -> fetch(mirror)));
     *     return scope.join().result();
     * }
     * }
     *
     * @param <T> the type of the results of subtasks
     */
    public static final class ShutdownOnSuccess<T extends @Nullable Object> extends StructuredTaskScope<T> {

        private final JoinDecision<Subtask<? extends T>, Throwable> decision = new JoinDecision<>(1, JoinDecision.ALL);

        /**
         * Opens a scope owned by the calling thread.
         *
         * @param name the name in dumps and messages, or null for the scope's identity
         * @param factory the factory of the subtasks' threads
         */
        public ShutdownOnSuccess(@Nullable String name, ThreadFactory factory) {
            super(name, factory);
        }

        /** Opens a scope without a name whose subtasks run in virtual threads. It is owned by the calling thread. */
        public ShutdownOnSuccess() {}

        /**
         * Opens a scope with options that JEP 462 does not have. It is owned by the calling thread.
         *
         * @param options the settings
         */
        public ShutdownOnSuccess(StructuredScopeOptions options) {
            super(options);
        }

        @Override
        protected void handleComplete(Subtask<? extends T> subtask) {
            if (decides(decision, subtask)) {
                stop();
            }
        }

        @Override
        public ShutdownOnSuccess<T> join() throws InterruptedException {
            super.join();
            return this;
        }

        @Override
        public ShutdownOnSuccess<T> joinUntil(Instant deadline) throws InterruptedException, TimeoutException {
            super.joinUntil(deadline);
            return this;
        }

        /**
         * Returns the result of the first subtask that succeeded. Only the owner may call this method, after joining.
         *
         * @return the result, which is null if the task returned null
         * @throws ExecutionException if none succeeded and one failed; the first failure is the cause
         * @throws IllegalStateException if no subtask has completed, or the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public T result() throws ExecutionException {
            return result(ExecutionException::new);
        }

        /**
         * Returns the result of the first subtask that succeeded. Only the owner may call this method, after joining.
         *
         * @param <X> the type of the exception
         * @param esf the function that creates the exception from the first failure
         * @return the result, which is null if the task returned null
         * @throws X if none succeeded and one failed
         * @throws IllegalStateException if no subtask has completed, or the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public <X extends Throwable> T result(Function<Throwable, ? extends X> esf) throws X {
            Objects.requireNonNull(esf, "esf");
            ensureOwnerAndJoined();
            Subtask<? extends T> success = decision.firstSuccess(
                    esf,
                    () -> new IllegalStateException(
                            "no subtask of scope \"" + name + "\" has completed; there is no result"));
            return success.get();
        }
    }

    /**
     * A scope that shuts down when a subtask fails, and keeps the first failure.
     *
     * {@snippet :
     * try (var scope = new StructuredTaskScope.ShutdownOnFailure()) {
     *     var left = scope.fork(() -> left());
     *     var right = scope.fork(() -> right());
     *     scope.join().throwIfFailed();
     *     return left.get() + right.get();
     * }
     * }
     */
    public static final class ShutdownOnFailure extends StructuredTaskScope<@Nullable Object> {

        private final JoinDecision<Subtask<?>, Throwable> decision = new JoinDecision<>(JoinDecision.ALL, 0);

        /**
         * Opens a scope owned by the calling thread.
         *
         * @param name the name in dumps and messages, or null for the scope's identity
         * @param factory the factory of the subtasks' threads
         */
        public ShutdownOnFailure(@Nullable String name, ThreadFactory factory) {
            super(name, factory);
        }

        /** Opens a scope without a name whose subtasks run in virtual threads. It is owned by the calling thread. */
        public ShutdownOnFailure() {}

        /**
         * Opens a scope with options that JEP 462 does not have. It is owned by the calling thread.
         *
         * @param options the settings
         */
        public ShutdownOnFailure(StructuredScopeOptions options) {
            super(options);
        }

        @Override
        protected void handleComplete(Subtask<?> subtask) {
            if (decides(decision, subtask)) {
                stop();
            }
        }

        @Override
        public ShutdownOnFailure join() throws InterruptedException {
            super.join();
            return this;
        }

        @Override
        public ShutdownOnFailure joinUntil(Instant deadline) throws InterruptedException, TimeoutException {
            super.joinUntil(deadline);
            return this;
        }

        /**
         * Returns the exception of the first subtask that failed. Only the owner may call this method, after joining.
         *
         * @return the exception, or empty if no subtask failed
         * @throws IllegalStateException if the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public Optional<Throwable> exception() {
            ensureOwnerAndJoined();
            return Optional.ofNullable(decision.firstFailure());
        }

        /**
         * Throws if a subtask failed. Only the owner may call this method, after joining.
         *
         * @throws ExecutionException if one failed; the first failure is the cause
         * @throws IllegalStateException if the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public void throwIfFailed() throws ExecutionException {
            throwIfFailed(ExecutionException::new);
        }

        /**
         * Throws if a subtask failed. Only the owner may call this method, after joining.
         *
         * @param <X> the type of the exception
         * @param esf the function that creates the exception from the first failure
         * @throws X if a subtask failed
         * @throws IllegalStateException if the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public <X extends Throwable> void throwIfFailed(Function<Throwable, ? extends X> esf) throws X {
            Objects.requireNonNull(esf, "esf");
            ensureOwnerAndJoined();
            decision.throwIfFailed(esf);
        }
    }
}
