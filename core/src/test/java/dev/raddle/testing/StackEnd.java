package dev.raddle.testing;

/**
 * Calls an action in the last frames of a stack. For one call. The build excludes the recursion from compilation: a
 * compiled one leaves the end of the stack by many frames at once.
 */
public final class StackEnd {

    /** What is called, with 0 in the deepest frame, 1 in the next one, and so on. */
    public interface Action {
        void call(int number) throws Exception;
    }

    private final int calls;
    private final Action action;
    private int call = -1; // 0 from the end of the stack on

    private StackEnd(int calls, Action action) {
        this.calls = calls;
        this.action = action;
    }

    /**
     * Recurses to the end of the calling thread's stack, and calls the action in the last frames on the way back, the
     * deepest one first. Returns how often the stack was too short for the action.
     */
    public static int call(int calls, Action action) throws Exception {
        var _ = new Throwable().getStackTrace(); // initializes classes that an overflow would leave unusable
        return new StackEnd(calls, action).dive();
    }

    @SuppressWarnings("InfiniteRecursion") // ends by StackOverflowError
    private int dive() throws Exception {
        int overflows = 0;
        try {
            overflows = dive();
        } catch (StackOverflowError end) {
            call = Math.max(call, 0);
        }
        if (call < calls) {
            try {
                action.call(call);
            } catch (StackOverflowError end) {
                overflows++;
            }
            call++;
        }
        return overflows;
    }
}
