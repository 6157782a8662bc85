package dev.raddle.checks.flow;

import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.OnFailure;
import dev.raddle.flow.RunOptions;
import dev.raddle.flow.UnneededPolicy;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;

/** One run of a case, in a thread of its own. */
final class CaseRun {

    final RunProbe probe;
    private final FlowCase flowCase;
    private final CasePlan plan;
    private final ExecutorService pool;
    private final boolean started;
    private final Thread driver;
    private volatile FlowRun<?> run;
    private volatile FlowResult<?> result;
    private volatile Throwable thrown;
    private volatile long tookNanos;
    private final ExceptionSink sink = ExceptionSink.to((source, failure) -> {});

    /**
     * Prepares a run.
     *
     * @param pool the pool that runs its nodes, or null for the engine's own scheduler
     * @param started whether it is started and joined; a run in one call can neither be cancelled nor queried
     */
    CaseRun(FlowCase flowCase, CasePlan plan, RunProbe probe, ExecutorService pool, boolean started) {
        this.flowCase = flowCase;
        this.plan = plan;
        this.probe = probe;
        this.pool = pool;
        this.started = started;
        driver = Thread.ofPlatform()
                .name(EngineThreads.DRIVER_PREFIX + flowCase.id())
                .daemon()
                .unstarted(this::drive);
    }

    void begin() {
        plan.add(this);
        driver.start();
    }

    private void drive() {
        try {
            CasePlan.context(probe, flowCase.context()).call(this::execute);
        } catch (Throwable failure) {
            thrown = failure;
        } finally {
            probe.returned();
        }
    }

    private Void execute() throws InterruptedException {
        RunOptions options = options();
        long begin = System.nanoTime();
        try {
            if (started) {
                FlowRun<?> live = plan.plan.start(probe, options);
                run = live;
                probe.monitor.record(number -> {}); // wakes the script, which may wait for the run
                result = live.join();
            } else {
                result = plan.plan.run(probe, options);
            }
        } finally {
            tookNanos = System.nanoTime() - begin;
        }
        return null;
    }

    private RunOptions options() {
        RunSettings settings = flowCase.run();
        RunOptions options = RunOptions.defaults()
                .withExceptionSink(sink)
                .onFailure(settings.failFast() ? OnFailure.FAIL_FAST : OnFailure.CONTINUE)
                .obsolete(settings.interruptObsolete() ? UnneededPolicy.INTERRUPT : UnneededPolicy.FINISH);
        if (settings.timeoutMs() > 0) {
            options = options.withTimeout(Duration.ofMillis(settings.timeoutMs()));
        } else if (settings.timeoutMs() < 0) {
            options =
                    options.withDeadline(Deadline.after(TimeSource.system(), Duration.ofMillis(settings.timeoutMs())));
        }
        if (!settings.only().isEmpty()) {
            options = options.only(settings.only().toArray(String[]::new));
        }
        return pool == null ? options : options.withScheduler(Scheduler.from(pool));
    }

    /** Returns whether the run can be cancelled or has returned. */
    boolean hasStarted() {
        return run != null || probe.hasReturned();
    }

    void cancel(String reason) {
        FlowRun<?> live = run;
        if (live != null) {
            live.cancel(reason);
        }
    }

    /** Ends a run that did not return. */
    void giveUp() {
        cancel("it took too long");
        driver.interrupt();
    }

    /** Closes the run. All actions have returned, so this does not wait. */
    void close() {
        plan.remove(this);
        FlowRun<?> live = run;
        if (live != null) {
            live.close();
        }
    }

    /** Returns the function from a node's id to its state, or null if the run was not started separately. */
    Function<String, NodeState> states() {
        FlowRun<?> live = run;
        return live == null ? null : live::state;
    }

    Throwable thrown() {
        return thrown;
    }

    boolean hasResult() {
        return result != null;
    }

    String status() {
        return result.status().name();
    }

    NodeReport<?> report(String id) {
        return result.node(id);
    }

    /** Returns the number of callback exceptions that the exception sink has received. */
    long sinkCount() {
        return sink.count();
    }

    long tookMillis() {
        return tookNanos / 1_000_000;
    }
}
