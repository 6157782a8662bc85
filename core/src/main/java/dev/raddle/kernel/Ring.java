package dev.raddle.kernel;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Operations on circular lists of permits. A list is referenced by its last member, whose {@code next} is the first.
 */
final class Ring {

    private static final String UNLINKED = "a permit that waits or is held is in a list";

    private Ring() {}

    static Permit first(Permit last) {
        return Objects.requireNonNull(last.next, UNLINKED);
    }

    /** Appends a permit; returns the new last member, which is the permit. */
    static Permit append(@Nullable Permit last, Permit permit) {
        if (last == null) {
            permit.previous = permit;
            permit.next = permit;
        } else {
            Permit first = first(last);
            permit.previous = last;
            permit.next = first;
            last.next = permit;
            first.previous = permit;
        }
        return permit;
    }

    /** Removes a member; returns the last member of the rest, or null if none is left. */
    static @Nullable Permit unlink(@Nullable Permit last, Permit permit) {
        Permit before = Objects.requireNonNull(permit.previous, UNLINKED);
        Permit after = Objects.requireNonNull(permit.next, UNLINKED);
        permit.previous = null;
        permit.next = null;
        if (before == permit) {
            return null;
        }
        before.next = after;
        after.previous = before;
        return last == permit ? before : last;
    }

    static void forEach(@Nullable Permit last, Consumer<Permit> action) {
        any(last, permit -> {
            action.accept(permit);
            return false;
        });
    }

    /** Adds the members to a list. */
    static void addTo(List<Permit> list, @Nullable Permit last) {
        Permit permit = null;
        while (permit != last) {
            Permit before = permit == null ? Objects.requireNonNull(last) : permit;
            permit = Objects.requireNonNull(before.next, UNLINKED);
            list.add(permit);
        }
    }

    static boolean any(@Nullable Permit last, Predicate<Permit> property) {
        return firstWith(last, property) != null;
    }

    /** Returns the first member with a property, or null if there is none. */
    static @Nullable Permit firstWith(@Nullable Permit last, Predicate<Permit> property) {
        if (last == null) {
            return null;
        }
        for (Permit permit = first(last); ; permit = Objects.requireNonNull(permit.next, UNLINKED)) {
            if (property.test(permit)) {
                return permit;
            }
            if (permit == last) {
                return null;
            }
        }
    }

    /** Returns the number of members before a member. */
    static int before(Permit last, Permit permit) {
        int count = 0;
        for (Permit other = first(last); other != permit; other = Objects.requireNonNull(other.next, UNLINKED)) {
            count++;
        }
        return count;
    }
}
