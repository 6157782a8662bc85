package dev.raddle.bench;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.ProcessDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Timeout;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many empty nodes per second are recorded in files? One run at a time, and several, each with a file of its own.
 * The peer forces lines of the same length, without any flow.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Timeout(time = 1, timeUnit = TimeUnit.MINUTES)
public class DurableFile {

    private static final int LINE_BYTES = 48; // as long as the record of a node

    /** The duration of the measurement. */
    @Param("2")
    public int seconds;

    /** A chain. */
    @Benchmark
    public void recordsOfChain() throws Exception {
        measure(EmptyNodes::chain, 1);
    }

    /** A fan. */
    @Benchmark
    public void recordsOfFan() throws Exception {
        measure(EmptyNodes::fan, 1);
    }

    /** Several chains at once. */
    @Benchmark
    public void recordsOfRuns() throws Exception {
        measure(EmptyNodes::chain, EmptyNodes.RUNS);
    }

    /** Lines forced to one file. */
    @Benchmark
    public void lines() throws Exception {
        measureLines(1);
    }

    /** Lines forced to several files at once. */
    @Benchmark
    public void linesOfFiles() throws Exception {
        measureLines(EmptyNodes.RUNS);
    }

    private void measure(Function<EmptyNodes, FlowPlan<String, String>> planOf, int runs) throws Exception {
        EmptyNodes nodes = new EmptyNodes();
        FlowPlan<String, String> plan = planOf.apply(nodes);
        try (ProcessDirectory directory = BenchDirectory.create("durable-file")) {
            nodes.measure(runs, seconds, id -> run(plan, directory.path().resolve(id)));
        }
    }

    private static void run(FlowPlan<String, String> plan, Path file) throws Exception {
        try (FileJournal journal = FileJournal.open(file, FlowCodec.text())) {
            FlowStatus status = plan.run("x", RunOptions.defaults().withJournal(journal, "run"))
                    .status();
            long recorded = journal.entries().stream()
                    .filter(Entry.NodeEnded.class::isInstance)
                    .count();
            if (status != FlowStatus.SUCCESS || recorded != plan.nodes().size()) {
                throw new IllegalStateException("the run is " + status + ", and " + recorded + " nodes are recorded");
            }
        }
        Files.delete(file);
    }

    private void measureLines(int files) throws Exception {
        EmptyNodes lines = new EmptyNodes();
        try (ProcessDirectory directory = BenchDirectory.create("durable-file")) {
            lines.measure(
                    files, seconds, id -> forceLines(lines, directory.path().resolve(id)));
        }
    }

    private static void forceLines(EmptyNodes lines, Path file) throws IOException {
        byte[] line = new byte[LINE_BYTES];
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            for (int i = 0; i < EmptyNodes.LENGTH; i++) {
                bytes.write(line);
                bytes.getFD().sync();
                lines.execute();
            }
        }
        Files.delete(file);
    }

    static List<Row> rows(Results results) {
        Stat lines = rate(results, "lines");
        Stat files = rate(results, "linesOfFiles");
        String several = "nodes of " + EmptyNodes.RUNS + " chains at once, a file each";
        return List.of(
                row("nodes of a chain", rate(results, "recordsOfChain"), lines),
                row("nodes of a fan of 100", rate(results, "recordsOfFan"), lines),
                row(several, rate(results, "recordsOfRuns"), files));
    }

    private static Row row(String what, Stat measured, Stat lines) {
        return Row.of("file: " + what, measured, EmptyNodes.UNIT).against("forced lines", lines);
    }

    private static Stat rate(Results results, String method) {
        return results.note(EmptyNodes.RATE, "DurableFile." + method);
    }
}
