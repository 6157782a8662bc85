package dev.raddle.pool;

import dev.raddle.time.TimeSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@code invokeAny}. The JDK's implementation passes tasks to {@code execute} whose cancellation does not
 * end the call, so the call would wait forever for tasks that the pool hands back or drops.
 */
final class InvokeAny<T extends @Nullable Object> {

    /** A task of the call as it is executed: its future, whose end is reported to the call. */
    private static final class Candidate<T extends @Nullable Object> extends FutureTask<@Nullable Void> {
        private final RunnableFuture<T> future;
        private final BlockingQueue<Future<T>> ended;

        Candidate(RunnableFuture<T> future, BlockingQueue<Future<T>> ended) {
            super(future, null);
            this.future = future;
            this.ended = ended;
        }

        @Override
        protected void done() {
            future.cancel(false); // has no effect on one that has run
            ended.add(future);
        }

        @Override
        public boolean isCancelled() {
            return future.isCancelled();
        }
    }

    private final Executor executor;
    private final Function<Callable<T>, RunnableFuture<T>> newTask;
    private final List<Future<T>> futures = new ArrayList<>();
    private final BlockingQueue<Future<T>> ended = new LinkedBlockingQueue<>();

    InvokeAny(Executor executor, Function<Callable<T>, RunnableFuture<T>> newTask) {
        this.executor = executor;
        this.newTask = newTask;
    }

    /** Returns the future of a task of such a call; any other task itself. */
    static Runnable futureOf(Runnable task) {
        return task instanceof Candidate<?> candidate ? candidate.future : task;
    }

    /**
     * Submits the tasks, each after a look at those that have ended, and returns the first value.
     *
     * @param nanos the longest wait, or {@link Long#MAX_VALUE}
     */
    T call(Collection<? extends Callable<T>> tasks, long nanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (tasks.isEmpty()) {
            throw new IllegalArgumentException("tasks is empty");
        }
        long begin = TimeSource.system().nanoTime();
        ExecutionException failure = null;
        Iterator<? extends Callable<T>> rest = tasks.iterator();
        try {
            for (int active = 0; active > 0 || rest.hasNext(); ) {
                Future<T> next = active > 0 ? ended.poll() : null;
                if (next == null && rest.hasNext()) {
                    submit(rest.next());
                    active++;
                    continue;
                }
                if (next == null) {
                    next = awaitEnd(begin, nanos);
                }
                active--;
                try {
                    return next.get();
                } catch (ExecutionException failed) {
                    failure = failed;
                } catch (CancellationException cancelled) {
                    failure = new ExecutionException(cancelled);
                }
            }
            throw Objects.requireNonNull(failure);
        } finally {
            futures.forEach(future -> future.cancel(true));
        }
    }

    private Future<T> awaitEnd(long begin, long nanos) throws InterruptedException, TimeoutException {
        Future<T> next = ended.poll(nanos - (TimeSource.system().nanoTime() - begin), TimeUnit.NANOSECONDS);
        if (next == null) {
            throw new TimeoutException();
        }
        return next;
    }

    private void submit(Callable<T> task) {
        RunnableFuture<T> future = newTask.apply(task);
        futures.add(future);
        executor.execute(new Candidate<>(future, ended));
    }
}
