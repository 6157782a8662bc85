package dev.raddle.scope;

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
 * A scope whose {@link #join()} returns what a {@link Joiner} makes of the subtasks: the API of JEP 505, as in JDK 25, on the
 * engine of {@link StructuredTaskScope}. Opened by {@link StructuredTaskScope#open(Joiner)} and meant to be a {@code var}.
 *
 * {@snippet :
 * try (var scope = StructuredTaskScope.open(Joiner.<String>allSuccessfulOrThrow())) {
 *     scope.fork(() -> left());
 *     scope.fork(() -> right());
 *     return scope.join().map(Subtask::get).toList();
 * }
 * }
 *
 * <p>Only the owner forks, joins and closes. It joins once; after that it does not fork any more.
 *
 * @param <T> what the subtasks return
 * @param <R> what {@code join()} returns
 */
public final class JoinedScope<T extends @Nullable Object, R extends @Nullable Object> implements AutoCloseable {

    /** What {@link JoinedScope#join()} throws if the timeout was over first. */
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

    /** The engine, told of ends. */
    private static final class Engine<T extends @Nullable Object> extends StructuredTaskScope<T> {
        private @Nullable Joiner<? super T, ?>
                joiner; // null once all subtasks have ended; subtasks refer to this engine

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

        /** Forgets the joiner, which may keep all subtasks. Called by the owner when none is unfinished. */
        void forgetJoiner() {
            joiner = null;
        }
    }

    private static final int FIRST_ROUND = 1;

    private final Joiner<? super T, ? extends R> joiner;
    private final Engine<T> engine;
    private final @Nullable Duration timeout;
    private final Alarm alarm;
    private volatile boolean timedOut;
    private boolean joining; // owner only, like those below
    private boolean joined;
    private boolean forked;
    private boolean closed;

    private JoinedScope(Joiner<? super T, ? extends R> joiner, Settings settings) {
        this.joiner = joiner;
        this.engine = new Engine<>(settings.options(), joiner);
        this.timeout = settings.timeout();
        this.alarm = timeout == null ? () -> false : armOrClose(timeout);
    }

    /** Arms the alarm, or closes the engine, which has entered the owner's thread and could not be closed by anyone else. */
    private Alarm armOrClose(Duration timeout) {
        try {
            return Deadline.after(engine.time(), timeout).alarm(() -> Thread.startVirtualThread(this::timeOut));
        } catch (Throwable noAlarm) {
            try {
                engine.close();
            } catch (Throwable failure) {
                noAlarm.addSuppressed(failure);
            }
            throw noAlarm;
        }
    }

    static <T extends @Nullable Object, R extends @Nullable Object> JoinedScope<T, R> open(
            Joiner<? super T, ? extends R> joiner, Configuration configuration) {
        return new JoinedScope<>(joiner, (Settings) configuration);
    }

    /** Interrupts foreign threads, and so is not done by the alarm itself. */
    private void timeOut() {
        if (!engine.isShutdown()) {
            timedOut = true;
            engine.stop();
        }
    }

    /**
     * Starts a thread for a subtask. If this scope is shut down, the subtask never runs. Only the owner may call this.
     *
     * @param <U> what the task returns
     * @param task what to call
     * @return the subtask
     * @throws IllegalStateException if the owner has tried to join, or this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if other scoped values are in force than where this scope was opened
     * @throws RejectedExecutionException if the thread factory returned null, or the scheduler did not accept the subtask
     */
    public <U extends T> Subtask<U> fork(Callable<? extends U> task) {
        Objects.requireNonNull(task, "task");
        engine.ensureOwner("fork");
        if (joining || closed) {
            throw new IllegalStateException("scope \"" + engine.name() + "\" was joined or closed; fork before that");
        }
        ForkedSubtask<U> subtask = engine.create(task, FIRST_ROUND);
        if (joiner.onFork(subtask)) {
            engine.stop();
        }
        engine.start(subtask);
        forked = true;
        return subtask;
    }

    /**
     * Starts a thread for a subtask without a result, as {@link #fork(Callable)} does.
     *
     * @param <U> the type of nothing
     * @param task what to run
     * @return the subtask; its result is null
     * @throws IllegalStateException if the owner has tried to join, or this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if other scoped values are in force than where this scope was opened
     * @throws RejectedExecutionException if the thread factory returned null, or the scheduler did not accept the subtask
     */
    @SuppressWarnings("NullAway") // null is the result of no result
    public <U extends T> Subtask<U> fork(Runnable task) {
        Objects.requireNonNull(task, "task");
        return fork(() -> {
            task.run();
            return null;
        });
    }

    /**
     * Waits until all subtasks have ended, or the joiner or the timeout has shut this scope down, and returns what the joiner
     * makes of it. Only the owner may call this, once; again if it was interrupted.
     *
     * @return the joiner's result
     * @throws IllegalStateException if the owner has joined, or this scope is closed; or without a timeout, if a subtask could
     *     never begin, as {@link StructuredTaskScope#join()} says
     * @throws WrongThreadException if the caller is not the owner
     * @throws TimeoutException if the timeout was over first
     * @throws FailedException if the joiner throws instead of giving a result; the cause is what it threw
     * @throws InterruptedException if the owner was interrupted before or while it waited
     */
    public R join() throws InterruptedException {
        engine.ensureOwner("join");
        if (joined || closed) {
            throw new IllegalStateException("scope \"" + engine.name() + "\" was joined or closed; it is joined once");
        }
        joining = true;
        engine.beginJoin();
        if (timeout == null) {
            engine.awaitForLong();
        } else {
            engine.owner().await(engine, false);
        }
        joined = true;
        engine.completeJoin(FIRST_ROUND);
        if (timedOut) {
            throw new TimeoutException("scope \"" + engine.name() + "\" ran out of time after "
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
     * Tells whether this scope is shut down: by the joiner, by the timeout, or by closing.
     *
     * @return true from then on
     */
    public boolean isCancelled() {
        return engine.isShutdown();
    }

    /**
     * Shuts this scope down if nobody has, waits for all subtasks to end, and closes it, as
     * {@link StructuredTaskScope#close()} does. Only the owner may call this.
     *
     * @throws IllegalStateException if the owner has forked and not tried to join; this scope is closed all the same
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if scopes opened later were still open, or scoped values are in force that were bound
     *     later; this scope is closed all the same
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
            engine.forgetJoiner();
        }
        if (forked && !joining) {
            throw new IllegalStateException(
                    "the owner of scope \"" + engine.name() + "\" has forked and not joined; call join() first");
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
