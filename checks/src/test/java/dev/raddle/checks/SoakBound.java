package dev.raddle.checks;

/**
 * A limit that one thread changes, and the most that it may have been since a moment.
 *
 * <p>A change is in force at some moment between the call of what brings it about and its return, so during that time the old
 * limit and the new one both count. Of the tasks that execute at an instant, the one that was granted last was granted within
 * the limit of that moment, which is not before any of them was submitted. So there are never more than the most that the
 * limit may have been since the submission of any one of them.
 */
final class SoakBound {

    private static final class Span {
        final int limit;
        final Span older;
        volatile long until = Long.MAX_VALUE; // written when the next limit is surely in force

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
