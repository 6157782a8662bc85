package dev.raddle.flow;

import dev.raddle.kernel.Draft;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The options of a node. Most nodes share {@link #NONE}; a node with any other options is not {@link Graph#PLAIN}, and
 * a run does not complete it on the short path.
 */
final class NodeOptions extends Draft<NodeOptions> {

    static final NodeOptions NONE = new NodeOptions();

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

    int flags;

    @Nullable
    Duration timeout;

    @Nullable
    RetryPolicy retry;

    CheckedFunction.@Nullable F1<Throwable, ?> fallback;

    @Nullable
    Supplier<?> defaultValue;

    @Nullable
    Predicate<? super NodeContext<?>> condition;

    @Nullable
    Function<? super NodeContext<?>, String> group;

    List<Consumer<? super NodeContext<?>>> begin = List.of(); // each is called even if another throws
    List<Consumer<? super NodeReport<?>>> result = List.of(); // likewise

    @Nullable
    Compensation compensation;

    private NodeOptions() {}

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** Returns whether something follows a failed attempt: another one, or another value. */
    boolean hasRecourse() {
        return retry != null || fallback != null || defaultValue != null;
    }
}
