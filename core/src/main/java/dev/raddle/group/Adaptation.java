package dev.raddle.group;

import dev.raddle.group.AdaptiveLimit.Explained;
import dev.raddle.group.AdaptiveLimit.Sample;
import org.jspecify.annotations.Nullable;

/** The adaptive limit of one group in one of its lives: its measurements, and the decisions that follow from them. */
final class Adaptation {

    /*
     * Overview.
     *
     * Every task that ends is counted in a window, under the lock of its group. The task that makes the window full
     * becomes the decider. From then until `endDecision`, the window and all other fields belong to the thread that
     * ends this task, which has released the lock; tasks that end meanwhile are not counted. So a decision, which calls
     * an algorithm of the user, needs no lock, and there is at most one per window. `decider` passes the ownership: it
     * is written under the lock to take it, read under the lock, and cleared by its owner to give it up. A thread that
     * fails between the two clears it, too, or nothing would be counted any more. It is a task and not a thread,
     * because an algorithm may run tasks of the same group in the deciding thread.
     *
     * The new limit is applied by the group, if this is still its adaptation: it is not after an eviction or after
     * `setMaxConcurrency`. So the limit in force is not a field of this; each decision receives it.
     *
     *   STEADY ── probe due ──► PROBING ── measured ──► STEADY
     *                              │  ▲
     *                              └──┘ the callee was overloaded: the next probe is lower, at once
     *
     * A probe lowers the limit to a half, lets the calls of before end, measures the run time of the unloaded callee
     * (see Baseline) and restores the limit. A result that differs from all before is first confirmed by more tasks.
     * Two groups that call one callee probe at different times, and see it unloaded as long as one of them and a half
     * are not too much for it.
     *
     * The pauses between probes are a multiple of their length, so that they cost at most a tenth of the throughput of
     * a callee, and less of a fast one.
     *
     * The first tasks of a group are not counted: many start at once, so those that end first are the short ones.
     */

    /** How a task counts. */
    enum Kind {
        RAN,
        DROPPED
    }

    /** A decision to change the limit. */
    record Decision(int limit, String reason) {}

    private static final int FIRST_WINDOW = 20; // tasks; the window grows up to LimitWindow.FULL
    private static final int EARLY_WINDOWS = 6;
    private static final int PER_SLOT = 10; // tasks that a window has for each slot of a small limit
    private static final long SHORTEST_NANOS = 500_000_000; // of a window
    private static final int FEWEST_PROBED = 60; // tasks
    private static final int SMALLEST_PROBED = 8; // the limit from which probes are worth it in the beginning
    private static final long SHORTEST_PAUSE_NANOS = 5_000_000_000L; // between probes
    private static final long VAGUE_PAUSE_NANOS = 1_000_000_000;
    private static final int PAUSE = 12; // lengths of a probe
    private static final int VAGUE_PAUSE = 6;
    private static final long LONGEST_PROBE_NANOS = 10_000_000_000L;
    private static final int LARGEST_RUN = 8; // baselines: what is longer counts as this
    private static final double LOADED = 0.75; // the baseline as a fraction of the mean that calls for a probe
    private static final long NEVER = Long.MIN_VALUE;

    final AdaptiveLimit plan;
    private final AdaptiveLimit.Algorithm algorithm;
    private final int min;
    private final int max;
    private final LimitWindow window = new LimitWindow();
    private final Baseline baseline = new Baseline();

    private int steady; // the limit without a probe
    private boolean probing;
    private long probeBegin;
    private long nextProbe = NEVER;
    private @Nullable Sample beforeProbe;
    private int warmingUp; // tasks that are not counted
    private int windows;
    private int windowsSinceProbe;
    private int loadedWindows; // in a row
    private long unloadedNanos; // the sum of the run times of `unloaded` tasks
    private int unloaded; // tasks that ended while the group was not near its limit
    private long longest = Long.MAX_VALUE; // run time

    private volatile @Nullable Object decider; // written under the group's lock unless null is written
    private volatile @Nullable LimitChange latest; // written by the decider

    Adaptation(AdaptiveLimit plan, int limit, int maxInFlight) {
        this.plan = plan;
        this.algorithm = plan.newAlgorithm();
        this.max = Math.min(plan.max, maxInFlight);
        this.min = Math.min(plan.min, max);
        this.steady = Math.clamp(limit, min, max);
        this.warmingUp = steady;
        window.begin(LimitWindow.WITH_FIRST, FIRST_WINDOW, 0);
    }

    /** Returns the limit without a probe, which is the limit in force unless a probe is going on. */
    int steady() {
        return steady;
    }

    @Nullable
    LimitChange latest() {
        return latest;
    }

    void applied(LimitChange change) {
        latest = change;
    }

    long baselineNanos() {
        return baseline.nanos();
    }

    // Called under the group's lock.

    /**
     * Counts a task that ends.
     *
     * @param task the task, which becomes the decider if the window is full then
     * @param running the number of slots that were taken, with its own
     * @return true if the task is the decider now
     */
    boolean record(Object task, Kind kind, long ranNanos, long now, int running, boolean isNearLimit) {
        if (decider != null) {
            return false;
        }
        if (warmingUp > 0) {
            warmingUp--;
            return false;
        }
        if (!isNearLimit && !probing) {
            recordUnloaded(kind, ranNanos);
            return false;
        }
        boolean isFull = window.add(kind == Kind.DROPPED, ranNanos, longest, running, now);
        if (isFull) {
            decider = task;
        }
        return isFull;
    }

    /** Counts a task that says something of the baseline, but nothing of the limit. */
    private void recordUnloaded(Kind kind, long ranNanos) {
        if (kind == Kind.RAN) {
            unloadedNanos += Math.min(ranNanos, longest);
            if (++unloaded == LimitWindow.FULL) {
                baseline.observe(unloadedNanos / unloaded, unloaded);
                noteBaseline();
                unloaded = 0;
                unloadedNanos = 0;
            }
        }
    }

    private void noteBaseline() {
        longest = Math.max(1, LARGEST_RUN * baseline.nanos());
    }

    // Called by the decider.

    /** Lets other tasks be counted again. Has no effect if the task is not the decider. */
    void endDecision(Object task) {
        if (decider == task) {
            decider = null;
        }
    }

    /**
     * Decides about the limit. If this throws, the limit stays, and another window begins.
     *
     * @return the decision, or null if the limit stays
     */
    @Nullable
    Decision decide(int limit, long now) {
        Sample sample = window.sample(limit, baseline.nanos());
        return probing ? endProbe(sample, now) : step(sample, now);
    }

    private @Nullable Decision step(Sample measured, long now) {
        windows++;
        windowsSinceProbe++;
        window.begin(now, tasksAt(steady), windows < EARLY_WINDOWS ? 0 : SHORTEST_NANOS);
        Sample sample = withBaseline(measured);
        boolean isLoaded = sample.meanNanos() * LOADED > sample.baselineNanos();
        loadedWindows = isLoaded ? loadedWindows + 1 : 0;
        steady = next(sample);
        int probe = probeLimit(Math.min(sample.limit(), steady));
        if (isProbeDue(sample, now) && probe < sample.limit()) {
            beforeProbe = sample;
            return beginProbe(sample, probe, now);
        }
        return change(sample, steady, algorithm instanceof Explained explained ? explained.reason() : textOf(sample));
    }

    private Sample withBaseline(Sample sample) {
        if (sample.count() == 0) {
            return sample;
        }
        if (probeLimit(sample.limit()) == sample.limit()) { // it cannot be lowered, so this is all there is to measure
            baseline.measure(sample.meanNanos(), sample.count());
        } else {
            baseline.observe(sample.meanNanos(), sample.count());
        }
        noteBaseline();
        return sample.withBaseline(baseline.nanos());
    }

    /** Calls user code. */
    private int next(Sample sample) {
        return Math.clamp(algorithm.next(sample), min, max);
    }

    private static String textOf(Sample sample) {
        return "custom: mean " + Durations.text(sample.meanNanos()) + " against "
                + Durations.text(sample.baselineNanos()) + ", " + sample.drops() + " of "
                + (sample.count() + sample.drops()) + " tasks dropped";
    }

    /** Returns how many tasks a window has: few in the beginning and under a small limit, so that it soon ends. */
    private int tasksAt(int limit) {
        int most = Math.min(LimitWindow.FULL, FIRST_WINDOW << Math.min(windows, EARLY_WINDOWS));
        return Math.clamp((long) PER_SLOT * limit, FIRST_WINDOW, most);
    }

    // Probes.

    private boolean isProbeDue(Sample sample, long now) {
        boolean isEarly = windows < EARLY_WINDOWS && sample.limit() < SMALLEST_PROBED;
        if (!plan.probes() || sample.count() == 0 || isEarly) {
            return false;
        }
        return nextProbe == NEVER || now - nextProbe >= 0 || (loadedWindows >= 2 && windowsSinceProbe >= 4);
    }

    private int probeLimit(int limit) {
        return Math.max(min, Math.min(limit - 1, Math.ceilDiv(limit, 2)));
    }

    private @Nullable Decision beginProbe(Sample sample, int limit, long now) {
        probing = true;
        probeBegin = now;
        window.begin(now + 3 * sample.meanNanos(), Math.max(tasksAt(limit), FEWEST_PROBED), SHORTEST_NANOS);
        return change(sample, limit, "probe of the run time at a lower limit");
    }

    private @Nullable Decision endProbe(Sample sample, long now) {
        int count = sample.count();
        boolean differs = baseline.differs(sample.meanNanos(), count);
        if (differs && count < 2 * LimitWindow.FULL && now - probeBegin < LONGEST_PROBE_NANOS) {
            window.extend(2 * LimitWindow.FULL);
            return null;
        }
        probing = false;
        windowsSinceProbe = 0;
        loadedWindows = 0;
        window.begin(now + 2 * sample.meanNanos(), tasksAt(steady), SHORTEST_NANOS);
        if (count > 0) {
            baseline.measure(sample.meanNanos(), count);
            noteBaseline();
        }
        long length = now - probeBegin;
        nextProbe = now
                + (baseline.isVague()
                        ? Math.max(VAGUE_PAUSE_NANOS, VAGUE_PAUSE * length)
                        : Math.max(SHORTEST_PAUSE_NANOS, PAUSE * length));
        return differs ? afterOverload(sample, now) : change(sample, steady, "end of the probe");
    }

    /** If a probe has shown that the limit was far too high, lowers it and probes further. */
    private @Nullable Decision afterOverload(Sample sample, long now) {
        Sample before = beforeProbe;
        if (before != null && before.meanNanos() * 0.8 > baseline.nanos()) {
            steady = Math.min(steady, next(before.withBaseline(baseline.nanos())));
            beforeProbe = sample;
            int lower = probeLimit(sample.limit());
            if (lower < sample.limit()) {
                return beginProbe(sample, lower, now);
            }
        }
        return change(sample, steady, "end of the probe");
    }

    private static @Nullable Decision change(Sample sample, int limit, String reason) {
        return limit == sample.limit() ? null : new Decision(limit, reason);
    }
}
