package dev.raddle.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a transaction as the action sees it. Closing it does nothing, so that it can be used like any other
 * one. It refuses to end the transaction, and remembers that, since an action that has tried to roll back must not be
 * committed even if it ignores the exception.
 */
final class ActionConnection implements InvocationHandler {

    private final String node;
    private final Connection connection;
    private volatile @Nullable String refused; // the first method that was refused
    private volatile boolean isOver;

    ActionConnection(String node, Connection connection) {
        this.node = node;
        this.connection = connection;
    }

    /** Returns a view of this connection for the action. */
    Connection view() {
        Class<?>[] type = {Connection.class};
        return (Connection) Proxy.newProxyInstance(ActionConnection.class.getClassLoader(), type, this);
    }

    /** Returns the name of the first method that was refused, or null. */
    @Nullable
    String refused() {
        return refused;
    }

    /** Makes the view useless, since the connection is about to be returned to its pool. */
    void end() {
        isOver = true;
    }

    @Override
    public @Nullable Object invoke(Object view, Method method, Object @Nullable [] arguments) throws Throwable {
        String name = method.getName();
        int count = arguments == null ? 0 : arguments.length;
        switch (name) {
            case "equals" -> {
                return arguments != null && view == arguments[0];
            }
            case "hashCode" -> {
                return System.identityHashCode(view);
            }
            case "toString" -> {
                return "connection of node \"" + node + "\"";
            }
            case "close" -> {
                return null;
            }
            case "isClosed" -> {
                return isOver || connection.isClosed();
            }
            default -> {
                if (isOver) {
                    throw new SQLException(
                            "the transaction of node \"" + node + "\" has ended, and its connection with it", "08003");
                }
            }
        }
        boolean endsTransaction = name.equals("commit")
                || name.equals("abort")
                || (name.equals("rollback") && count == 0)
                || (name.equals("setAutoCommit") && arguments != null && Boolean.TRUE.equals(arguments[0]));
        if (endsTransaction) {
            refused = refused == null ? name : refused;
            throw new SQLException(name + "() is refused: " + leaveIt(node), "25000");
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause() == null ? thrown : thrown.getCause();
        }
    }

    static String leaveIt(String node) {
        return "the transaction of node \"" + node + "\" is committed together with the record of its end;"
                + " leave commit and rollback to Raddle, and throw to undo the work";
    }
}
