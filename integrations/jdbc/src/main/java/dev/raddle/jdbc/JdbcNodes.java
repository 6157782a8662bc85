package dev.raddle.jdbc;

import dev.raddle.flow.NodeContext;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * What the actions of nodes can use while a {@link FlowService} executes them.
 *
 * {@snippet :
 * f.node("debit", c -> {
 *     try (PreparedStatement debit = JdbcNodes.connection(c).prepareStatement(DEBIT)) {
 *         debit.setLong(1, c.param().amount());
 *         return debit.executeUpdate(); // committed together with the end of this node
 *     }
 * });
 * }
 */
public final class JdbcNodes {

    private JdbcNodes() {}

    /**
     * Returns the connection of the transaction in which the end of the node is recorded. What the action does with it
     * happens exactly once: it is committed if and only if the node is recorded as ended with the value of the action.
     * If the action throws, times out or is cancelled, or if the run has been taken over by another worker, it is
     * rolled back.
     *
     * <p>The connection comes from the data source of the service. It can be used like any other one; closing it does
     * nothing, and savepoints are allowed. It refuses to commit, to roll back and to be aborted, and an action that has
     * tried to, or has ended the transaction by a statement, has failed. So has one that has swallowed the exception of
     * a statement, or that violates a deferred constraint.
     *
     * <p>It is available in the action of a node, in its thread, until the action returns; not in conditions,
     * callbacks, fallbacks, defaults and functions of sleeps, and not in the nodes of a nested plan. The transaction
     * begins at the first call in an attempt, and lasts until the end of the attempt, so an action should call this
     * when it has done everything else. The database ends the transaction if the action does not use it for as long as
     * heartbeats may be missing. If that happens, or if the connection breaks, the node runs again after a delay, which
     * grows, and {@link StoredRun#problem()} is the reason meanwhile.
     *
     * @param context the context of the node
     * @return the same connection at every call in one attempt
     * @throws SQLException if the data source has no connection
     * @throws IllegalStateException if the caller is not the action of a node that a {@link FlowService} executes, or
     *     if it is that of a node of a nested plan
     */
    public static Connection connection(NodeContext<?> context) throws SQLException {
        if (!JdbcJournal.CURRENT.isBound()) {
            throw new IllegalStateException("node \"" + context.id()
                    + "\" is not run by a FlowService in this thread; submit the flow to one, which provides the"
                    + " connection, and ask for it in the thread of the action");
        }
        return JdbcJournal.CURRENT.get().connectionOf(context);
    }
}
