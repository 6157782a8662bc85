package dev.raddle.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/**
 * What is written to the log {@code dev.raddle} while this is open, and then goes nowhere else. It looks on as the filter of
 * the logger of {@code java.util.logging} behind it, by reflection: the module under test does not read that one.
 */
public final class WrittenLog implements AutoCloseable {

    public record Line(String message, Throwable thrown) {}

    private final List<Line> lines = new ArrayList<>();
    private final Object logger;

    public WrittenLog() throws ReflectiveOperationException {
        logger = Class.forName("java.util.logging.Logger")
                .getMethod("getLogger", String.class)
                .invoke(null, "dev.raddle");
        InvocationHandler hears = (proxy, method, arguments) -> note(arguments[0]);
        setFilter(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {filterClass()}, hears));
    }

    public List<Line> lines() {
        return lines;
    }

    /** Notes a line and says that nobody else is to have it. */
    private boolean note(Object line) throws ReflectiveOperationException {
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
