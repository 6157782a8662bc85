package dev.raddle.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What the processors have done since the machine started, in ticks of all processors together, as Linux counts them.
 *
 * @param total all ticks, idle ones included
 * @param stolen ticks in which a processor was ready to run and the hypervisor ran another machine
 * @param busy ticks of processes
 * @param own ticks of this process and of its ended children, which is a part of {@code busy}
 */
record CpuTimes(long total, long stolen, long busy, long own) {

    static final Path PROC = Path.of("/proc");

    /** The fields of the first line of {@code /proc/stat} that do not overlap; guests are counted in user and nice. */
    private static final int DISJOINT_FIELDS = 8;

    private static final int STEAL = 7;

    /**
     * Reads the current times.
     *
     * @param proc the directory in which Linux shows its processes
     * @return the times, or null if the system does not show them
     */
    static @Nullable CpuTimes read(Path proc) {
        try {
            return parse(
                    Files.readString(proc.resolve("stat")),
                    Files.readString(proc.resolve("self").resolve("stat")));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException unknown) {
            return null;
        }
    }

    private static CpuTimes parse(String machine, String process) {
        String[] fields =
                machine.lines().findFirst().orElse("").replaceFirst("cpu +", "").split(" +");
        long total = sum(fields, 0, DISJOINT_FIELDS);
        long busy = sum(fields, 0, 3); // user, nice, system

        // The name of the process, in parentheses, may contain spaces. The state follows it.
        String[] own = process.substring(process.lastIndexOf(')') + 2).split(" +");
        return new CpuTimes(total, Long.parseLong(fields[STEAL]), busy, sum(own, 11, 15)); // utime to cstime
    }

    private static long sum(String[] fields, int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum += Long.parseLong(fields[i]);
        }
        return sum;
    }

    /**
     * Returns the share of the machine's time that was stolen or used by other processes.
     *
     * @param begin the times at the begin of the interval
     * @return a number from 0 to 1, or NaN if no time has passed
     */
    double lostSince(CpuTimes begin) {
        long passed = total - begin.total;
        long others = Math.max(0, busy - begin.busy - (own - begin.own));
        return passed <= 0 ? Double.NaN : Math.min(1, (double) (stolen - begin.stolen + others) / passed);
    }
}
