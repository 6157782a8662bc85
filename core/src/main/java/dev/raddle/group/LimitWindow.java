package dev.raddle.group;

import dev.raddle.group.AdaptiveLimit.Sample;

/**
 * The measurements of a group since the last decision about its adaptive limit. A few additions per task, and no
 * allocation.
 */
final class LimitWindow {

    /*
     * A window begins at a moment in the future, if the limit was changed much: the tasks that end before it have run
     * partly under the former limit. It is full if it has the wanted number of tasks and the shortest length. A slow
     * callee gets a longer window, which ends with fewer tasks.
     */
    static final long WITH_FIRST = Long.MIN_VALUE; // the window begins with the first task that ends
    static final int FULL = 200; // tasks that a window has at most to wait for
    private static final int FEW = 20; // tasks that suffice after LONG_NANOS
    private static final long LONG_NANOS = 10_000_000_000L;

    private long begin;
    private long shortest; // the window's length
    private int wanted; // tasks
    private int count;
    private int drops;
    private long sum;
    private int maxRunning;

    /** Empties the window, which begins at a moment or WITH_FIRST, and is full after some tasks and some time. */
    void begin(long moment, int tasks, long shortestNanos) {
        begin = moment;
        wanted = tasks;
        shortest = shortestNanos;
        count = 0;
        drops = 0;
        sum = 0;
        maxRunning = 0;
    }

    /** Makes the window last until more tasks were counted. */
    void extend(int tasks) {
        wanted = tasks;
    }

    /** Counts a task; returns whether the window is full. */
    boolean add(boolean isDrop, long ranNanos, long longest, int running, long now) {
        if (begin == WITH_FIRST) {
            begin = now - ranNanos;
        }
        long age = now - begin;
        if (age < 0) {
            return false;
        }
        if (isDrop) {
            drops++;
        } else {
            count++;
            sum += Math.min(ranNanos, longest);
        }
        maxRunning = Math.max(maxRunning, running);
        int all = count + drops;
        return all >= wanted ? age >= shortest : all >= FEW && age >= LONG_NANOS;
    }

    Sample sample(int limit, long baselineNanos) {
        return new Sample(limit, count, drops, count == 0 ? 0 : sum / count, baselineNanos, maxRunning);
    }
}
