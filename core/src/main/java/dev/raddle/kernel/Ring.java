package dev.raddle.kernel;

import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Operations on circular lists of permits. A list is referenced by its last member, whose {@code next} is the first.
 */
final class Ring {

    private Ring() {}

    static Permit first(Permit last) {
        return linked(last.next);
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
        Permit before = linked(permit.previous);
        Permit after = linked(permit.next);
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

    static boolean any(@Nullable Permit last, Predicate<Permit> property) {
        if (last == null) {
            return false;
        }
        for (Permit permit = first(last); ; permit = linked(permit.next)) {
            if (property.test(permit)) {
                return true;
            }
            if (permit == last) {
                return false;
            }
        }
    }

    /** Returns the number of members before a member. */
    static int before(Permit last, Permit permit) {
        int count = 0;
        for (Permit other = first(last); other != permit; other = linked(other.next)) {
            count++;
        }
        return count;
    }

    private static Permit linked(@Nullable Permit permit) {
        if (permit == null) {
            throw new AssertionError("a permit that waits or is held is in a list");
        }
        return permit;
    }
}
