package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;

/** One time that a case is played: its runs, its script, and how both ended. */
final class Repetition {

    private static final long CLEANING_SECONDS = 5;

    final FlowCase flowCase;
    final List<CaseRun> runs = new ArrayList<>();
    final Stage stage = new Stage();
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
            RunProbe probe = new RunProbe(flowCase, upstreams, parameter, stage);
            runs.add(new CaseRun(flowCase, plan, probe, pool, started));
        }
    }

    /** Plays it. What goes wrong is found in the stage's complaints and by the judge. */
    void play() throws InterruptedException {
        long until = Stage.inSeconds(boundSeconds);
        runs.forEach(CaseRun::begin);
        followScript(until);
        if (!stage.await(this::haveReturned, until)) {
            threads = EngineThreads.inside();
            stage.complain("run() must return, and had not after " + boundSeconds + " s");
        }
        stage.openAll();
        if (!stage.look(this::haveReturned)) {
            runs.forEach(CaseRun::giveUp);
        }
        if (!stage.await(this::isQuiet, Stage.inSeconds(CLEANING_SECONDS))) {
            threads = threads.isEmpty() ? EngineThreads.inside() : threads;
            stage.complain("every action must return once all gates are open, and one had not after " + CLEANING_SECONDS
                    + " s");
        } else {
            runs.forEach(CaseRun::close);
        }
    }

    private void followScript(long until) throws InterruptedException {
        for (ScriptStep step : flowCase.script()) {
            BooleanSupplier met = () -> isMet(step);
            if (!stage.await(() -> met.getAsBoolean() || isOver(), until) || !stage.look(met::getAsBoolean)) {
                stage.complain("the script waited in vain for " + step);
                return;
            }
            switch (step.then()) {
                case ScriptStep.NOTHING -> {}
                case ScriptStep.CANCEL -> cancel(step, until);
                default -> stage.gate(step.then()).countDown();
            }
        }
    }

    private void cancel(ScriptStep step, long until) throws InterruptedException {
        stage.await(() -> runs.stream().allMatch(CaseRun::isThere), until);
        for (CaseRun run : concerned(step)) {
            run.cancel("the script said so");
        }
    }

    private List<CaseRun> concerned(ScriptStep step) {
        return runs.stream()
                .filter(run -> step.parameter() == null || step.parameter().equals(String.valueOf(run.probe.parameter)))
                .toList();
    }

    private boolean isMet(ScriptStep step) {
        return concerned(step).stream().map(run -> run.probe).allMatch(probe -> switch (step.condition()) {
            case "started" -> probe.node(step.node()).entered > 0;
            case "terminal" -> probe.node(step.node()).reported > 0;
            case "ended" -> probe.node(step.node()).ended > 0;
            case "runReturned" -> probe.hasReturned();
            default -> true;
        });
    }

    /** Can nothing happen any more that a script could wait for? */
    private boolean isOver() {
        return haveReturned() && isQuiet();
    }

    private boolean haveReturned() {
        return runs.stream().allMatch(run -> run.probe.hasReturned());
    }

    private boolean isQuiet() {
        return runs.stream().allMatch(run -> run.probe.isQuiet());
    }

    /** Returns the stacks of the threads that hung, if any did. */
    List<String> threads() {
        return threads;
    }
}
