package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.List;

/** Finds out what is retained. */
final class Retained {

    private static final int COLLECTIONS = 50;

    private Retained() {}

    /** Returns how many of the referents are there after as many collections as it takes to reach a number. */
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
