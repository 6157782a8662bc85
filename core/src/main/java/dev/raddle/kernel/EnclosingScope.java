package dev.raddle.kernel;

import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A scope or a run of a flow, as the owner of everything that is submitted inside it. Its deadline bounds all of that,
 * whatever API it is submitted through.
 *
 * <p>A thread is inside while it runs a task of the scope, or a task that was submitted inside; and, in the thread that
 * opened the scope, between {@link #enter} and {@link #leave}.
 */
public abstract class EnclosingScope implements TaskContext.Owner {

    /*
     * Overview.
     *
     * The scope of a thread is found in two places. In a task it is the owner of the TaskContext in force, which was
     * bound for the task. In a thread that has opened scopes it is a list in a thread-local: the scopes that this
     * thread has entered and not left, the innermost first. An entry of the list counts only while the context's owner
     * is the same as when the scope was entered.
     *
     * A thread removes its list before it runs a task and restores it afterwards. So a task is not inside the scopes
     * that its thread happens to have entered, and scopes that a task opened and never left are not seen by the next
     * task. Virtual threads that belong to one task skip this, because access to a thread-local would cost more than it
     * protects: nearly all of them end with their task. In a pool of virtual threads, a task may see a scope that the
     * task before it, in the same scope, has opened and never closed.
     */

    private static final ThreadLocal<@Nullable EnclosingScope> INNERMOST = new ThreadLocal<>();

    private @Nullable EnclosingScope outer; // the scope entered before; confined to the thread that entered
    private @Nullable EnclosingScope within; // the context's owner then; confined to the thread that entered

    /** Creates a scope that no thread has entered. */
    protected EnclosingScope() {}

    /**
     * Returns the deadline at which everything inside is cancelled.
     *
     * @return the deadline, or null if there is none
     */
    @Override
    public abstract @Nullable Deadline deadline();

    /**
     * Returns the name of this scope for messages.
     *
     * @return a text such as {@code scope "checkout"}
     */
    @Override
    public abstract String label();

    /**
     * Returns the scope around this one.
     *
     * @return the next outer scope, or null if there is none
     */
    public @Nullable EnclosingScope enclosing() {
        return null;
    }

    /**
     * Returns whether the calling thread is inside a scope, directly or in a nested one.
     *
     * @param enclosure the scope
     * @return true if it is the innermost scope of the calling thread, or around that
     */
    public static boolean isInside(EnclosingScope enclosure) {
        for (EnclosingScope each = innermost(); each != null; each = each.enclosing()) {
            if (each == enclosure) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the innermost scope of the calling thread.
     *
     * @return the scope, or null
     */
    public static @Nullable EnclosingScope innermost() {
        return innermost(TaskContext.current());
    }

    /**
     * Returns the innermost scope of the calling thread, whose current context is known.
     *
     * @param context the current context of the calling thread
     * @return the scope, or null
     */
    public static @Nullable EnclosingScope innermost(TaskContext context) {
        EnclosingScope ofTask = context.owner() instanceof EnclosingScope scope ? scope : null;
        EnclosingScope entered = INNERMOST.get();
        return entered != null && entered.within == ofTask ? entered : ofTask;
    }

    /**
     * Returns the innermost scope that the calling thread itself has entered. It is not part of the thread's scoped
     * values: code that starts a thread which inherits these must add it to the {@linkplain TaskContext#within context}
     * there.
     *
     * @return the scope, or null if the thread has entered none since its task began
     */
    public static @Nullable EnclosingScope entered() {
        EnclosingScope entered = INNERMOST.get();
        return entered != null && entered.within == ofTask() ? entered : null;
    }

    /**
     * Returns the scope of the task that the calling thread runs.
     *
     * @return the scope, or null
     */
    public static @Nullable EnclosingScope ofTask() {
        return TaskContext.current().owner() instanceof EnclosingScope scope ? scope : null;
    }

    /**
     * Returns the scope in which the calling thread is nested: the innermost scope that it has entered, or else the
     * scope of its task, if that waits for the task.
     *
     * @return the scope, which ends after everything that the thread opens now, or null if there is none
     */
    protected static @Nullable EnclosingScope nest() {
        EnclosingScope entered = entered();
        if (entered != null) {
            return entered;
        }
        return TaskContext.current().isMember() ? ofTask() : null;
    }

    /**
     * Returns the scope that the calling thread has entered last, if that is inside this one.
     *
     * @return another scope, or null if there is none inside this one
     */
    public final @Nullable EnclosingScope enteredSince() {
        EnclosingScope last = INNERMOST.get();
        for (EnclosingScope entered = last; entered != null; entered = entered.outer) {
            if (entered == this) {
                return last == this ? null : last;
            }
        }
        return null;
    }

    /** Enters this scope in the calling thread, until that {@linkplain #leave leaves}. */
    protected final void enter() {
        outer = INNERMOST.get();
        within = ofTask();
        INNERMOST.set(this);
    }

    /** Leaves this scope, and all that the calling thread has entered since. */
    protected final void leave() {
        for (EnclosingScope entered = INNERMOST.get(); entered != null; entered = entered.outer) {
            if (entered == this) {
                INNERMOST.set(outer); // also null: the thread may soon enter another
                return;
            }
        }
    }

    /** Removes the list of the calling thread and returns it. */
    static @Nullable EnclosingScope suspend() {
        EnclosingScope entered = INNERMOST.get();
        forget();
        return entered;
    }

    /** Removes the list of the calling thread. */
    static void forget() {
        INNERMOST.remove();
    }

    /** Restores a list that was removed, in place of the current one. */
    static void resume(@Nullable EnclosingScope innermost) {
        if (innermost == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(innermost);
        }
    }
}
