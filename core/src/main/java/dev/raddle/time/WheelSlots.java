package dev.raddle.time;

import dev.raddle.lock.Padding;
import org.jspecify.annotations.Nullable;

/**
 * The pending alarms of a {@link Wheel}, ordered by tick. Guarded by the wheel, which owns it.
 *
 * @see <a href="https://doi.org/10.1145/41457.37504">G. Varghese and A. Lauck, "Hashed and Hierarchical Timing Wheels",
 *     SOSP 1987</a>, scheme 7
 */
final class WheelSlots extends Padding {

    /*
     * Overview.
     *
     * A tick is a number of up to 48 bits, that is, eight digits of six bits. Each digit has a level, and each level
     * has 64 slots, one for each value of the digit. The wheel is at a `position`, which is a tick. The level of an
     * alarm is that of the highest digit in which its tick differs from the position, and its slot is the value of that
     * digit. An alarm that is due is at the lowest level, in the position's own slot. So:
     *
     *   (1)  At level n, all ticks agree with the position in the digits above n, and are greater in digit n. (At the
     *        lowest level they may be equal.)
     *   (2)  Every alarm at a lower level is earlier than every alarm at a higher one, and within a level every alarm
     *        in a lower slot is earlier than those in a higher one. Two masks find the earliest slot, whatever the
     *        number of alarms.
     *   (3)  The position may move to any tick before the start of the earliest slot, and every alarm keeps its slot:
     *        the new position is before that slot, so it is still less in the digit of that level and equal in those
     *        above.
     *
     * Moving the position to the start of the earliest slot opens that slot. At the lowest level its alarms are then
     * due. At a higher level each of its alarms moves to a lower level, as (1) requires. An alarm moves down at most
     * seven times; most never do, because they are cancelled before. Not all alarms of a slot move in one step, and
     * between two steps some may be cancelled and others put; the slot that is `opened` stays the earliest one until it
     * is empty. Above the lowest level no alarm is put into it any more, because the position has its digit.
     *
     * The alarms of a slot are nodes of a circular list, oldest first; `first` is the oldest. A removed node is
     * unlinked at once and then points to itself. If a thread has no stack left for one more call, its operation
     * changes nothing.
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

    /**
     * Returns the first tick of the earliest slot, at or before the tick of every alarm; {@link #NEVER} if there is
     * none.
     */
    long earliest() {
        int slot = earliestSlot();
        return slot == NONE ? NEVER : startTick(slot);
    }

    /** Moves the position to the present if that moves no alarm, so that new alarms get the lowest possible level. */
    void advanceTo(long now) {
        if (now > position && now < earliest()) {
            position = now;
        }
    }

    /** Puts an alarm that is in no slot into its slot, and returns the first tick of that slot. */
    long put(WheelAlarm alarm) {
        long tick = Math.max(alarm.tick, position);
        int level = (63 - Long.numberOfLeadingZeros((tick ^ position) | 1)) / BITS;
        int digit = (int) (tick >>> (BITS * level)) & (WIDTH - 1);
        int slot = level * WIDTH + digit;
        append(slot, alarm);
        levels |= 1 << level;
        occupied[level] |= 1L << digit;
        return startTick(slot);
    }

    void remove(WheelAlarm alarm) {
        int slot = alarm.slot;
        if (alarm.next == alarm) {
            markEmpty(slot);
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
     * Moves the position to the earliest slot, which must be due, and removes its oldest alarm. Returns that alarm if
     * it is due, or null after moving it to a lower level.
     */
    @Nullable
    WheelAlarm step() {
        int slot = earliestSlot();
        WheelAlarm oldest = slot == NONE ? null : first[slot];
        if (oldest == null) {
            return null;
        }
        position = startTick(slot);
        opened = slot;
        remove(oldest);
        if (oldest.tick <= position) {
            return oldest;
        }
        put(oldest);
        return null;
    }

    /** Returns the oldest alarm of a slot. */
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

    private long startTick(int slot) {
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

    private void markEmpty(int slot) {
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
