package dev.raddle.console;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a console watches of one kind, by name. It holds weak references, and forgets what is over.
 *
 * @param <T> the type of a subject
 */
final class Watched<T> {

    private static final int FIRST_SWEEP = 16;

    private final Predicate<T> isOver;
    private final Map<String, WeakReference<T>> byName = new TreeMap<>(); // guarded by this
    private int nextSweep = FIRST_SWEEP; // guarded by this

    Watched(Predicate<T> isOver) {
        this.isOver = isOver;
    }

    /** Adds a subject, which replaces one of the same name. */
    synchronized Console.Watch add(String name, T subject) {
        WeakReference<T> added = new WeakReference<>(subject);
        byName.put(name, added);
        if (byName.size() >= nextSweep) {
            sweep();
            nextSweep = Math.max(FIRST_SWEEP, 2 * byName.size());
        }
        return () -> remove(name, added);
    }

    private synchronized void remove(String name, WeakReference<T> added) {
        byName.remove(name, added);
    }

    private void sweep() {
        byName.values().removeIf(reference -> {
            T subject = reference.get();
            return subject == null || isOver.test(subject);
        });
    }

    @Nullable
    T get(String name) {
        return all().get(name);
    }

    /** Returns the subjects that are not over, by name. */
    synchronized Map<String, T> all() {
        sweep();
        Map<String, T> all = new TreeMap<>();
        byName.forEach((name, reference) -> {
            T subject = reference.get();
            if (subject != null) {
                all.put(name, subject);
            }
        });
        return all;
    }
}
