package dev.raddle.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Callable;

/**
 * The JDK's own scope, called directly. Its interface is a preview of JDK 25, for which the compiler would want a flag; a
 * constant method handle is compiled into the same call.
 */
final class JdkScope {

    private static final MethodHandle OPEN;
    private static final MethodHandle FORK;
    private static final MethodHandle JOIN;
    private static final MethodHandle CLOSE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
            Class<?> joiner = Class.forName("java.util.concurrent.StructuredTaskScope$Joiner");
            Class<?> subtask = Class.forName("java.util.concurrent.StructuredTaskScope$Subtask");
            MethodHandle policy = lookup.findStatic(joiner, "awaitAllSuccessfulOrThrow", MethodType.methodType(joiner));
            MethodHandle open = lookup.findStatic(type, "open", MethodType.methodType(type, joiner));
            OPEN = MethodHandles.filterReturnValue(policy, open).asType(MethodType.methodType(Object.class));
            FORK = lookup.findVirtual(type, "fork", MethodType.methodType(subtask, Callable.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Callable.class));
            JOIN = lookup.findVirtual(type, "join", MethodType.methodType(Object.class))
                    .asType(MethodType.methodType(Object.class, Object.class));
            CLOSE = lookup.findVirtual(type, "close", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Object.class));
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private JdkScope() {}

    /** Opens a scope, forks a task so often, joins, and closes. */
    static void run(Callable<?> task, int times) throws Throwable {
        Object scope = (Object) OPEN.invokeExact();
        try {
            for (int i = 0; i < times; i++) {
                Object subtask = (Object) FORK.invokeExact(scope, (Callable<?>) task);
                assert subtask != null;
            }
            Object result = (Object) JOIN.invokeExact(scope);
            assert result == null;
        } finally {
            CLOSE.invokeExact(scope);
        }
    }
}
