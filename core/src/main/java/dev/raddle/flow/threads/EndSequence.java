package dev.raddle.flow.threads;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The order in which the ends of the nodes of one run are recorded, which is the order in which they take effect. */
public final class EndSequence {

    /*
     * Overview.
     *
     * A thread that is about to record an end takes the next place (`enter`), records the end with the number of the
     * place, and then fills the place with the effect of the end (`fill`). Several threads record at the same time. The
     * effects are applied in the order of the places, one after the other, each with all its consequences, by one
     * thread at a time: the applier. A thread that fills a place becomes the applier if there is none and the first
     * place is filled; otherwise it leaves, and the thread that fills the first place, or the applier, applies its
     * effect.
     *
     * So every decision that depends on the order of ends (the first success of a choice, a skip, the first failure)
     * depends on the numbers of recorded ends only. A process that continues the run applies the recorded ends in the
     * order of their numbers, and decides the same. An end whose number is missing had no consequences: it was not
     * recorded, so its effect was not applied, and neither was that of any later end.
     *
     * Effects call callbacks and defaults of users, and are applied without the lock. A place is filled whatever the
     * record throws; otherwise no later end would take effect.
     */

    /** A place in the sequence. */
    public static final class Place {
        public final long number; // 1 for the first of a try
        private @Nullable Consumer<Runner> effect; // null until the place is filled; guarded by the sequence

        private Place(long number) {
            this.number = number;
        }
    }

    private final ArrayDeque<Place> places = new ArrayDeque<>(); // those not applied, in order; guarded by this
    private long last; // the number of the latest place; guarded by this
    private boolean hasApplier; // guarded by this

    /**
     * Creates a sequence.
     *
     * @param last the number of the latest end that earlier processes have recorded, or 0
     */
    public EndSequence(long last) {
        this.last = last;
    }

    public synchronized Place enter() {
        Place place = new Place(++last);
        places.add(place);
        return place;
    }

    /** Fills a place. The runner becomes the applier if there is none and the first place is filled. */
    public synchronized void fill(Place place, Consumer<Runner> effect, Runner runner) {
        place.effect = effect;
        Place first = places.peek();
        if (!hasApplier && first != null && first.effect != null) {
            hasApplier = true;
            runner.isApplier = true;
        }
    }

    /** Returns the next effect to apply. If there is none, returns null, and the runner is no applier any more. */
    public synchronized @Nullable Consumer<Runner> next(Runner applier) {
        Place first = places.peek();
        if (first == null || first.effect == null) {
            hasApplier = false;
            applier.isApplier = false;
            return null;
        }
        places.remove();
        return first.effect;
    }
}
