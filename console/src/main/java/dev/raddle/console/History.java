package dev.raddle.console;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The numbers of a group in the last five minutes, one a second. */
final class History {

    private static final int SECONDS = 300;
    private static final int SPARK_SECONDS = 60;

    record Series(
            List<Long> seconds,
            List<Integer> running,
            List<Integer> waiting,
            @Nullable List<Integer> starts) {}

    private final int[] seconds = new int[SECONDS]; // since the epoch; a ring, as the others
    private final int[] running = new int[SECONDS];
    private final int[] waiting = new int[SECONDS];
    private final int[] starts = new int[SECONDS];
    private int count; // of all that were added
    private long startsBefore;

    History(long startsBefore) {
        this.startsBefore = startsBefore;
    }

    void add(long second, int runningNow, int waitingNow, long startsSoFar) {
        if (count > 0 && second < seconds[(count - 1) % SECONDS]) {
            count = 0; // the clock was set back
        }
        int at = count % SECONDS;
        long elapsed = count == 0 ? 1 : Math.max(1, second - seconds[(count - 1) % SECONDS]);
        seconds[at] = (int) second;
        running[at] = runningNow;
        waiting[at] = waitingNow;
        starts[at] = (int) Math.max(0, (startsSoFar - startsBefore) / elapsed); // below 0 if the counts began again
        startsBefore = startsSoFar;
        count++;
    }

    int startsPerSecond() {
        return count == 0 ? 0 : starts[(count - 1) % SECONDS];
    }

    List<Integer> spark() {
        return last(waiting, SPARK_SECONDS);
    }

    /** Returns the numbers, without those of starts if these are not counted. */
    Series series(boolean startsAreCounted) {
        List<Long> moments =
                last(seconds, SECONDS).stream().map(second -> second * 1_000L).toList();
        return new Series(
                moments,
                last(running, SECONDS),
                last(waiting, SECONDS),
                startsAreCounted ? last(starts, SECONDS) : null);
    }

    /** Returns the numbers of the last seconds. There are none for those in which no client looked. */
    private List<Integer> last(int[] ring, int most) {
        List<Integer> last = new ArrayList<>();
        for (int i = Math.max(0, count - most); i < count; i++) {
            if (seconds[i % SECONDS] > seconds[(count - 1) % SECONDS] - most) {
                last.add(ring[i % SECONDS]);
            }
        }
        return last;
    }
}
