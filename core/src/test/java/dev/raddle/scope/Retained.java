package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.List;

/** Counts objects that are still reachable. */
final class Retained {

    private static final int COLLECTIONS = 50;

    private Retained() {}

    /** Returns the number of reachable referents, after collecting garbage until it is the expected number. */
    static long after(List<? extends WeakReference<?>> references, long expected) {
        long retained = references.size();
        for (int i = 0; i < COLLECTIONS && retained > expected; i++) {
            System.gc();
            retained = references.stream().filter(each -> each.get() != null).count();
        }
        return retained;
    }

    static void awaitCleared(List<? extends WeakReference<?>> references) {
        assertThat(after(references, 0)).as("retained of %s", references.size()).isZero();
    }
}
