package dev.raddle.scope;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One scope of the JDK's own, used only as a container of threads. That API is a preview API: it is in every JDK from
 * 25 on, but a class that refers to it needs a flag to be compiled and run. Method handles do not. This is also the
 * function that configures the JDK scope: the class of a lambda would be generated at run time. A subclass creates the
 * threads.
 */
abstract class JdkScope implements UnaryOperator<Object>, ThreadFactory {

    /**
     * The methods of the JDK's API, looked up once. They fit JDK 25, whose configuration is a Function, and later ones.
     */
    private record Api(
            MethodHandle joiner,
            MethodHandle open,
            MethodHandle withName,
            MethodHandle withThreadFactory,
            MethodHandle fork,
            MethodHandle join,
            MethodHandle close) {

        private static final MethodHandle NO_METHOD = MethodHandles.empty(MethodType.methodType(void.class));
        static final Api NONE = new Api(NO_METHOD, NO_METHOD, NO_METHOD, NO_METHOD, NO_METHOD, NO_METHOD, NO_METHOD);

        static Api find() throws ReflectiveOperationException {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> scope = Class.forName(NAME);
            Class<?> joiner = Class.forName(NAME + "$Joiner");
            Class<?> configuration = Class.forName(NAME + "$Configuration");
            return new Api(
                    lookup.unreflect(joiner.getMethod("awaitAllSuccessfulOrThrow"))
                            .asType(MethodType.methodType(Object.class)),
                    open(lookup, scope, joiner)
                            .asType(MethodType.methodType(Object.class, Object.class, UnaryOperator.class)),
                    lookup.unreflect(configuration.getMethod("withName", String.class))
                            .asType(MethodType.methodType(Object.class, Object.class, String.class)),
                    lookup.unreflect(configuration.getMethod("withThreadFactory", ThreadFactory.class))
                            .asType(MethodType.methodType(Object.class, Object.class, ThreadFactory.class)),
                    lookup.unreflect(scope.getMethod("fork", Callable.class))
                            .asType(MethodType.methodType(Object.class, Object.class, Callable.class)),
                    lookup.unreflect(scope.getMethod("join")).asType(MethodType.methodType(Object.class, Object.class)),
                    lookup.unreflect(scope.getMethod("close")).asType(MethodType.methodType(void.class, Object.class)));
        }

        private static MethodHandle open(MethodHandles.Lookup lookup, Class<?> scope, Class<?> joiner)
                throws ReflectiveOperationException {
            try {
                return lookup.unreflect(scope.getMethod("open", joiner, UnaryOperator.class));
            } catch (NoSuchMethodException jdk25) {
                return lookup.unreflect(scope.getMethod("open", joiner, Function.class));
            }
        }
    }

    private static final String NAME = "java.util.concurrent.StructuredTaskScope";
    private static final String VIOLATION = "java.util.concurrent.StructureViolationException";

    /**
     * Whether this JDK unparks the owner of a scope when the scope has become empty. That is not specified. It holds
     * for JDK 25 and is not assumed for later ones.
     */
    static final boolean WAKES_OWNER = Runtime.version().feature() == 25;

    static final @Nullable String UNAVAILABLE_REASON; // why the API is unavailable, or null
    private static final Api API; // its components are constants for the compiler, as a record's are

    static {
        Api api = Api.NONE;
        String reason = null;
        if ("fallback".equals(System.getProperty("dev.raddle.scope.container"))) {
            reason = "forced by the system property dev.raddle.scope.container";
        } else {
            try {
                api = Api.find();
            } catch (ReflectiveOperationException | RuntimeException | LinkageError missing) {
                reason = "this JDK has none that fits: " + missing;
            }
        }
        UNAVAILABLE_REASON = reason;
        API = api;
    }

    private @Nullable Object opened;

    /** Returns the name of the JDK scope. */
    abstract String scopeName();

    /** Opens the JDK scope. Called once, by the owner, before every other method. */
    final void open() {
        try {
            opened = (Object) API.open.invokeExact((Object) API.joiner.invokeExact(), (UnaryOperator) this);
        } catch (Throwable thrown) {
            throw unchecked(thrown);
        }
    }

    /** Configures the JDK scope. Called by {@link #open}. */
    @Override
    public final Object apply(Object configuration) {
        try {
            Object named = (Object) API.withName.invokeExact(configuration, scopeName());
            return (Object) API.withThreadFactory.invokeExact(named, (ThreadFactory) this);
        } catch (Throwable thrown) {
            throw unchecked(thrown);
        }
    }

    /** Creates and starts a thread. If this scope was closed from outside, does not start it. Called by the owner. */
    final void fork(Callable<?> task) {
        try {
            Object _ = (Object) API.fork.invokeExact(opened, (Callable) task);
        } catch (Throwable thrown) {
            throw unchecked(thrown);
        }
    }

    /**
     * Waits for the threads to terminate and closes the scope. Closing without a join would interrupt them and throw.
     *
     * @return whether the owner was interrupted meanwhile
     */
    final boolean joinAndClose() {
        boolean interrupted = false;
        boolean joined = false;
        try {
            Object _ = (Object) API.join.invokeExact(opened);
            joined = true;
        } catch (InterruptedException interrupt) {
            interrupted = true;
        } catch (Throwable thrown) {
            throw unchecked(thrown);
        } finally {
            close(joined);
        }
        return interrupted;
    }

    private void close(boolean joined) {
        try {
            API.close.invokeExact(opened);
        } catch (IllegalStateException notJoined) {
            if (joined) {
                throw notJoined;
            }
        } catch (Throwable thrown) {
            throw unchecked(thrown);
        }
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown.getClass().getName().equals(VIOLATION)) {
            return new StructureViolationException(
                    "a scope forks and closes under the scoped values with which it was opened, and closes after those"
                            + " opened in it: " + thrown.getMessage(),
                    thrown);
        }
        return switch (thrown) {
            case Error error -> throw error;
            case RuntimeException runtime -> runtime;
            default -> new IllegalStateException("the JDK's scope threw what it does not declare", thrown);
        };
    }
}
