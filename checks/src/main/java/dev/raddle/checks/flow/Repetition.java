package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;

/** One repetition of a case: its runs, its script, and how both ended. */
final class Repetition {

    private static final long QUIET_SECONDS = 60;
    private static final int MAX_EXTENSIONS = 60; // of a second each

    final FlowCase flowCase;
    final List<CaseRun> runs = new ArrayList<>();
    final Monitor monitor = new Monitor();
    private final long boundSeconds;
    private List<String> threads = List.of();

    Repetition(
            FlowCase flowCase,
            CasePlan plan,
            Map<String, Set<String>> upstreams,
            ExecutorService pool,
            boolean started,
            int patienceSeconds) {
        this.flowCase = flowCase;
        long allowedMs = Math.max(flowCase.limitMs(), flowCase.run().timeoutMs());
        boundSeconds = allowedMs == 0 ? patienceSeconds : Math.max(patienceSeconds, allowedMs / 1_000 + 5);
        for (Object parameter : flowCase.parameters()) {
            RunProbe probe = new RunProbe(flowCase, upstreams, parameter, monitor);
            runs.add(new CaseRun(flowCase, plan, probe, pool, started));
        }
    }

    /** Performs the repetition. Its failures are the complaints of the monitor and of {@link Judge}. */
    void play() throws InterruptedException {
        long until = Monitor.inSeconds(boundSeconds);
        runs.forEach(CaseRun::begin);
        followScript(until);
        if (!monitor.await(this::haveReturned, until) && !returnsWhileThreadsRun()) {
            monitor.complain("run() must return, and had not after " + boundSeconds + " s");
        }
        monitor.openAll();
        if (!monitor.read(this::haveReturned)) {
            runs.forEach(CaseRun::giveUp);
        }
        if (!monitor.await(this::isQuiet, Monitor.inSeconds(QUIET_SECONDS))) {
            threads = threads.isEmpty() ? EngineThreads.inside() : threads;
            monitor.complain(
                    "every action must return once all gates are open, and one had not after " + QUIET_SECONDS + " s");
        } else {
            runs.forEach(CaseRun::close);
        }
    }

    /**
     * Waits on while a thread of the engine is running or ready to run: on a busy machine that is slow, not hung. Keeps
     * the stacks of the threads if it is hung.
     */
    private boolean returnsWhileThreadsRun() throws InterruptedException {
        for (int extensions = MAX_EXTENSIONS; extensions > 0; extensions--) {
            threads = EngineThreads.inside();
            if (threads.stream().noneMatch(EngineThreads::isRunnable)) {
                return false;
            }
            if (monitor.await(this::haveReturned, Monitor.inSeconds(1))) {
                threads = List.of();
                return true;
            }
        }
        return false;
    }

    private void followScript(long until) throws InterruptedException {
        for (ScriptStep step : flowCase.script()) {
            BooleanSupplier met = () -> isMet(step);
            if (!monitor.await(() -> met.getAsBoolean() || isOver(), until) || !monitor.read(met::getAsBoolean)) {
                monitor.complain("the script's condition \"" + step + "\" was never met");
                return;
            }
            switch (step.then()) {
                case ScriptStep.NOTHING -> {}
                case ScriptStep.CANCEL -> cancel(step, until);
                default -> monitor.gate(step.then()).countDown();
            }
        }
    }

    private void cancel(ScriptStep step, long until) throws InterruptedException {
        monitor.await(() -> runs.stream().allMatch(CaseRun::hasStarted), until);
        for (CaseRun run : runsOf(step)) {
            run.cancel("cancelled by the script");
        }
    }

    private List<CaseRun> runsOf(ScriptStep step) {
        return runs.stream()
                .filter(run -> step.parameter() == null || step.parameter().equals(String.valueOf(run.probe.parameter)))
                .toList();
    }

    private boolean isMet(ScriptStep step) {
        return runsOf(step).stream().map(run -> run.probe).allMatch(probe -> switch (step.condition()) {
            case "started" -> probe.node(step.node()).entered > 0;
            case "terminal" -> probe.node(step.node()).reported > 0;
            case "ended" -> probe.node(step.node()).ended > 0;
            case "runReturned" -> probe.hasReturned();
            default -> true;
        });
    }

    /** Returns whether no further event can occur. */
    private boolean isOver() {
        return haveReturned() && isQuiet();
    }

    private boolean haveReturned() {
        return runs.stream().allMatch(run -> run.probe.hasReturned());
    }

    private boolean isQuiet() {
        return runs.stream().allMatch(run -> run.probe.isQuiet());
    }

    /** Returns the stacks of the threads that hung, or an empty list. */
    List<String> threads() {
        return threads;
    }
}
