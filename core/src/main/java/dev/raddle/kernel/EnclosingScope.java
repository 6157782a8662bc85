package dev.raddle.kernel;

import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A block of code that tasks belong to and that has an end, as those see it who are inside: a scope. Whatever is begun
 * inside it, through any door, has no more time than it has.
 *
 * <p>A thread is inside an enclosure while it runs one of its tasks, or a task that was submitted from inside; and
 * between {@link #enter} and {@link #leave} in the thread that opened it.
 */
public abstract class EnclosingScope implements TaskContext.Owner {

    /*
     * Overview.
     *
     * Two things say what a thread is inside of. In a task it is the TaskContext in force, which the task's door bound
     * for it. In the thread that opened an enclosure it is a list, kept in a thread-local, of what this thread has
     * opened and not left, the innermost first. An entry of the list counts only while the context says the same as
     * when it was made.
     *
     * A thread that is given a task to run puts its list away until the task has ended. So a task is inside of nothing
     * that its thread happens to have entered, and what a task opened and never left is not seen by the next. Only a
     * virtual thread does not, unless it is lent: to look at a thread-local would cost it more than it has to hide, for
     * nearly every one ends with its one task. One that runs several, in a pool of virtual threads, may show one task
     * what the one before it has opened in the same scope and never closed.
     */

    private static final ThreadLocal<@Nullable EnclosingScope> INNERMOST = new ThreadLocal<>();

    private @Nullable EnclosingScope outer; // what the thread had entered before; owned by the thread that entered
    private @Nullable EnclosingScope within; // what the context said then; owned by the thread that entered

    /** Creates an enclosure that nobody has entered. */
    protected EnclosingScope() {}

    /**
     * Returns when everything inside is cancelled.
     *
     * @return the moment, or null if there is none
     */
    @Override
    public abstract @Nullable Deadline deadline();

    /**
     * Returns what this is called in messages.
     *
     * @return a text such as {@code scope "checkout"}
     */
    @Override
    public abstract String label();

    /**
     * Returns what this is inside of.
     *
     * @return the next enclosure around this one, or null if there is none
     */
    protected @Nullable EnclosingScope around() {
        return null;
    }

    /**
     * Tells whether the calling thread is inside an enclosure, near or far.
     *
     * @param enclosure which
     * @return true if that encloses what the thread does
     */
    public static boolean isInside(EnclosingScope enclosure) {
        for (EnclosingScope each = innermost(); each != null; each = each.around()) {
            if (each == enclosure) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the innermost enclosure of the calling thread.
     *
     * @return what the thread is inside of, or null
     */
    public static @Nullable EnclosingScope innermost() {
        EnclosingScope entered = entered();
        return entered != null ? entered : ofTask();
    }

    /**
     * Returns the innermost enclosure that the calling thread has entered itself. Its scoped values do not say so: who
     * starts a thread that inherits them has to put it into the {@linkplain TaskContext#within context} there.
     *
     * @return what the thread is inside of, or null if it has entered nothing since its task began
     */
    public static @Nullable EnclosingScope entered() {
        EnclosingScope entered = INNERMOST.get();
        return entered != null && entered.within == ofTask() ? entered : null;
    }

    /**
     * Returns the enclosure of the task that the calling thread runs.
     *
     * @return what the task is inside of, or null
     */
    protected static @Nullable EnclosingScope ofTask() {
        return of(TaskContext.current());
    }

    private static @Nullable EnclosingScope of(TaskContext context) {
        return context.owner() instanceof EnclosingScope scope ? scope : null;
    }

    /**
     * Returns what an enclosure is inside of.
     *
     * @param inner any enclosure
     * @return the next enclosure around it, or null if there is none
     */
    protected static @Nullable EnclosingScope enclosureOf(EnclosingScope inner) {
        return inner.around();
    }

    /**
     * Returns the enclosure that the calling thread is nested in: the innermost that it has entered, or else that of
     * its task, if the enclosure waits for that task.
     *
     * @return the enclosure, which ends after whatever the thread opens now; null if there is none
     */
    protected static @Nullable EnclosingScope nest() {
        EnclosingScope entered = entered();
        if (entered != null) {
            return entered;
        }
        TaskContext context = TaskContext.current();
        return context.isMember() ? of(context) : null;
    }

    /**
     * Returns the enclosure that the calling thread has entered last, if it has entered this one before and left
     * neither.
     *
     * @return another enclosure, or null if there is none inside this one
     */
    protected final @Nullable EnclosingScope enteredSince() {
        EnclosingScope last = INNERMOST.get();
        for (EnclosingScope entered = last; entered != null; entered = entered.outer) {
            if (entered == this) {
                return last == this ? null : last;
            }
        }
        return null;
    }

    /** Notes that the calling thread is inside this, from now until it {@linkplain #leave leaves}. */
    protected final void enter() {
        outer = INNERMOST.get();
        within = ofTask();
        INNERMOST.set(this);
    }

    /** Notes that the calling thread, which entered this, is out of it, and of whatever it entered since. */
    protected final void leave() {
        for (EnclosingScope entered = INNERMOST.get(); entered != null; entered = entered.outer) {
            if (entered == this) {
                resume(outer);
                return;
            }
        }
    }

    /** Puts away what the calling thread has entered, and returns it. */
    static @Nullable EnclosingScope suspend() {
        EnclosingScope entered = INNERMOST.get();
        forget();
        return entered;
    }

    /** Forgets what the calling thread has entered. */
    static void forget() {
        INNERMOST.remove();
    }

    /** Brings back what was put away, instead of what the calling thread has entered since. */
    static void resume(@Nullable EnclosingScope innermost) {
        if (innermost == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(innermost);
        }
    }
}
