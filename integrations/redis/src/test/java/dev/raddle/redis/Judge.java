package dev.raddle.redis;

import dev.raddle.redis.PeakFile.Excess;
import dev.raddle.redis.PeakFile.Stall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Decides which excesses are violations of the protocol. */
final class Judge {

    /*
     * Overview.
     *
     * The protocol cannot bind a process that does not run: if it is stopped, or gets no processor time, for longer
     * than the tenth of a lease between its own deadline and the server's, its tasks are still there when the
     * server grants their permits again. Only the fencing number protects against those. So the tasks of a process
     * that stalled do not count, from the beginning of the stall until a lease after its end, when they must have
     * been interrupted. Each process measures its stalls, so the judgement does not depend on how busy the machine
     * is. All other tasks count.
     */
    private static final int KEPT_VIOLATIONS = 20;

    private final PeakFile file;
    private final long graceNanos;
    private final List<Excess> violations = new ArrayList<>(); // the first ones
    private final List<Stall> stalls = new ArrayList<>();
    private long stallsRead;
    private long judged;
    private long violationCount;
    private long lateCount;

    Judge(PeakFile file, Duration lease) {
        this.file = file;
        graceNanos = lease.toNanos();
    }

    /**
     * Judges the excesses before a moment. Those after it may belong to a stall whose end is not recorded yet.
     *
     * @throws IllegalStateException if there are too many to remember
     */
    void judgeUntil(long moment) {
        readStalls();
        long count = file.excesses();
        if (count - judged > PeakFile.ringSize()) {
            violationCount += count - judged - PeakFile.ringSize();
            judged = count - PeakFile.ringSize();
        }
        for (; judged < count; judged++) {
            Excess excess = file.excess(judged);
            if (excess.moment() - moment >= 0) {
                return;
            }
            judge(excess);
        }
    }

    private void readStalls() {
        for (long count = file.stalls(); stallsRead < count; stallsRead++) {
            stalls.add(file.stall(stallsRead));
        }
    }

    private void judge(Excess excess) {
        int counted = excess.running();
        for (int slot = 0; slot < PeakFile.SLOTS; slot++) {
            if (excess.held(slot) > 0 && late(slot, excess.moment())) {
                counted -= excess.held(slot);
            }
        }
        int allowed = excess.kind() == Excess.Kind.FENCE ? 0 : file.limit(excess.group());
        if (counted <= allowed) {
            lateCount++;
            return;
        }
        violationCount++;
        if (violations.size() < KEPT_VIOLATIONS) {
            violations.add(excess);
        }
    }

    private boolean late(int slot, long moment) {
        return stalls.stream()
                .anyMatch(stall ->
                        stall.slot() == slot && moment - stall.begin() >= 0 && moment - stall.end() <= graceNanos);
    }

    /** Returns the number of excesses that are violations. */
    long violations() {
        return violationCount;
    }

    /** Returns the first violations. */
    List<Excess> firstViolations() {
        return violations;
    }

    /** Returns the number of excesses by tasks of a process that had stalled. */
    long late() {
        return lateCount;
    }

    /** Returns the longest stall of any process. */
    Duration longestStall() {
        readStalls();
        return Duration.ofNanos(stalls.stream()
                .mapToLong(stall -> stall.end() - stall.begin())
                .max()
                .orElse(0));
    }
}
