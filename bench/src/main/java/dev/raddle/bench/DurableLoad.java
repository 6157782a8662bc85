package dev.raddle.bench;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowJournal;
import dev.raddle.processes.ProcessDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does a run wait until it knows the 10,000 nodes that a journal file has, when it is the first one of a JVM,
 * and after many others? The file is written by another JVM. The peer reads the lines of the file.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class DurableLoad {

    private static final int NODES = 10_000;
    private static final FlowJournal.Work WORK = new FlowJournal.Work("run", "flow", "plan", null);

    private ProcessDirectory directory;
    private Path file;

    /** Lets another JVM write the file. */
    @Setup(Level.Trial)
    public void write() throws IOException {
        directory = BenchDirectory.create("durable-load");
        file = directory.path().resolve("journal");
        directory.run(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                JmhJvms.ownClassPath(),
                DurableLoad.class.getName(),
                file.toString()));
    }

    /**
     * Writes a journal.
     *
     * @param args the file
     * @throws Exception if it cannot be written
     */
    public static void main(String[] args) throws Exception {
        try (FileJournal journal = FileJournal.open(Path.of(args[0]), FlowCodec.text())) {
            journal.open(WORK);
            journal.record(new Entry.Begun(Instant.now(), List.of()));
            for (int i = 0; i < NODES; i++) {
                journal.record(Entry.NodeEnded.succeeded("node-" + i, "the value of node " + i));
            }
        }
    }

    /** Removes the file. */
    @TearDown(Level.Trial)
    public void remove() {
        directory.close();
    }

    /** The first journal of the JVM. */
    @Benchmark
    public Object first() throws IOException {
        return load();
    }

    /** A journal after many others. */
    @Benchmark
    @Warmup(iterations = 100)
    @Measurement(iterations = 20)
    public Object warm() throws IOException {
        return load();
    }

    private Object load() throws IOException {
        try (FileJournal journal = FileJournal.open(file, FlowCodec.text())) {
            int found = journal.open(WORK).size() - 1; // without the begin of the run
            if (found != NODES || journal.ended() != null) { // which computes the state of the run
                throw new IllegalStateException(found + " nodes are recorded, not " + NODES);
            }
            return journal;
        }
    }

    /** The first file that the JVM reads as lines. */
    @Benchmark
    public Object firstLines() throws IOException {
        return lines();
    }

    /** The lines of the file, after many others. */
    @Benchmark
    @Warmup(iterations = 100)
    @Measurement(iterations = 20)
    public Object warmLines() throws IOException {
        return lines();
    }

    private Object lines() throws IOException {
        return Files.readAllLines(file, StandardCharsets.UTF_8);
    }

    static List<Row> rows(Results results) {
        return List.of(row("first of a JVM", results, "first"), row("after a hundred others", results, "warm"));
    }

    private static Row row(String which, Results results, String method) {
        return Row.of("opening a journal of 10,000 nodes, " + which, time(results, method), "ms")
                .against("reading its lines", time(results, method + "Lines"))
                .atMost(50);
    }

    private static Stat time(Results results, String method) {
        return results.score("DurableLoad." + method);
    }
}
