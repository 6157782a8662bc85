package dev.raddle.flow;

import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The options of a node. Most nodes share {@link #NONE}. */
record NodeOptions(
        int flags,
        @Nullable Duration timeout,
        @Nullable RetryPolicy retry,
        CheckedFunction.@Nullable F1<Throwable, ?> fallback,
        @Nullable Supplier<?> defaultValue,
        @Nullable Predicate<? super NodeContext<?>> condition,
        @Nullable Function<? super NodeContext<?>, String> group,
        @Nullable Consumer<? super NodeContext<?>> begin,
        @Nullable Consumer<? super NodeReport<?>> result,
        @Nullable Compensation compensation) {

    static final NodeOptions NONE = new NodeOptions(0, null, null, null, null, null, null, null, null, null);

    static final int NO_INTERRUPT = 1;
    static final int ESSENTIAL = 2;
    static final int COMPUTE = 4;

    /** A constant function. */
    record Constant(@Nullable Object value) implements Supplier<@Nullable Object>, Function<NodeContext<?>, String> {
        @Override
        public @Nullable Object get() {
            return value;
        }

        @Override
        @SuppressWarnings("NullAway") // null is a value
        public String apply(NodeContext<?> unused) {
            return (String) value;
        }
    }

    /** Returns whether something follows a failed attempt: another one, or another value. */
    boolean hasRecourse() {
        return retry != null || fallback != null || defaultValue != null;
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    NodeOptions with(int flag) {
        return new NodeOptions(
                flags | flag, timeout, retry, fallback, defaultValue, condition, group, begin, result, compensation);
    }

    NodeOptions withTimeout(Duration length) {
        return new NodeOptions(
                flags, length, retry, fallback, defaultValue, condition, group, begin, result, compensation);
    }

    NodeOptions withRetry(RetryPolicy policy) {
        return new NodeOptions(
                flags, timeout, policy, fallback, defaultValue, condition, group, begin, result, compensation);
    }

    NodeOptions withFallback(CheckedFunction.F1<Throwable, ?> recovery) {
        return new NodeOptions(
                flags, timeout, retry, recovery, defaultValue, condition, group, begin, result, compensation);
    }

    NodeOptions withDefault(Supplier<?> value) {
        return new NodeOptions(flags, timeout, retry, fallback, value, condition, group, begin, result, compensation);
    }

    NodeOptions withCondition(Predicate<? super NodeContext<?>> whether) {
        return new NodeOptions(
                flags, timeout, retry, fallback, defaultValue, whether, group, begin, result, compensation);
    }

    NodeOptions withGroup(Function<? super NodeContext<?>, String> key) {
        return new NodeOptions(
                flags, timeout, retry, fallback, defaultValue, condition, key, begin, result, compensation);
    }

    NodeOptions withBegin(Consumer<? super NodeContext<?>> callback) {
        Consumer<NodeContext<?>> both = callback::accept;
        return new NodeOptions(
                flags,
                timeout,
                retry,
                fallback,
                defaultValue,
                condition,
                group,
                begin == null ? both : new Both<>(begin, callback),
                result,
                compensation);
    }

    @SuppressWarnings("unchecked") // the node's values are of the callback's type
    <T> NodeOptions withResult(Consumer<? super NodeReport<T>> callback) {
        Consumer<NodeReport<?>> added = report -> callback.accept((NodeReport<T>) report);
        return new NodeOptions(
                flags,
                timeout,
                retry,
                fallback,
                defaultValue,
                condition,
                group,
                begin,
                result == null ? added : new Both<>(result, added),
                compensation);
    }

    /** Two callbacks, each of which is called even if the other throws. */
    record Both<X>(Consumer<? super X> first, Consumer<? super X> second) implements Consumer<X> {
        @Override
        public void accept(X argument) {
            throw new IllegalStateException("each callback is called separately");
        }
    }

    NodeOptions withCompensation(Compensation how) {
        return new NodeOptions(flags, timeout, retry, fallback, defaultValue, condition, group, begin, result, how);
    }
}
