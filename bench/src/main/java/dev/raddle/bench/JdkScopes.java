package dev.raddle.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Callable;

/**
 * The JDK's scopes, called through method handles because their API is in preview. Constant handles cost as much as
 * calls.
 */
public final class JdkScopes {

    private static final MethodHandle JOINER;
    private static final MethodHandle OPEN;
    private static final MethodHandle FORK;
    private static final MethodHandle JOIN;
    private static final MethodHandle GET;
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
            GET = lookup.unreflect(Class.forName("java.util.concurrent.StructuredTaskScope$Subtask")
                            .getMethod("get"))
                    .asType(MethodType.methodType(Object.class, Object.class));
            CLOSE = lookup.unreflect(scope.getMethod("close")).asType(MethodType.methodType(void.class, Object.class));
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private JdkScopes() {}

    /** Opens a scope, forks a task the given number of times, joins, and closes. */
    static void run(Callable<?> task, int times) throws Throwable {
        Object scope = open();
        for (int i = 0; i < times; i++) {
            Object _ = fork(scope, task);
        }
        join(scope);
        close(scope);
    }

    /**
     * Opens a scope that fails if any subtask fails.
     *
     * @return the scope
     * @throws Throwable if the JVM runs without preview features
     */
    public static Object open() throws Throwable {
        Object joiner = (Object) JOINER.invokeExact();
        return (Object) OPEN.invokeExact(joiner);
    }

    /**
     * Forks a subtask.
     *
     * @param scope the scope
     * @param task the task of the subtask
     * @return the subtask
     * @throws Throwable if the scope throws it
     */
    public static Object fork(Object scope, Callable<?> task) throws Throwable {
        return (Object) FORK.invokeExact(scope, (Callable) task);
    }

    /**
     * Waits for all subtasks.
     *
     * @param scope the scope
     * @throws Throwable if a subtask failed, or the scope throws it
     */
    public static void join(Object scope) throws Throwable {
        Object _ = (Object) JOIN.invokeExact(scope);
    }

    /**
     * Returns the result of a subtask.
     *
     * @param subtask the subtask
     * @return its result
     * @throws Throwable if the subtask throws it
     */
    public static Object get(Object subtask) throws Throwable {
        return (Object) GET.invokeExact(subtask);
    }

    /**
     * Closes a scope.
     *
     * @param scope the scope
     * @throws Throwable if the scope throws it
     */
    public static void close(Object scope) throws Throwable {
        CLOSE.invokeExact(scope);
    }
}
