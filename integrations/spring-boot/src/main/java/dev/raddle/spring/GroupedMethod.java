package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskSpec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One method with {@link Grouped}, with everything that does not change between its calls: the executor, the compiled
 * key, the options and the method for rejected calls.
 */
final class GroupedMethod {

    /** A call that is about to be made. */
    static final class Call {
        private final @Nullable Object target;
        private final @Nullable Object[] arguments;
        private final Callable<@Nullable Object> body;

        Call(@Nullable Object target, @Nullable Object[] arguments, Callable<@Nullable Object> body) {
            this.target = target;
            this.arguments = arguments;
            this.body = body;
        }

        Callable<@Nullable Object> body() {
            return body;
        }

        /** Returns this call with another body. */
        Call with(Callable<@Nullable Object> other) {
            return new Call(target, arguments, other);
        }
    }

    private final String name;
    private final Supplier<GroupExecutor> executor;
    private final KeyExpression key;
    private final Grouped grouped;
    private final @Nullable Duration queueTimeout;
    private final @Nullable Duration timeout;
    private final @Nullable Method onReject;
    private final boolean submitted;
    private final boolean declaresInterrupts; // whether callers expect an InterruptedException

    GroupedMethod(
            Method method,
            Supplier<GroupExecutor> executor,
            KeyExpression key,
            Grouped grouped,
            @Nullable Duration queueTimeout,
            @Nullable Duration timeout,
            @Nullable Method onReject) {
        this.name = nameOf(method);
        this.executor = executor;
        this.key = key;
        this.grouped = grouped;
        this.queueTimeout = queueTimeout;
        this.timeout = timeout;
        this.onReject = onReject;
        this.submitted = isFuture(method.getReturnType());
        this.declaresInterrupts = Stream.of(method.getExceptionTypes())
                .anyMatch(thrown -> thrown.isAssignableFrom(InterruptedException.class));
    }

    static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    static boolean isFuture(Class<?> type) {
        return type == Future.class || type == CompletionStage.class || type == CompletableFuture.class;
    }

    /** Returns whether callers wait in their own threads, in a queue without a limit. */
    boolean mayHoldAnyNumberOfCallers() {
        if (submitted) {
            return false;
        }
        GroupPolicy policy = executor.get().policy();
        return policy.defaultQueueThresholdPerGroup() == Integer.MAX_VALUE
                && policy.globalQueueThreshold() == Integer.MAX_VALUE;
    }

    @Nullable
    Object call(Call call) throws Exception {
        String groupKey = key.of(call.target, call.arguments);
        return submitted ? submit(groupKey, call) : callNow(groupKey, call);
    }

    // Methods that run in the caller's thread.

    private @Nullable Object callNow(String groupKey, Call call) throws Exception {
        GroupExecutor groups = executor.get();
        Started body = new Started(call.body());
        try {
            return groups.call(groupKey, spec(body));
        } catch (RejectedTaskException rejected) {
            if (body.hasStarted) {
                throw rejected; // of another task, thrown by the method
            }
            return rejected(call, rejected);
        } catch (IllegalStateException failure) {
            if (body.hasStarted || !groups.isShutdown()) {
                throw failure;
            }
            return rejected(call, shutDown(groupKey));
        } catch (InterruptedException interrupt) {
            if (declaresInterrupts) {
                throw interrupt;
            }
            Thread.currentThread().interrupt();
            CancellationException cancelled = new CancellationException(
                    "the caller of " + name + " was interrupted in group \"" + groupKey + "\"");
            cancelled.initCause(interrupt);
            throw cancelled;
        }
    }

    private RejectedTaskException shutDown(String groupKey) {
        return new RejectedTaskException(
                groupKey, name, Rejection.of(Rejection.Reason.SHUTDOWN, "the executor was shut down"));
    }

    private @Nullable Object rejected(Call call, RejectedTaskException rejected) throws Exception {
        if (onReject == null) {
            throw rejected;
        }
        return invoke(onReject, call, rejected);
    }

    private static @Nullable Object invoke(Method method, Call call, RejectedTaskException rejected) throws Exception {
        @Nullable Object[] arguments = call.arguments;
        if (method.getParameterCount() > arguments.length) {
            arguments = Arrays.copyOf(arguments, arguments.length + 1);
            arguments[arguments.length - 1] = rejected;
        }
        try {
            return method.invoke(call.target, arguments);
        } catch (InvocationTargetException thrown) {
            throw asException(thrown.getCause() == null ? thrown : thrown.getCause());
        }
    }

    static Exception asException(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof Exception exception ? exception : new IllegalStateException(thrown);
    }

    /** A callable that notes in the caller's thread that it was called. */
    private static final class Started implements Callable<@Nullable Object> {
        private final Callable<@Nullable Object> body;
        private boolean hasStarted;

        Started(Callable<@Nullable Object> body) {
            this.body = body;
        }

        @Override
        public @Nullable Object call() throws Exception {
            hasStarted = true;
            return body.call();
        }
    }

    // Methods that are submitted.

    private Future<@Nullable Object> submit(String groupKey, Call call) {
        GroupExecutor groups = executor.get();
        GroupedFuture.Replacement replacement = onReject == null ? null : rejected -> invoke(onReject, call, rejected);
        GroupedFuture future = new GroupedFuture();
        try {
            future.follow(groups.submit(groupKey, spec(() -> GroupedFuture.await(call.body()))), replacement);
        } catch (IllegalStateException failure) {
            if (!groups.isShutdown()) {
                throw failure;
            }
            future.reject(shutDown(groupKey), replacement);
        }
        return future;
    }

    private TaskSpec<@Nullable Object> spec(Callable<@Nullable Object> body) {
        TaskSpec<@Nullable Object> spec = TaskSpec.<@Nullable Object>named(name, body)
                .priority(grouped.priority())
                .cost(grouped.cost());
        if (queueTimeout != null) {
            spec = spec.queueTimeout(queueTimeout);
        }
        return timeout == null ? spec : spec.timeout(timeout);
    }

    @Override
    public String toString() {
        return name;
    }
}
