package dev.raddle.task;

import java.io.Serializable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a task was not admitted.
 *
 * {@snippet :
 * switch (rejection.reason()) {
 *     case GROUP_QUEUE, BULKHEAD, RATE, PERMITS -> answer(429);
 *     default -> answer(503);
 * }
 * }
 *
 * @param reason the rule that rejected the task
 * @param text a description, which begins with the word of the reason unless a user's handler has chosen it, such as
 *     {@code group-queue: 4 of 4 running, 100 of 100 waiting}
 * @param executor the name of the executor or pool, or null if it has none
 * @param obstacle the limit that kept the task, or the tasks before it, from starting; null if the reason is no limit
 * @param nextStart the time from the rejection until a rate, a hold or an open breaker allows the next start of the
 *     group; null if that is not the obstacle
 * @param load the load that left no room, or the load at the end of a queue timeout; null for other reasons
 */
public record Rejection(
        Reason reason,
        String text,
        @Nullable String executor,
        @Nullable WaitReason obstacle,
        @Nullable Duration nextStart,
        @Nullable Load load)
        implements Serializable {

    /** A rule that rejects tasks. {@link #toString} returns its word, as in texts and in tags of meters. */
    public enum Reason {
        /** The queue of the group was full. */
        GROUP_QUEUE("group-queue"),

        /** The same, and the tasks of the group wait because of its bulkhead. */
        BULKHEAD("bulkhead"),

        /** The same, and the tasks of the group wait because of a rate. */
        RATE("rate"),

        /** The same, and the tasks of the group wait for permits of a fleet. */
        PERMITS("permits"),

        /** The circuit breaker of the group was open, or had admitted all probes. */
        BREAKER("breaker"),

        /** The queues of all groups together were full. The load is that of the cap. */
        GLOBAL_QUEUE("global-queue"),

        /** The task waited until its queue timeout. */
        QUEUE_TIMEOUT("queue-timeout"),

        /** The executor, the group or the pool was shut down. */
        SHUTDOWN("shutdown"),

        /** The group was evicted while the task waited. */
        EVICTED("evicted"),

        /** A pool was full, or dropped the task. */
        POOL("pool"),

        /** User code rejected the task. */
        OTHER("other");

        private final String word;

        Reason(String word) {
            this.word = word;
        }

        /** Returns the word of this reason, such as {@code group-queue}. */
        @Override
        public String toString() {
            return word;
        }
    }

    /**
     * The load at the moment of a rejection.
     *
     * @param running the number of slots that were taken
     * @param limit the number of slots, or of the permits of a fleet; {@link Integer#MAX_VALUE} if unlimited
     * @param waiting the number of tasks that waited
     * @param capacity the number of tasks that may wait; {@link Integer#MAX_VALUE} if unlimited
     */
    public record Load(int running, int limit, int waiting, int capacity) implements Serializable {}

    /**
     * Creates a rejection without an obstacle and a load, whose text consists of the word of the reason and a detail.
     *
     * @param reason the rule
     * @param detail the rest of the text
     * @return the rejection
     */
    public static Rejection of(Reason reason, String detail) {
        return new Rejection(reason, reason + ": " + detail, null, null, null, null);
    }

    /**
     * Returns a copy with the name of an executor.
     *
     * @param name the name, or null for none
     * @return the copy
     */
    @CheckReturnValue
    public Rejection by(@Nullable String name) {
        return new Rejection(reason, text, name, obstacle, nextStart, load);
    }

    /** Returns the text. */
    @Override
    public String toString() {
        return text;
    }
}
