package dev.raddle.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Callable;

/** The JDK's scopes, called as if their API were not in preview: handles that are constants cost what a call costs. */
final class JdkScopes {

    private static final MethodHandle JOINER;
    private static final MethodHandle OPEN;
    private static final MethodHandle FORK;
    private static final MethodHandle JOIN;
    private static final MethodHandle CLOSE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> scope = Class.forName("java.util.concurrent.StructuredTaskScope");
            Class<?> joiner = Class.forName("java.util.concurrent.StructuredTaskScope$Joiner");
            JOINER = lookup.unreflect(joiner.getMethod("awaitAllSuccessfulOrThrow"))
                    .asType(MethodType.methodType(Object.class));
            OPEN = lookup.unreflect(scope.getMethod("open", joiner))
                    .asType(MethodType.methodType(Object.class, Object.class));
            FORK = lookup.unreflect(scope.getMethod("fork", Callable.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Callable.class));
            JOIN = lookup.unreflect(scope.getMethod("join")).asType(MethodType.methodType(Object.class, Object.class));
            CLOSE = lookup.unreflect(scope.getMethod("close")).asType(MethodType.methodType(void.class, Object.class));
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private JdkScopes() {}

    /** Opens a scope, forks a task so often, joins, and closes. */
    static void run(Callable<?> task, int times) throws Throwable {
        Object scope = open();
        for (int i = 0; i < times; i++) {
            fork(scope, task);
        }
        join(scope);
        close(scope);
    }

    static Object open() throws Throwable {
        Object joiner = (Object) JOINER.invokeExact();
        return (Object) OPEN.invokeExact(joiner);
    }

    static void fork(Object scope, Callable<?> task) throws Throwable {
        Object _ = (Object) FORK.invokeExact(scope, (Callable) task);
    }

    static void join(Object scope) throws Throwable {
        Object _ = (Object) JOIN.invokeExact(scope);
    }

    static void close(Object scope) throws Throwable {
        CLOSE.invokeExact(scope);
    }
}
