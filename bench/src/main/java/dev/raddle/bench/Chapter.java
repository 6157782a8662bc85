package dev.raddle.bench;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A benchmark class that has rows in the report.
 *
 * @param name the name by which the command line chooses it
 * @param benchmark the class
 * @param rows the method that makes the rows
 * @param missing returns why the benchmark cannot run on this machine, or an empty text
 */
record Chapter(String name, Class<?> benchmark, Function<Results, List<Row>> rows, Supplier<String> missing) {

    static final List<Chapter> ALL = List.of(
            new Chapter("heap-task", HeapPerWaitingTask.class, HeapPerWaitingTask::rows),
            new Chapter("heap-group", HeapPerIdleGroup.class, HeapPerIdleGroup::rows),
            new Chapter("cpu", CpuPerTask.class, CpuPerTask::rows),
            new Chapter("cpu-serial", CpuPerSerialTask.class, CpuPerSerialTask::rows),
            new Chapter("cpu-reuse", CpuPerReusingTask.class, CpuPerReusingTask::rows),
            new Chapter("round-trip", RoundTrip.class, RoundTrip::rows),
            new Chapter("flood", WaitBehindFlood.class, WaitBehindFlood::rows),
            new Chapter("shares", ShareOfCap.class, ShareOfCap::rows),
            new Chapter("dispatch", Dispatch.class, Dispatch::rows),
            new Chapter("dispatch-threads", DispatchOnThreads.class, DispatchOnThreads::rows),
            new Chapter("cancel", Cancel.class, Cancel::rows),
            new Chapter("busy", StartBesideBusyGroups.class, StartBesideBusyGroups::rows),
            new Chapter("scope-structured", StructuredForkJoin.class, StructuredForkJoin::rows),
            new Chapter("scope-tasks", ScopeSubmitAwait.class, ScopeSubmitAwait::rows),
            new Chapter("scope-order", ScopeCompletionOrder.class, ScopeCompletionOrder::rows),
            new Chapter("scope-alarm", ArmAndDisarm.class, ArmAndDisarm::rows),
            new Chapter("flow-nodes", FlowNodes.class, FlowNodes::rows),
            new Chapter("flow-times", FlowTimes.class, FlowTimes::rows),
            new Chapter("pool-burst", PoolBurst.class, PoolBurst::rows),
            new Chapter("pool-bounded", PoolBounded.class, PoolBounded::rows),
            new Chapter("pool-busy", PoolBusy.class, PoolBusy::rows),
            new Chapter("pool-paced", PoolPaced.class, PoolPaced::rows),
            new Chapter("pool-blocking", PoolBlocking.class, PoolBlocking::rows),
            new Chapter("pool-bytes", PoolBytes.class, PoolBytes::rows),
            new Chapter("pool-isolation", PoolIsolation.class, PoolIsolation::rows),
            new Chapter("rate-start", CpuPerRatedTask.class, CpuPerRatedTask::rows),
            new Chapter("rate-breaker", CpuPerGuardedTask.class, CpuPerGuardedTask::rows),
            new Chapter("adaptive-sample", CpuPerSampledTask.class, CpuPerSampledTask::rows),
            new Chapter("late-limits", LateLimits.class, LateLimits::rows),
            new Chapter("scale-units", Scale.class, Scale::rows),
            new Chapter("fleet-permits", FleetPermits.class, FleetPermits::rows),
            new Chapter("durable-file", DurableFile.class, DurableFile::rows),
            new Chapter("durable-database", DurableDatabase.class, DurableDatabase::rows, PostgresProcess::missing),
            new Chapter("durable-restate", DurableEngine.class, DurableEngine::rows, RestateProcess::missing),
            new Chapter("durable-load", DurableLoad.class, DurableLoad::rows),
            new Chapter("durable-stepper", FlowStepperCost.class, FlowStepperCost::rows),
            new Chapter("console-cost", ConsoleCost.class, ConsoleCost::rows));

    Chapter(String name, Class<?> benchmark, Function<Results, List<Row>> rows) {
        this(name, benchmark, rows, () -> "");
    }

    /** Returns the name of the section of the page that this chapter belongs to. */
    String section() {
        return PerformancePage.SECTIONS.stream()
                .filter(section -> name.startsWith(section + "-"))
                .findFirst()
                .orElse(PerformancePage.GROUP);
    }

    boolean isChosenBy(String argument) {
        return name.startsWith(argument) || section().equals(argument);
    }
}
