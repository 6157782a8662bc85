package dev.raddle.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Adds the numbers that the benchmark has noted to the results of each iteration. Except for single shots it also adds
 * {@value #CPU}, the CPU time of the whole process per operation, including the collector and the compilers, and
 * {@value #ALLOCATED}, the number of bytes per operation that all threads have allocated.
 */
public final class Measured implements InternalProfiler {

    static final String CPU = "cpu";
    static final String ALLOCATED = "bytes";

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final List<ScalarResult> NOTES = new ArrayList<>(); // guarded by itself

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private long cpuNanos;
    private long allocated;

    /** Creates a profiler. Called by JMH. */
    public Measured() {}

    /** Notes a number of the current iteration. */
    static void note(String label, double value, String unit) {
        synchronized (NOTES) {
            NOTES.add(new ScalarResult(label, value, unit, AggregationPolicy.AVG));
        }
    }

    @Override
    public String getDescription() {
        return "what the benchmark noted, and the process's CPU time for one operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        Carriers.keepApart();
        synchronized (NOTES) {
            NOTES.clear();
        }
        allocated = THREADS.getTotalThreadAllocatedBytes();
        cpuNanos = PROCESS.getProcessCpuTime();
    }

    @Override
    public List<ScalarResult> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double spent = PROCESS.getProcessCpuTime() - cpuNanos;
        double bytes = THREADS.getTotalThreadAllocatedBytes() - allocated;
        long operations = result.getMetadata().getAllOps();
        synchronized (NOTES) {
            List<ScalarResult> all = new ArrayList<>(NOTES);
            if (benchmark.getMode() != Mode.SingleShotTime) {
                all.add(new ScalarResult(CPU, spent / operations, "ns/op", AggregationPolicy.AVG));
                all.add(new ScalarResult(ALLOCATED, bytes / operations, "B/op", AggregationPolicy.AVG));
            }
            return all;
        }
    }
}
