package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.TaskOptions;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Rejection;
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
    private final TaskOptions options;
    private final @Nullable Method onReject;
    private final boolean submitted;
    private final boolean declaresInterrupts; // whether callers expect an InterruptedException

    GroupedMethod(
            Method method,
            Supplier<GroupExecutor> executor,
            KeyExpression key,
            TaskOptions options,
            @Nullable Method onReject) {
        this.name = nameOf(method);
        this.executor = executor;
        this.key = key;
        this.options = options;
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
        Started body = new Started(name, call.body());
        try {
            return groups.call(groupKey, body, options);
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
    private static final class Started implements Callable<@Nullable Object>, NamedTask {
        private final String name;
        private final Callable<@Nullable Object> body;
        private boolean hasStarted;

        Started(String name, Callable<@Nullable Object> body) {
            this.name = name;
            this.body = body;
        }

        @Override
        public String name() {
            return name;
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
            future.follow(groups.submit(groupKey, name, () -> GroupedFuture.await(call.body()), options), replacement);
        } catch (IllegalStateException failure) {
            if (!groups.isShutdown()) {
                throw failure;
            }
            future.reject(shutDown(groupKey), replacement);
        }
        return future;
    }

    /** Returns the options of a method. */
    static TaskOptions optionsOf(Grouped grouped, @Nullable Duration queueTimeout, @Nullable Duration timeout) {
        return new TaskOptions(grouped.priority(), grouped.cost(), queueTimeout, null, timeout);
    }

    @Override
    public String toString() {
        return name;
    }
}
