package dev.raddle.cli.run;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Makes this process one that does not ignore SIGINT, for as long as a test needs that. A process that was started in the
 * background of a script ignores it, and a JVM never handles a signal that it was told to ignore.
 */
@SuppressWarnings("restricted")
final class HeardSignal implements AutoCloseable {
    private static final int SIGINT = 2;
    private static final MemorySegment DEFAULT = MemorySegment.NULL;

    private final MethodHandle signal;
    private final MemorySegment before;

    HeardSignal() throws Throwable {
        Linker linker = Linker.nativeLinker();
        signal = linker.downcallHandle(
                linker.defaultLookup().find("signal").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        before = set(DEFAULT);
        boolean ignored = before.address() == 1;
        if (!ignored) {
            set(before); // that of the JVM, which must stay its own
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
