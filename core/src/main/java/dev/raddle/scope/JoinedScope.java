package dev.raddle.scope;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.scope.StructuredTaskScope.Configuration;
import dev.raddle.scope.StructuredTaskScope.FailedException;
import dev.raddle.scope.StructuredTaskScope.Joiner;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.io.Serial;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * A scope whose {@link #join()} returns the result of a {@link Joiner}: the API of JEP 505, as in JDK 25, based on
 * {@link StructuredTaskScope}. Opened by {@link StructuredTaskScope#open(Joiner)}; variables are usually declared with
 * {@code var}.
 *
 * {@snippet :
 * try (var scope = StructuredTaskScope.open(Joiner.<String>allSuccessfulOrThrow())) {
 *     scope.fork(() -> left());
 *     scope.fork(() -> right());
 *     return scope.join().map(Subtask::get).toList();
 * }
 * }
 *
 * <p>Only the owner may fork, join and close. It joins once, and does not fork after that.
 *
 * @param <T> the type of the results of subtasks
 * @param <R> the type of the result of {@code join()}
 */
public final class JoinedScope<T extends @Nullable Object, R extends @Nullable Object> implements AutoCloseable {

    /** Thrown by {@link JoinedScope#join()} if the timeout has elapsed. */
    public static final class TimeoutException extends RuntimeException {

        @Serial
        private static final long serialVersionUID = 1L;

        TimeoutException(String message) {
            super(message);
        }
    }

    /** A configuration. */
    record Settings(
            StructuredScopeOptions options, @Nullable Duration timeout) implements Configuration {

        static final Settings DEFAULTS = new Settings(StructuredScopeOptions.defaults(), null);

        @Override
        public Configuration withThreadFactory(ThreadFactory threadFactory) {
            return new Settings(options.withThreadFactory(threadFactory), timeout);
        }

        @Override
        public Configuration withName(String name) {
            return new Settings(options.withName(Objects.requireNonNull(name, "name")), timeout);
        }

        @Override
        public Configuration withTimeout(Duration timeout) {
            return new Settings(options, Objects.requireNonNull(timeout, "timeout"));
        }

        @Override
        public Configuration withOptions(StructuredScopeOptions options) {
            return new Settings(Objects.requireNonNull(options, "options"), timeout);
        }
    }

    /** The engine, which calls the joiner for each completed subtask. */
    private static final class Engine<T extends @Nullable Object> extends StructuredTaskScope<T> {
        private @Nullable Joiner<? super T, ?>
                joiner; // null once all subtasks have ended, since subtasks refer to this engine

        Engine(StructuredScopeOptions options, Joiner<? super T, ?> joiner) {
            super(options);
            this.joiner = joiner;
        }

        @Override
        protected void handleComplete(Subtask<? extends T> subtask) {
            if (joiner != null && joiner.onComplete(subtask)) {
                stop();
            }
        }

        /** Clears the joiner, which may refer to all subtasks. Called by the owner when all subtasks have ended. */
        void clearJoiner() {
            joiner = null;
        }
    }

    private static final int FIRST_ROUND = 1;

    private final Joiner<? super T, ? extends R> joiner;
    private final Engine<T> engine;
    private final @Nullable Duration timeout;
    private final @Nullable Deadline deadline; // at which the timeout elapses
    private final Alarm alarm; // shuts down at the deadline, unless the owner does so in its join
    private volatile boolean timedOut;
    private boolean joining; // owner only, like those below
    private boolean joined;
    private boolean forked;
    private boolean closed;

    private JoinedScope(Joiner<? super T, ? extends R> joiner, Settings settings) {
        this.joiner = joiner;
        this.engine = new Engine<>(settings.options(), joiner);
        this.timeout = settings.timeout();
        this.deadline = timeout == null ? null : Deadline.after(engine.options.time, timeout);
        this.alarm = deadline == null ? () -> false : armTimeout(deadline);
    }

    private Alarm armTimeout(Deadline until) {
        OffloadExecutor elsewhere = engine.offload();
        try {
            return until.alarm(() -> elsewhere.execute(this::timeOut));
        } catch (Throwable noTime) {
            engine.close(); // no caller has this scope
            throw noTime;
        }
    }

    static <T extends @Nullable Object, R extends @Nullable Object> JoinedScope<T, R> open(
            Joiner<? super T, ? extends R> joiner, Configuration configuration) {
        return new JoinedScope<>(joiner, (Settings) configuration);
    }

    /** Shuts down at the timeout. Not called by the alarm's thread, because it interrupts threads of user code. */
    private void timeOut() {
        if (!engine.isShutdown()) {
            timedOut = true;
            engine.stop();
        }
    }

    /**
     * Starts a thread for a subtask. If this scope is shut down, the subtask never runs. Only the owner may call this
     * method.
     *
     * @param <U> the type of the result
     * @param task the callable to run
     * @return the subtask
     * @throws IllegalStateException if the owner has tried to join, or this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if other scoped values are bound than where this scope was opened
     * @throws RejectedExecutionException if the thread factory returned null, or the scheduler did not accept the
     *     subtask
     */
    public <U extends T> Subtask<U> fork(Callable<? extends U> task) {
        Objects.requireNonNull(task, "task");
        engine.ensureOwner("fork");
        if (joining || closed) {
            throw new IllegalStateException("scope \"" + engine.name + "\" was joined or closed; fork before that");
        }
        ForkedSubtask<U> subtask = engine.create(task, FIRST_ROUND);
        if (joiner.onFork(subtask)) {
            engine.stop();
        }
        engine.start(subtask, true);
        forked = true;
        return subtask;
    }

    /**
     * Starts a thread for a subtask without a result, as {@link #fork(Callable)} does.
     *
     * @param <U> the type of the result, which is null
     * @param task the action to run
     * @return the subtask
     * @throws IllegalStateException if the owner has tried to join, or this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if other scoped values are bound than where this scope was opened
     * @throws RejectedExecutionException if the thread factory returned null, or the scheduler did not accept the
     *     subtask
     */
    @SuppressWarnings("NullAway") // the result is null
    public <U extends T> Subtask<U> fork(Runnable task) {
        Objects.requireNonNull(task, "task");
        return fork(() -> {
            task.run();
            return null;
        });
    }

    /**
     * Waits until all subtasks have ended, or the joiner or the timeout has shut this scope down, and returns the
     * joiner's result. Only the owner may call this method, and only once unless it was interrupted.
     *
     * @return the joiner's result
     * @throws IllegalStateException if the owner has joined, or this scope is closed; or without a timeout, if a
     *     subtask could never begin, as described at {@link StructuredTaskScope#join()}
     * @throws WrongThreadException if the caller is not the owner
     * @throws TimeoutException if the timeout has elapsed
     * @throws FailedException if the joiner throws; the cause is its exception
     * @throws InterruptedException if the owner was interrupted before or while it waited
     */
    public R join() throws InterruptedException {
        engine.ensureOwner("join");
        if (joined || closed) {
            throw new IllegalStateException("scope \"" + engine.name + "\" was joined or closed; it is joined once");
        }
        joining = true;
        engine.beginJoin();
        if (deadline != null) {
            if (!engine.owner.await(engine, deadline)) {
                timeOut();
            }
        } else if (engine.isPlaced) {
            engine.awaitPlaced();
        } else {
            engine.owner.await(engine, false);
        }
        joined = true;
        engine.completeJoin(FIRST_ROUND);
        if (timedOut) {
            throw new TimeoutException("scope \"" + engine.name + "\" ran out of time after "
                    + TimeLimit.text(Objects.requireNonNull(timeout)) + " (its timeout)");
        }
        alarm.cancel();
        try {
            return joiner.result();
        } catch (Throwable failure) {
            throw new FailedException(failure);
        }
    }

    /**
     * Returns whether this scope was shut down, by the joiner, by the timeout, or by closing.
     *
     * @return true if it was shut down
     */
    public boolean isCancelled() {
        return engine.isShutdown();
    }

    /**
     * Shuts this scope down if necessary, waits for all subtasks to end, and closes it, as
     * {@link StructuredTaskScope#close()} does. Only the owner may call this method.
     *
     * @throws IllegalStateException if the owner has forked and not tried to join; this scope is closed nevertheless
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if scopes opened later were still open, or scoped values that were bound
     *     later are still bound; this scope is closed nevertheless
     */
    @Override
    public void close() {
        engine.ensureOwner("close");
        if (closed) {
            return;
        }
        closed = true;
        alarm.cancel();
        try {
            engine.close();
        } finally {
            engine.clearJoiner();
        }
        if (forked && !joining) {
            throw new IllegalStateException(
                    "the owner of scope \"" + engine.name + "\" has forked and not joined; call join() first");
        }
    }

    StructuredTaskScope<T> engine() {
        return engine;
    }

    @Override
    public String toString() {
        return engine.toString();
    }
}
