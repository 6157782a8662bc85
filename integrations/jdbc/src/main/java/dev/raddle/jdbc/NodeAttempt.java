package dev.raddle.jdbc;

import dev.raddle.flow.NodeContext;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** An attempt of a node of a run, in which its action can ask for a transaction. Made in the thread of the action. */
final class NodeAttempt {

    /** Begins a transaction. */
    interface Begin {
        NodeTransaction of(String node) throws SQLException;
    }

    private final NodeContext<?> context;
    private final Thread thread = Thread.currentThread();
    private volatile boolean isOver; // whether its end is being recorded
    private @Nullable NodeTransaction transaction; // confined to the thread
    private boolean hadTransaction; // likewise

    NodeAttempt(NodeContext<?> context) {
        this.context = context;
    }

    /** Returns whether the action that received a context is executed in the current thread, by this attempt. */
    boolean isOf(NodeContext<?> asked) {
        return !isOver && Thread.currentThread() == thread && context.equals(asked);
    }

    boolean isOfThisThread() {
        return Thread.currentThread() == thread;
    }

    /** Returns the transaction of this attempt; begins it at the first call. */
    NodeTransaction transaction(Begin begin) throws SQLException {
        NodeTransaction open = transaction;
        if (open == null) {
            open = begin.of(context.id());
            transaction = open;
            hadTransaction = true;
        }
        return open;
    }

    /** Ensures that the transaction, if there is one, can be committed when its action has returned. */
    void verify() throws SQLException {
        NodeTransaction open = transaction;
        if (open != null) {
            open.verify();
        }
    }

    /**
     * Lets no transaction begin any more, and returns the one that has begun. Called by another thread, this leaves it
     * to {@link #rollBack}, which the thread of the action calls in the end.
     */
    @Nullable
    NodeTransaction end() {
        isOver = true;
        if (Thread.currentThread() != thread) {
            return null;
        }
        NodeTransaction open = transaction;
        transaction = null;
        return open;
    }

    /** Returns whether the action has asked for a transaction. Called in its thread. */
    boolean hadTransaction() {
        return hadTransaction;
    }

    /** Rolls back the transaction, if there is one that was neither committed nor rolled back. */
    void rollBack() {
        NodeTransaction open = end();
        if (open != null) {
            open.rollBack();
        }
    }
}
