package dev.raddle.kernel;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The values of immutable options, of which each setter makes a changed copy. The fields of a subclass are changed only
 * inside {@link #with}; options hold their draft in a final field, so each thread sees it complete. Collections in it
 * are never changed, since a copy is shallow.
 *
 * @param <D> the subclass
 */
public abstract class Draft<D extends Draft<D>> implements Cloneable {

    /** Sets each field to its default. */
    protected Draft() {}

    /**
     * Returns a changed copy.
     *
     * @param change sets fields of the copy
     * @return the copy
     */
    @SuppressWarnings("unchecked")
    public final D with(Consumer<? super D> change) {
        try {
            D changed = (D) clone();
            change.accept(changed);
            return changed;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /**
     * Returns a list with one more element.
     *
     * @param <X> the type of the elements
     * @param all the elements so far
     * @param one the element to add
     * @param name the name of the element, for the exception
     * @return an unmodifiable list
     * @throws NullPointerException if the element is null
     */
    public static <X> List<X> added(List<X> all, X one, String name) {
        Objects.requireNonNull(one, name);
        return Stream.concat(all.stream(), Stream.of(one)).toList();
    }
}
