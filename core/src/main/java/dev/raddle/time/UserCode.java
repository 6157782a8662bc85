package dev.raddle.time;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Guards calls to user code whose exceptions must not affect Raddle: log handlers, uncaught exception handlers, and
 * {@code toString} of objects that appear in messages. No method throws, whatever the user code throws, so a task
 * settles and its permit is released even if all of these are broken.
 *
 * <p>Exceptions of listeners, propagators and other callbacks go to an {@link dev.raddle.task.ExceptionSink}, which
 * uses this class.
 */
public final class UserCode {

    private static final int MOST_SUPPRESSED = 16;
    private static final int MOST_VISITED = 1_000; // of the exceptions below one that is to be added

    private static final int MOST_REPEATED = 100; // providers in a row that fail with the same text

    private UserCode() {}

    /**
     * Adds a suppressed exception to an exception that user code may keep and throw again, such as a constant. Does
     * nothing if the exception has 16 suppressed ones, or has this one, or is this one or below it: a constant must
     * neither grow with its uses nor contain itself.
     *
     * @param to the exception to add to
     * @param suppressed the exception to add
     */
    public static void addSuppressed(Throwable to, Throwable suppressed) {
        try {
            if (to.getSuppressed().length < MOST_SUPPRESSED && !leadsTo(suppressed, to)) {
                addIfNew(to, suppressed);
            }
        } catch (Throwable ignored) {
            // to is about to be thrown or reported, which matters more
        }
    }

    private static void addIfNew(Throwable to, Throwable suppressed) {
        synchronized (to) { // as its own methods are: no other thread adds between the check and the addition
            Throwable[] known = to.getSuppressed();
            boolean isNew = known.length < MOST_SUPPRESSED;
            for (Throwable each : known) {
                isNew &= each != suppressed;
            }
            if (isNew) {
                to.addSuppressed(suppressed);
            }
        }
    }

    /** Returns whether an exception is another one, or has it as a cause or a suppressed exception at any depth. */
    private static boolean leadsTo(Throwable from, Throwable target) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>(List.of(from));
        while (!open.isEmpty() && seen.size() < MOST_VISITED) {
            Throwable next = open.pop();
            if (next == target) {
                return true;
            }
            if (seen.add(next)) {
                open.addAll(List.of(next.getSuppressed()));
                Throwable cause = causeOf(next);
                if (cause != null) {
                    open.add(cause);
                }
            }
        }
        return !open.isEmpty();
    }

    private static @Nullable Throwable causeOf(Throwable exception) {
        try {
            return exception.getCause();
        } catch (Throwable failure) {
            return null; // a subclass that computes its cause
        }
    }

    /**
     * Returns the text of an object for a message.
     *
     * @param object any object
     * @return its {@code toString()}; if that throws, the names of its class and of the exception's class
     */
    public static String textOf(@Nullable Object object) {
        try {
            return String.valueOf(object);
        } catch (Throwable failure) {
            return Objects.requireNonNull(object).getClass().getName() + " (its toString() threw "
                    + failure.getClass().getName() + ")";
        }
    }

    /**
     * Returns a name for a task: its own name if it has one, otherwise that of its class, or of the enclosing class of
     * a lambda.
     *
     * @param name the supplier of the task's own name, or null if it has none
     * @param task the task
     * @return the name to display
     */
    public static String nameOf(@Nullable Supplier<String> name, Object task) {
        if (name != null) {
            try {
                return Objects.requireNonNull(name.get());
            } catch (Throwable failure) {
                uncaught(failure);
            }
        }
        String type = task.getClass().getName();
        int lambda = type.indexOf("$$Lambda");
        return lambda < 0 ? type : "lambda in " + type.substring(0, lambda);
    }

    /**
     * Loads services, each by itself: one whose class cannot be loaded or created, and a malformed line of a
     * configuration file, do not affect the others.
     *
     * @param <S> the type of the service
     * @param loader the loader of the services
     * @param failed the receiver of a description and the failure of each provider that is left out
     * @return the services that could be created, in the order of the loader
     */
    public static <S> List<S> services(ServiceLoader<S> loader, BiConsumer<String, Throwable> failed) {
        List<S> created = new ArrayList<>();
        Iterator<S> providers = loader.iterator();
        String lastFailure = "";
        int repeated = 0;
        while (true) {
            try {
                if (!providers.hasNext()) {
                    return List.copyOf(created);
                }
                created.add(providers.next());
            } catch (Throwable failure) {
                String text = textOf(failure);
                if (!text.equals(lastFailure)) {
                    repeated = 0;
                    lastFailure = text;
                    failed.accept("a provider of " + loader + ", which is left out", failure);
                } else if (++repeated == MOST_REPEATED) {
                    return List.copyOf(created); // the loader does not go on
                }
            }
        }
    }

    /**
     * Calls user code whose exceptions have no effect and belong to no {@link dev.raddle.task.ExceptionSink}, in the
     * calling thread. Whatever it throws goes to the {@linkplain #uncaught uncaught exception handler}.
     *
     * @param userCode the code
     */
    public static void run(Runnable userCode) {
        try {
            userCode.run();
        } catch (Throwable failure) {
            uncaught(failure);
        }
    }

    /**
     * Passes an exception to the uncaught exception handler of the calling thread. An exception from the handler is
     * ignored, as the JVM ignores it.
     *
     * @param failure the exception
     * @see <a href="https://docs.oracle.com/javase/specs/jls/se25/html/jls-11.html#jls-11.3">JLS 11.3</a>
     */
    public static void uncaught(Throwable failure) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable ignored) {
            // the handler is the last resort
        }
    }

    /**
     * Writes a warning to a {@link System.Logger}. If the logger throws, its exception goes to the {@linkplain
     * #uncaught uncaught exception handler}, with the given error as a suppressed exception.
     *
     * @param logger the name of the logger
     * @param message the text
     * @param error the exception to write, or null
     */
    public static void warn(String logger, String message, @Nullable Throwable error) {
        try {
            System.getLogger(logger).log(System.Logger.Level.WARNING, message, error);
        } catch (Throwable failure) {
            if (error != null) {
                addSuppressed(failure, error);
            }
            uncaught(failure);
        }
    }
}
