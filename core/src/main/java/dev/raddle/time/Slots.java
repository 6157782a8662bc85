package dev.raddle.time;

import org.jspecify.annotations.Nullable;

/**
 * Where the alarms of a {@link Wheel} lie, by their ticks. Guarded by the wheel, which owns it.
 *
 * @see <a href="https://doi.org/10.1145/41457.37504">G. Varghese and A. Lauck, "Hashed and Hierarchical Timing Wheels",
 *     SOSP 1987</a>, scheme 7
 */
final class Slots extends Padding {

    /*
     * Overview.
     *
     * A tick is a number of up to 48 bits, written with eight digits of six bits. Each digit has a level, and each level
     * has 64 slots, one for each value of the digit. The wheel stands at a `position`. An alarm lies at the level of the
     * highest digit in which its tick differs from the position, in the slot that this digit of its tick names; one whose
     * tick has come lies at the lowest level, in the position's own slot. So:
     *
     *   (1)  At level n, all ticks agree with the position in the digits above n, and are greater in digit n. (At the
     *        lowest level they may be equal.)
     *   (2)  Whatever is at a lower level comes before whatever is at a higher one, and in one level a lower slot before a
     *        higher one. Two masks find the earliest slot, whatever the number of alarms.
     *   (3)  The position may move to any tick before the start of the earliest slot, and nobody changes places: no alarm
     *        has its tick, so no digit in which one is greater has been reached.
     *
     * To move to the start of the earliest slot is to open it. At the lowest level, what lies in it has come. Above, each
     * alarm moves to a lower level, where (1) wants it now. It moves down at most seven times in its life, most never: they
     * are cancelled before. Not all move in one step, and between two steps some may be cancelled and others put in; the
     * slot that is `opened` stays the earliest one until it is empty. Above the lowest level nothing is put into it any
     * more: the position has its digit.
     *
     * A slot's alarms are a ring of nodes, in the order in which they came; `first` is the oldest. A node that leaves is
     * unlinked at once, and then points to itself. A caller who has no stack left for one more call has changed nothing.
     */

    static final long NEVER = Long.MAX_VALUE;

    private static final int BITS = 6;
    private static final int WIDTH = 1 << BITS;
    private static final int LEVELS = 8;
    private static final int NONE = -1;

    private final @Nullable WheelAlarm[] first = new @Nullable WheelAlarm[LEVELS * WIDTH];
    private final long[] occupied = new long[LEVELS + 8]; // a bit for each slot of a level that is not empty; padded
    private int levels; // a bit for each level that is not empty
    private int opened = NONE;
    private long position;

    boolean isEmpty() {
        return levels == 0;
    }

    /** The first tick of the earliest slot, which is at or before that of every alarm; {@link #NEVER} if there is none. */
    long earliest() {
        int slot = earliestSlot();
        return slot == NONE ? NEVER : start(slot);
    }

    /** Lets the position follow the clock as far as nothing changes by it, so that alarms lie as low as they can. */
    void follow(long now) {
        if (now > position && now < earliest()) {
            position = now;
        }
    }

    /** Puts an alarm that is in no slot where it belongs, and returns the first tick of its slot. */
    long put(WheelAlarm alarm) {
        long tick = Math.max(alarm.tick, position);
        int level = (63 - Long.numberOfLeadingZeros((tick ^ position) | 1)) / BITS;
        int digit = (int) (tick >>> (BITS * level)) & (WIDTH - 1);
        int slot = level * WIDTH + digit;
        append(slot, alarm);
        levels |= 1 << level;
        occupied[level] |= 1L << digit;
        return start(slot);
    }

    void remove(WheelAlarm alarm) {
        int slot = alarm.slot;
        if (alarm.next == alarm) {
            vacate(slot);
            first[slot] = null;
            return;
        }
        if (first[slot] == alarm) {
            first[slot] = alarm.next;
        }
        alarm.previous.next = alarm.next;
        alarm.next.previous = alarm.previous;
        alarm.previous = alarm;
        alarm.next = alarm;
    }

    /**
     * Moves the position to the earliest slot, whose time has come, and takes its oldest alarm out. Returns that alarm, or
     * null if it was only moved down.
     */
    @Nullable
    WheelAlarm step() {
        int slot = earliestSlot();
        WheelAlarm oldest = slot == NONE ? null : first[slot];
        if (oldest == null) {
            return null;
        }
        position = start(slot);
        opened = slot;
        remove(oldest);
        if (oldest.tick <= position) {
            return oldest;
        }
        put(oldest);
        return null;
    }

    /** The oldest alarm of a slot. */
    @Nullable
    WheelAlarm first(int slot) {
        return first[slot];
    }

    private int earliestSlot() {
        if (opened != NONE) {
            return opened;
        }
        if (levels == 0) {
            return NONE;
        }
        int level = Integer.numberOfTrailingZeros(levels);
        return level * WIDTH + Long.numberOfTrailingZeros(occupied[level]);
    }

    private long start(int slot) {
        int shift = slot / WIDTH * BITS;
        long above = position >>> (shift + BITS);
        return ((above << BITS) | (slot % WIDTH)) << shift;
    }

    private void append(int slot, WheelAlarm alarm) {
        alarm.slot = slot;
        WheelAlarm oldest = first[slot];
        if (oldest == null) {
            first[slot] = alarm;
            return;
        }
        WheelAlarm youngest = oldest.previous;
        alarm.previous = youngest;
        alarm.next = oldest;
        youngest.next = alarm;
        oldest.previous = alarm;
    }

    private void vacate(int slot) {
        int level = slot / WIDTH;
        occupied[level] &= ~(1L << slot);
        if (occupied[level] == 0) {
            levels &= ~(1 << level);
        }
        if (opened == slot) {
            opened = NONE;
        }
    }
}
