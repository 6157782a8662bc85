package dev.raddle.console;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Numbers of a group, or of all, in the last seconds, and in the minutes of the last hour. */
final class History {

    static final int SHORT = 60;
    static final int LONG = 300;
    private static final int MINUTES = 60;
    private static final int UNKNOWN = -1;
    private static final int GROWTH = 10; // seconds in which it shows
    private static final int LONGEST_STEP = 3; // seconds, of a rate

    /** The values of curves; the page makes gaps of the times at which no sample was taken. */
    record Series(
            List<Long> seconds,
            List<Integer> running,
            List<Integer> waiting,
            @Nullable List<@Nullable Integer> starts) {}

    record Both(Series minute, Series hour) {}

    /** The latest values, one of each second or minute in which any were added. */
    private static final class Ring {
        final int size;
        final int unit; // in seconds
        final int[] moments; // in units since the epoch
        final int[] running;
        final int[] waiting;
        final int[] starts; // per second
        int count; // of all that were added

        Ring(int size, int unit) {
            this.size = size;
            this.unit = unit;
            this.moments = new int[size];
            this.running = new int[size];
            this.waiting = new int[size];
            this.starts = new int[size];
        }

        int last() {
            return (count - 1) % size;
        }

        void add(int moment, int runningNow, int waitingNow, int startsNow) {
            if (count > 0 && moment < moments[last()]) {
                count = 0; // the clock was set back
            }
            int at = count % size;
            moments[at] = moment;
            running[at] = runningNow;
            waiting[at] = waitingNow;
            starts[at] = startsNow;
            count++;
        }

        Ring grown(int newSize) {
            Ring grown = new Ring(newSize, unit);
            for (int i = Math.max(0, count - Math.min(size, newSize)); i < count; i++) {
                int at = i % size;
                grown.add(moments[at], running[at], waiting[at], starts[at]);
            }
            return grown;
        }

        /** Returns the indices of the values that are not too old, the oldest first. */
        List<Integer> recent(int most) {
            List<Integer> recent = new ArrayList<>();
            for (int i = Math.max(0, count - Math.min(most, size)); i < count; i++) {
                if (moments[i % size] > moments[last()] - most) {
                    recent.add(i % size);
                }
            }
            return recent;
        }

        Series series(boolean startsAreCounted) {
            List<Integer> all = recent(size);
            List<@Nullable Integer> startsThen = new ArrayList<>();
            all.forEach(at -> startsThen.add(startsOrNull(at)));
            return new Series(
                    all.stream().map(at -> 1_000L * unit * moments[at]).toList(),
                    all.stream().map(at -> running[at]).toList(),
                    all.stream().map(at -> waiting[at]).toList(),
                    startsAreCounted ? startsThen : null);
        }

        @Nullable
        Integer startsOrNull(int at) {
            return starts[at] == UNKNOWN ? null : starts[at];
        }
    }

    private Ring seconds;
    private final Ring minutes = new Ring(MINUTES, 60);
    private long startsBefore;

    /** Creates an empty history of so many seconds. */
    History(int size) {
        seconds = new Ring(size, 1);
    }

    /** Makes room for a number of seconds. */
    void resize(int size) {
        if (seconds.size != size) {
            seconds = seconds.grown(size);
        }
    }

    /**
     * Adds the numbers of a second. The first one after a gap has no rate.
     *
     * @param startsSoFar the number of all starts, or less than 0 if it is unknown
     */
    void add(long second, int runningNow, int waitingNow, long startsSoFar) {
        long elapsed = seconds.count == 0 ? 0 : second - seconds.moments[seconds.last()];
        boolean hasRate = elapsed > 0 && elapsed <= LONGEST_STEP && startsSoFar >= startsBefore && startsBefore >= 0;
        int starts = hasRate ? (int) ((startsSoFar - startsBefore) / elapsed) : UNKNOWN;
        startsBefore = startsSoFar;
        seconds.add((int) second, runningNow, waitingNow, starts);
        int minute = (int) (second / 60);
        boolean isSameMinute = minutes.count > 0 && minutes.moments[minutes.last()] == minute;
        if (isSameMinute) {
            int at = minutes.last();
            minutes.running[at] = Math.max(minutes.running[at], runningNow);
            minutes.waiting[at] = Math.max(minutes.waiting[at], waitingNow);
            minutes.starts[at] = Math.max(minutes.starts[at], starts);
        } else {
            minutes.add(minute, runningNow, waitingNow, starts);
        }
    }

    @Nullable
    Integer startsPerSecond() {
        return seconds.count == 0 ? null : seconds.startsOrNull(seconds.last());
    }

    List<Integer> spark() {
        return waiting(SHORT);
    }

    private List<Integer> waiting(int most) {
        return seconds.recent(most).stream().map(at -> seconds.waiting[at]).toList();
    }

    /** Returns whether more waited in each of the last five seconds than in any of the five before. */
    boolean waitsGrow() {
        List<Integer> last = waiting(GROWTH);
        int half = last.size() / 2;
        return half > 1 && Collections.min(last.subList(half, last.size())) > Collections.max(last.subList(0, half));
    }

    /** Returns the sum of the slots that were taken in the last minute, one number a second. */
    long slotTime() {
        return seconds.recent(SHORT).stream()
                .mapToLong(at -> seconds.running[at])
                .sum();
    }

    /** Returns the numbers, without those of starts if these are not counted. */
    Series series(boolean startsAreCounted) {
        return seconds.series(startsAreCounted);
    }

    /** Returns the last minute, and the last hour with the largest numbers of each minute. */
    Both both(boolean startsAreCounted) {
        return new Both(seconds.grown(SHORT).series(startsAreCounted), minutes.series(startsAreCounted));
    }
}
