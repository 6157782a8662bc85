package dev.raddle.jdbc;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.function.UnaryOperator;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A small pool of connections. It can rewrite statements, to seed bugs, and it drops connections on which a method has
 * thrown and that are not valid any more.
 */
final class TestPool implements DataSource, AutoCloseable {
    private final String url;
    private final UnaryOperator<String> rewriting;
    private final Semaphore permits;
    private final Deque<Connection> idle = new ArrayDeque<>(); // guarded by this

    TestPool(String url, int size) {
        this(url, size, sql -> sql);
    }

    TestPool(String url, int size, UnaryOperator<String> rewriting) {
        this.url = url;
        this.rewriting = rewriting;
        permits = new Semaphore(size);
    }

    @Override
    public Connection getConnection() throws SQLException {
        permits.acquireUninterruptibly();
        try {
            Connection real = takeIdle();
            return proxy(real == null ? DriverManager.getConnection(url) : real);
        } catch (SQLException | RuntimeException failure) {
            permits.release();
            throw failure;
        }
    }

    /** Returns whether a thread waits for a connection. */
    boolean hasWaiters() {
        return permits.hasQueuedThreads();
    }

    private synchronized Connection takeIdle() {
        return idle.pollFirst();
    }

    private Connection proxy(Connection real) {
        boolean[] state = new boolean[2]; // closed, suspect
        return (Connection) Proxy.newProxyInstance(
                TestPool.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    switch (method.getName()) {
                        case "close" -> {
                            if (!state[0]) {
                                state[0] = true;
                                giveBack(real, state[1]);
                            }
                            return null;
                        }
                        case "isClosed" -> {
                            return state[0] || real.isClosed();
                        }
                        case "prepareStatement" -> arguments[0] = rewriting.apply((String) arguments[0]);
                        case "commit" -> {
                            String unused = rewriting.apply("COMMIT"); // a seeded bug throws here
                        }
                        default -> {
                            if (state[0]) {
                                throw new SQLException("the connection was returned to its pool", "08003");
                            }
                        }
                    }
                    if (state[0]) {
                        throw new SQLException("the connection was returned to its pool", "08003");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException thrown) {
                        state[1] = true;
                        throw thrown.getCause();
                    }
                });
    }

    private void giveBack(Connection real, boolean isSuspect) {
        try {
            boolean isGood = !real.isClosed() && (!isSuspect || real.isValid(1));
            if (isGood && !real.getAutoCommit()) {
                real.rollback();
                real.setAutoCommit(true);
            }
            if (isGood) {
                synchronized (this) {
                    idle.addFirst(real);
                }
            } else {
                clear(); // the others are of the same server
                real.close();
            }
        } catch (SQLException broken) {
            clear();
        } finally {
            permits.release();
        }
    }

    private synchronized void clear() {
        for (Connection each : idle) {
            try {
                each.close();
            } catch (SQLException broken) {
                // it is gone
            }
        }
        idle.clear();
    }

    @Override
    public void close() {
        clear();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("nothing is wrapped");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
