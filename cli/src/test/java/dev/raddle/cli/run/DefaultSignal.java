package dev.raddle.cli.run;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Makes this process handle SIGINT for the duration of a test. A process that was started in the background of a script
 * ignores it, and a JVM never handles a signal that was ignored at its start.
 */
@SuppressWarnings("restricted")
final class DefaultSignal implements AutoCloseable {
    private static final int SIGINT = 2;
    private static final MemorySegment DEFAULT = MemorySegment.NULL;

    private final MethodHandle signal;
    private final MemorySegment before;

    DefaultSignal() throws Throwable {
        Linker linker = Linker.nativeLinker();
        signal = linker.downcallHandle(
                linker.defaultLookup().find("signal").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        before = set(DEFAULT);
        boolean ignored = before.address() == 1;
        if (!ignored) {
            set(before); // the JVM's own handler, which must not be replaced
        }
    }

    private MemorySegment set(MemorySegment handler) throws Throwable {
        return (MemorySegment) signal.invokeExact(SIGINT, handler);
    }

    @Override
    public void close() throws Exception {
        try {
            set(before);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
