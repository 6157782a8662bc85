package dev.raddle.scope;

import dev.raddle.kernel.TimeLimit;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The number of alternatives that must succeed, and the times at which they begin. Immutable.
 *
 * {@snippet :
 * Price price = scope.join(JoinStrategy.hedged(Duration.ofMillis(50)), List.of(() -> near.price(), () -> far.price()));
 * }
 *
 * @param <T> the type of an alternative's value
 * @param <R> the type of the result
 * @see ThreadScope#join(JoinStrategy, java.util.Collection)
 */
public final class JoinStrategy<T, R> {

    private final int needed;
    private final @Nullable Duration stagger;
    private final Function<List<T>, R> result;
    private final String text;

    private JoinStrategy(int needed, @Nullable Duration stagger, Function<List<T>, R> result, String text) {
        this.needed = needed;
        this.stagger = stagger;
        this.result = result;
        this.text = text;
    }

    /**
     * Returns a strategy that begins all alternatives at once and takes the first value, which may be null.
     *
     * @param <T> the type of the value
     * @return the strategy
     */
    public static <T> JoinStrategy<T, T> firstSuccess() {
        return new JoinStrategy<>(1, null, List::getFirst, "first success");
    }

    /**
     * Returns a strategy that begins all alternatives at once and takes the first few values, in the order of their
     * completion.
     *
     * @param <T> the type of a value
     * @param values the number of values, at least 1
     * @return the strategy
     * @throws IllegalArgumentException if the number is less than 1
     */
    public static <T> JoinStrategy<T, List<T>> quorum(int values) {
        if (values < 1) {
            throw new IllegalArgumentException("quorum must be at least 1, was " + values);
        }
        return new JoinStrategy<>(values, null, Function.identity(), "quorum of " + values);
    }

    /**
     * Returns a strategy that begins the alternatives one after the other and takes the first value, which may be null.
     * An alternative begins after the delay from the beginning of the previous one, or as soon as all previous ones
     * have failed.
     *
     * @param <T> the type of the value
     * @param delay the delay before the next alternative begins, positive
     * @return the strategy
     * @throws IllegalArgumentException if the delay is not positive
     * @see <a href="https://doi.org/10.1145/2408776.2408794">Dean and Barroso, "The Tail at Scale" (CACM 2013)</a>
     */
    public static <T> JoinStrategy<T, T> hedged(Duration delay) {
        if (!delay.isPositive()) {
            throw new IllegalArgumentException("delay of a hedge must be positive, was " + delay);
        }
        return new JoinStrategy<>(1, delay, List::getFirst, "hedged by " + TimeLimit.text(delay));
    }

    int needed() {
        return needed;
    }

    /** Returns the delay between the beginnings of two alternatives, or null if all begin at once. */
    @Nullable
    Duration stagger() {
        return stagger;
    }

    R result(List<T> values) {
        return result.apply(values);
    }

    @Override
    public String toString() {
        return "join strategy, " + text;
    }
}
