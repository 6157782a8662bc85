package dev.raddle.spring;

import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.TaskHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The future of a submitted method. It completes as the future that the method returned, and cancels the task. */
final class GroupedFuture extends CompletableFuture<@Nullable Object> {

    /** Is called in place of a rejected method, and returns a future or null as that does. */
    interface Replacement {
        @Nullable
        Object call(RejectedTaskException rejected) throws Exception;
    }

    private volatile @Nullable TaskHandle<@Nullable Object> task;
    private volatile @Nullable CompletableFuture<?> replaced; // what a replacement returned

    /** Completes this future with the result of a task, or of its replacement if it is rejected. */
    void follow(TaskHandle<@Nullable Object> handle, @Nullable Replacement replacement) {
        task = handle;
        CompletableFuture<?> _ = handle.toCompletableFuture().whenComplete((result, failure) -> {
            try {
                complete(valueOf(result, failure));
            } catch (RejectedTaskException rejected) {
                reject(rejected, isRejection(result, failure) ? replacement : null);
            } catch (Throwable thrown) {
                completeExceptionally(thrown);
            }
        });
    }

    private static boolean isRejection(@Nullable GroupResult<?> result, @Nullable Throwable failure) {
        return failure != null || (result != null && result.isRejected());
    }

    private static @Nullable Object valueOf(@Nullable GroupResult<?> result, @Nullable Throwable failure)
            throws Throwable {
        if (result == null) {
            throw failure instanceof CompletionException wrapped && wrapped.getCause() != null
                    ? wrapped.getCause()
                    : failure == null ? new IllegalStateException("a task ended without a result") : failure;
        }
        Throwable error = result.error();
        if (result.isFailed() && error != null) {
            throw error; // as it was thrown, also if it is checked
        }
        return result.orElseThrow();
    }

    /** Completes this future with a rejection, or as the future that the replacement returns, if there is one. */
    void reject(RejectedTaskException rejected, @Nullable Replacement replacement) {
        if (replacement == null) {
            completeExceptionally(rejected);
            return;
        }
        try {
            Object returned = replacement.call(rejected);
            if (returned instanceof CompletionStage<?> stage) {
                completeAs(stage);
            } else {
                complete(await(() -> returned));
            }
        } catch (Throwable thrown) {
            completeExceptionally(thrown);
        }
    }

    /** Completes this future later, because the thread that rejects a task may be that of the caller. */
    private void completeAs(CompletionStage<?> stage) {
        CompletableFuture<?> future = stage.toCompletableFuture();
        replaced = future;
        CompletionStage<?> _ = stage.whenComplete((value, failure) -> {
            if (failure == null) {
                complete(value);
            } else {
                completeExceptionally(
                        failure instanceof CompletionException && failure.getCause() != null
                                ? failure.getCause()
                                : failure);
            }
        });
        if (isCancelled()) {
            future.cancel(true);
        }
    }

    /**
     * Calls a method and waits for the future that it returns, so that the task has its slot until the work is done. An
     * interrupt, by a timeout or a cancellation, cancels that future.
     */
    static @Nullable Object await(Callable<@Nullable Object> method) throws Exception {
        Object returned = method.call();
        Future<?> inner = returned instanceof CompletionStage<?> stage // first: some stages refuse to be futures
                ? stage.toCompletableFuture()
                : (Future<?>) returned;
        if (inner == null) {
            return null;
        }
        try {
            return inner.get();
        } catch (ExecutionException failure) {
            throw GroupedMethod.asException(failure.getCause() == null ? failure : failure.getCause());
        } catch (InterruptedException interrupt) {
            inner.cancel(true);
            throw interrupt;
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        TaskHandle<@Nullable Object> handle = task;
        if (cancelled && handle != null) {
            handle.cancel(mayInterruptIfRunning);
        }
        CompletableFuture<?> future = replaced;
        if (cancelled && future != null) {
            future.cancel(mayInterruptIfRunning);
        }
        return cancelled;
    }
}
