package dev.raddle.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The scopes of Jox, called through constant method handles: Jox is compiled against a preview of JDK 25, so code that
 * names its classes would need a compiler flag. The JVM that runs this needs {@link Jvm#PREVIEW}.
 */
final class JoxScopes {

    private static final Class<?> BODY;
    private static final MethodHandle SUPERVISED;
    private static final MethodHandle FORK;
    private static final MethodHandle JOIN;
    private static final MethodHandle RUN_ALL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            Class<?> scope = Class.forName("com.softwaremill.jox.structured.Scope");
            Class<?> fork = Class.forName("com.softwaremill.jox.structured.Fork");
            Class<?> scopes = Class.forName("com.softwaremill.jox.structured.Scopes");
            BODY = Class.forName("com.softwaremill.jox.structured.Scoped");
            SUPERVISED = lookup.unreflect(scopes.getMethod("supervised", BODY))
                    .asType(MethodType.methodType(Object.class, Object.class));
            FORK = lookup.unreflect(scope.getMethod("fork", Callable.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Callable.class));
            JOIN = lookup.unreflect(fork.getMethod("join")).asType(MethodType.methodType(Object.class, Object.class));
            RUN_ALL = lookup.findStatic(
                    JoxScopes.class,
                    "runAll",
                    MethodType.methodType(Object.class, Callable.class, int.class, Object.class));
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private JoxScopes() {}

    /** Returns the argument of {@link #run}: a body that forks a task the given number of times and joins each fork. */
    static Object body(Callable<?> task, int times) {
        return MethodHandleProxies.asInterfaceInstance(BODY, MethodHandles.insertArguments(RUN_ALL, 0, task, times));
    }

    static void run(Object body) throws Throwable {
        Object _ = (Object) SUPERVISED.invokeExact(body);
    }

    static Object runAll(Callable<?> task, int times, Object scope) throws Throwable {
        List<Object> forks = new ArrayList<>(times);
        for (int i = 0; i < times; i++) {
            forks.add((Object) FORK.invokeExact(scope, (Callable) task));
        }
        for (Object fork : forks) {
            Object _ = (Object) JOIN.invokeExact(fork);
        }
        return forks;
    }
}
