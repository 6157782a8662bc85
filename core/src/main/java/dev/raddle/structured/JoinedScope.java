package dev.raddle.structured;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.ScopeControl;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The implementation of a scope: the rules of forking and joining. */
final class JoinedScope<T extends @Nullable Object, R extends @Nullable Object, X extends Throwable>
        implements StructuredTaskScope<T, R, X> {

    /*
     * Overview.
     *
     * The subtasks are those of a scope of JEP 462, the engine, whose rules are wider: any number of joins, and forks
     * by subtasks. This class narrows them to one owner and one completed join, and calls the joiner. A Fork is both
     * the user's handle and the task that the engine runs, so the joiner can have it before the engine starts a thread.
     */
    private final Joiner<T, R, X> joiner;
    private final ScopeEngine<T> engine;
    private final @Nullable Timeout timeout;
    private final Thread owner = Thread.currentThread();
    private boolean mustJoin; // owner only, like the next; whether it has forked and not tried to join since
    private boolean closed;

    @SuppressWarnings("unchecked") // its subtasks return values of type T, and the result is used as an R
    JoinedScope(Joiner<? super T, ? extends R, X> joiner, Settings settings) {
        this.joiner = (Joiner<T, R, X>) joiner;
        this.engine = new ScopeEngine<>(settings.options(), this.joiner);
        this.timeout = settings.timeout() == null ? null : armed(settings.timeout());
    }

    private Timeout armed(Duration length) {
        try {
            return new Timeout(engine, length);
        } catch (Throwable noTime) {
            engine.close(); // no caller has this scope
            throw noTime;
        }
    }

    /**
     * The timeout of a scope. Either it or the end of the join is first, which one atomic step decides. In a scope that
     * the joiner has cancelled, it changes nothing.
     */
    private static final class Timeout {
        private final ScopeEngine<?> engine;
        private final Deadline deadline;
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Alarm alarm; // for the time in which the owner does not wait

        Timeout(ScopeEngine<?> engine, Duration length) {
            this.engine = engine;
            ScopeControl scope = engine.control();
            this.deadline = Deadline.after(scope.time(), length);
            if (length.isPositive()) {
                OffloadExecutor elsewhere = scope.offload(); // the alarm's thread interrupts no threads of user code
                this.alarm = deadline.alarm(() -> elsewhere.execute(this::expire));
            } else {
                this.alarm = () -> false;
                expire();
            }
        }

        private void expire() {
            if (!engine.isShutdown() && decided.compareAndSet(false, true)) {
                engine.control().stop();
            }
        }

        /** Waits until the join is over or the deadline has passed. */
        void await() throws InterruptedException {
            if (deadline.hasPassed() || !engine.control().joinBy(deadline)) {
                expire();
            }
        }

        /** Decides that the join has ended in time. Returns false if the timeout was first. */
        boolean end() {
            alarm.cancel();
            return decided.compareAndSet(false, true);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // its results are of type T
    public <U extends T> Subtask<U> fork(Callable<? extends U> task) {
        Objects.requireNonNull(task, "task");
        ensureOwner("fork");
        ensureNotJoined("fork");
        Fork<U> fork = new Fork<>(engine, task);
        if (joiner.onFork((Subtask<T>) fork)) {
            engine.control().stop();
        }
        fork.setForked(engine.fork(fork));
        mustJoin = true;
        return fork;
    }

    @Override
    @SuppressWarnings("NullAway") // the result is null
    public <U extends T> Subtask<U> fork(Runnable task) {
        Objects.requireNonNull(task, "task");
        return fork(() -> {
            task.run();
            return null;
        });
    }

    @Override
    public R join() throws X, InterruptedException {
        ensureOwner("join");
        ensureNotJoined("join");
        mustJoin = false;
        if (timeout != null) {
            timeout.await();
        }
        engine.join();
        boolean inTime = timeout == null || timeout.end();
        engine.setJoined();
        return inTime ? joiner.result() : joiner.timeout();
    }

    @Override
    public boolean isCancelled() {
        return engine.isCancelled();
    }

    @Override
    public void close() {
        ensureOwner("close");
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (timeout != null) {
                timeout.end();
            }
        } finally {
            engine.close();
        }
        if (mustJoin) {
            throw new IllegalStateException("the owner of scope " + engine + " has forked and not joined");
        }
    }

    private void ensureOwner(String action) {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException("only its owner, " + owner + ", may " + action + " scope " + engine
                    + "; this is " + Thread.currentThread());
        }
    }

    private void ensureNotJoined(String action) {
        if (engine.isJoined() || closed) {
            throw new IllegalStateException("scope " + engine + " was joined or closed; " + action + " before that");
        }
    }

    @Override
    public String toString() {
        return engine.toString();
    }
}
