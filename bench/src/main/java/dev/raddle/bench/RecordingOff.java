package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a task's event cost when no recording enables it? A task is submitted, run and completed in one thread:
 * without a recording, with one that does not enable the event, and with one that does.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 5,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
public class RecordingOff {

    private static final Callable<String> EMPTY = () -> "done";

    /** The recording. */
    @Param({"none", "disabled", "enabled"})
    public String recording;

    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
            GroupPolicy.builder().scheduler(key -> Runnable::run).build());
    private final Recording running = new Recording();

    /** Starts the recording, if there is one. */
    @Setup
    public void begin() {
        if (recording.equals("enabled")) {
            running.enable("dev.raddle.Task");
        }
        if (!recording.equals("none")) {
            running.start();
        }
    }

    /** Closes the recording and the executor. */
    @TearDown
    public void close() {
        running.close();
        executor.close();
    }

    /** One task, from submission to its result. */
    @Benchmark
    public String submitAndSettle() throws Exception {
        return executor.submit("group", "task", EMPTY).await().value();
    }
}
