package dev.raddle.console;

import dev.raddle.flow.PlanEdge;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run of tasks that depend on each other, as a console and its pages show it. Runs of flows are
 * {@linkplain Console#startFlow watched} without it; it is for those that another engine executes.
 *
 * <p>States are words: {@code pending}, {@code waiting}, {@code running}, {@code succeeded}, {@code degraded},
 * {@code failed}, {@code timed-out}, {@code rejected}, {@code cancelled}, {@code skipped}. Another word is shown as it
 * is.
 *
 * <p>A console calls these methods while a browser looks, at most four times a second and in one thread at a time,
 * while the run goes on in others. They must not block. Each answer may be of another moment. A run whose method throws
 * is shown as {@code unreadable}, with the exception.
 */
public interface RunView {

    /** One node, or task, of the run. */
    interface Node {
        /**
         * Returns its state.
         *
         * @return a word of those above
         */
        String state();

        /**
         * Returns its group.
         *
         * @return the group in which it runs, or null
         */
        default @Nullable String group() {
            return null;
        }

        /**
         * Returns what it waits for, or why it was skipped.
         *
         * @return a part of a sentence, or null
         */
        default @Nullable String why() {
            return null;
        }

        /**
         * Returns whether it waits for a signal.
         *
         * @return whether a signal would let it go on
         */
        default boolean takesSignal() {
            return false;
        }

        /**
         * Returns its failure.
         *
         * @return the failure in one line, or null
         */
        default @Nullable String error() {
            return null;
        }

        /**
         * Returns when its upstream nodes had ended and it could have started.
         *
         * @return the moment, or null if it is unknown
         */
        default @Nullable Instant readyAt() {
            return null;
        }

        /**
         * Returns when its first attempt started.
         *
         * @return the moment, or null before it
         */
        default @Nullable Instant startedAt() {
            return null;
        }

        /**
         * Returns when it ended.
         *
         * @return the moment, or null before it
         */
        default @Nullable Instant endedAt() {
            return null;
        }

        /**
         * Returns its attempts.
         *
         * @return the attempts, the first one first; may be empty if there was one only
         */
        default List<Attempt> attempts() {
            return List.of();
        }

        /**
         * Returns what else is known of it, such as its exit code.
         *
         * @return values by their names, in the order in which they are shown
         */
        default Map<String, String> facts() {
            return Map.of();
        }

        /**
         * Returns a longer text, such as what it has printed.
         *
         * @return the text, or null
         */
        default @Nullable String text() {
            return null;
        }
    }

    /**
     * One attempt of a node.
     *
     * @param startedAt the moment of its start
     * @param endedAt the moment of its end, or null before it
     * @param error its failure in one line, or null
     */
    record Attempt(
            Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable String error) {}

    /**
     * Returns the name of its plan.
     *
     * @return the name
     */
    String name();

    /**
     * Returns the label that distinguishes this run from others of its plan.
     *
     * @return a name of the run, or an empty text
     */
    default String label() {
        return "";
    }

    /**
     * Returns its state.
     *
     * @return a word of those above
     */
    String state();

    /**
     * Returns when it started.
     *
     * @return the moment
     */
    Instant startedAt();

    /**
     * Returns when it ended.
     *
     * @return the moment, or null before it
     */
    @Nullable
    Instant endedAt();

    /**
     * Returns its nodes.
     *
     * @return the nodes by their ids, in the order of the plan; always the same ids
     */
    Map<String, ? extends Node> nodes();

    /**
     * Returns the dependencies between its nodes.
     *
     * @return the dependencies; always the same ones
     */
    default List<PlanEdge> edges() {
        return List.of();
    }

    /**
     * Returns the path that made it take as long as it did.
     *
     * @return ids of nodes, the first one first; empty if it is unknown
     */
    default List<String> criticalPath() {
        return List.of();
    }

    /**
     * Returns what else is known of the run, such as its exit code.
     *
     * @return values by their names, in the order in which they are shown
     */
    default Map<String, String> facts() {
        return Map.of();
    }

    /**
     * Returns a longer text, such as a journal.
     *
     * @return the text, or null
     */
    default @Nullable String text() {
        return null;
    }
}
