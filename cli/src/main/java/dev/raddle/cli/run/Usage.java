package dev.raddle.cli.run;

import org.jspecify.annotations.Nullable;

/**
 * What a process and the descendants that it has waited for have used.
 *
 * @param cpuMillis the CPU time of all of them
 * @param peakBytes the largest resident memory that one of them had; 0 if that is unknown, because it was less than
 *     that of raddle
 */
public record Usage(long cpuMillis, long peakBytes) {

    /** Returns the usage of two that ran one after the other; null stands for an unknown one. */
    static @Nullable Usage sum(@Nullable Usage first, @Nullable Usage second) {
        return first == null || second == null
                ? first == null ? second : first
                : new Usage(first.cpuMillis + second.cpuMillis, Math.max(first.peakBytes, second.peakBytes));
    }
}
