package dev.raddle.checks;

/**
 * A limit that one thread changes, and the largest value that it may have had since a given time.
 *
 * <p>A change takes effect at some time between the call of the method that makes it and its return, so during that
 * time both the old and the new limit are possible. Of the tasks that run at one time, the last to be granted was
 * granted within the limit at that time, which is not before the submission of any of them. So there are never more
 * tasks than the largest value that the limit may have had since the submission of any one of them.
 */
final class SoakBound {

    private static final class Span {
        final int limit;
        final Span older;
        volatile long until = Long.MAX_VALUE; // written when the next limit is certainly in force

        Span(int limit, Span older) {
            this.limit = limit;
            this.older = older;
        }
    }

    private volatile Span newest;

    SoakBound(int limit) {
        newest = new Span(limit, null);
    }

    void change(int limit, Runnable change) {
        Span before = newest;
        newest = new Span(limit, before);
        change.run();
        before.until = System.nanoTime();
    }

    int mostSince(long nanos) {
        int most = 0;
        for (Span span = newest; span != null && span.until - nanos >= 0; span = span.older) {
            most = Math.max(most, span.limit);
        }
        return most;
    }
}
