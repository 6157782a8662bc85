package dev.raddle.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/**
 * Captures and suppresses the lines that are written to the log {@code dev.raddle} while this is open. It is the
 * filter of the {@code java.util.logging} logger behind it, by reflection, because the module under test does not read
 * that module.
 */
public final class WrittenLog implements AutoCloseable {

    public record Line(String message, Throwable thrown) {}

    private final List<Line> lines = new ArrayList<>();
    private final Object logger;

    public WrittenLog() throws ReflectiveOperationException {
        logger = Class.forName("java.util.logging.Logger")
                .getMethod("getLogger", String.class)
                .invoke(null, "dev.raddle");
        InvocationHandler filter = (proxy, method, arguments) -> record(arguments[0]);
        setFilter(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {filterClass()}, filter));
    }

    public List<Line> lines() {
        return lines;
    }

    /** Records a line; returns false, which suppresses it. */
    private boolean record(Object line) throws ReflectiveOperationException {
        Method message = line.getClass().getMethod("getMessage");
        Method thrown = line.getClass().getMethod("getThrown");
        lines.add(new Line((String) message.invoke(line), (Throwable) thrown.invoke(line)));
        return false;
    }

    private void setFilter(Object filter) throws ReflectiveOperationException {
        logger.getClass().getMethod("setFilter", filterClass()).invoke(logger, filter);
    }

    private static Class<?> filterClass() throws ClassNotFoundException {
        return Class.forName("java.util.logging.Filter");
    }

    @Override
    public void close() throws ReflectiveOperationException {
        setFilter(null);
    }
}
