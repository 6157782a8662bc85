package dev.raddle.cli.run;

import dev.raddle.cli.file.Need;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.TaskFlow;
import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.template.DeferredCommand;
import dev.raddle.cli.file.template.DeferredCondition;
import dev.raddle.cli.file.template.Reference;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.flow.Dependency;
import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowJournal;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.MemoryJournal;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.OnFailure;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.ExceptionSink;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Runs a plan with dependencies: every task is a node of one flow, and waits and runs in its group. */
final class PlanFlow {
    /** The maximum size of a value that is passed to a command in a variable; Linux allows slightly more. */
    static final int MAX_VALUE_BYTES = 120_000;

    /*
     * Overview.
     *
     * The flow decides when a task is ready, skipped or impossible, and FlowStep runs it in its group and makes its
     * attempts. The end of each task is reported by exactly one of two: its action, if that has begun, otherwise the
     * result callback of its node; FlowStep determines which of them came first.
     *
     * A stop cancels the flow, so that no further node becomes ready. That does not interrupt nodes: running processes
     * are ended, or given time to end, by Stop and Threads, and their tasks report their results as in a run without
     * dependencies.
     *
     * The values that a task provides to others are stored in its step before its node ends, and so before any task
     * that depends on it begins.
     */
    private final Plan plan;
    private final GroupRunner runner;
    private final Stop stop;
    private final Set<String> only;
    private final Set<String> selected; // the targets and all their upstream tasks
    private final OnFailure onFailure;
    private final Past past;
    private final Map<String, FlowStep> steps = new LinkedHashMap<>();
    private final Set<String> unmet = ConcurrentHashMap.newKeySet(); // tasks whose condition did not hold
    private final NotStartedReasons reasons;

    /**
     * Creates a run of a plan.
     *
     * @param past the record of earlier runs: a task that succeeded and was not undone does not run again, and one that
     *     did not succeed runs even if no other task needs it any more
     */
    PlanFlow(
            Plan plan,
            Map<String, OutputFiles> outputs,
            Set<String> only,
            OnFailure onFailure,
            Past past,
            GroupRunner runner,
            Stop stop) {
        this.plan = plan;
        this.past = past;
        this.onFailure = onFailure;
        this.runner = runner;
        this.stop = stop;
        this.only = Set.copyOf(only);
        this.selected = plan.closure(only);
        for (PlannedTask task : plan.tasks()) {
            OutputFiles output = Objects.requireNonNull(outputs.get(task.id()));
            steps.put(task.id(), new FlowStep(task, output, runner, stop));
        }
        this.reasons = new NotStartedReasons(plan, this::result);
    }

    /** Returns the tasks whose standard output a task reads. */
    static List<String> read(PlannedTask task, Set<String> ids) {
        return task.flow().references().stream()
                .filter(reference -> reference.kind() == Reference.Kind.STDOUT)
                .flatMap(reference -> subjects(task, reference, ids).stream())
                .toList();
    }

    /** Returns the candidates of a reference; it stands for the first that succeeds. */
    private static List<String> subjects(PlannedTask task, Reference reference, Set<String> ids) {
        String id = reference.subject();
        return ids.contains(id) ? List.of(id) : task.flow().onlyUpstream();
    }

    private @Nullable TaskResult result(String id) {
        return step(id).result();
    }

    private FlowStep step(String id) {
        return Objects.requireNonNull(steps.get(id), id);
    }

    // Starting.

    /** Starts the flow. Does not wait for it. */
    void start() {
        FlowBuilder<Void> builder = FlowPlan.define(plan.name());
        Map<String, Node<TaskResult>> nodes = new HashMap<>();
        steps.forEach((id, step) -> nodes.put(id, node(builder, step)));
        FlowPlan<Void, ?> flow = plan.results().isEmpty()
                ? builder.build()
                : builder.returning(plan.results().stream()
                        .map(id -> Objects.requireNonNull(nodes.get(id)))
                        .toList());
        MemoryJournal restored = FlowJournal.inMemory(); // what is kept is written by Journal, in the order of events
        ExceptionSink log = ExceptionSink.logging();
        RunOptions options = RunOptions.defaults()
                .withExceptionSink(ExceptionSink.to((source, error) -> {
                    if (!(error instanceof TaskFailedException)) { // which a stop may overtake
                        log.report(source, masked(error));
                    }
                }))
                .withGroups(this::step)
                .withJournal(restored)
                .onFailure(onFailure)
                .only(only.toArray(String[]::new));
        runner.startOne();
        steps.forEach((id, step) -> {
            TaskResult done = past.done(id);
            if (done != null) {
                step.restore(done);
                restored.record(Entry.NodeEnded.succeeded(id, done));
            }
        });
        FlowRun<?> run = flow.start(null, options);
        stop.onceRequested(() -> run.cancel("the run was stopped"));
        Thread.ofVirtual().name("raddle-flow").start(() -> await(run));
    }

    private Throwable masked(Throwable error) {
        return plan.secrets().isEmpty() ? error : new IOException(plan.secrets().mask(Failure.text(error)));
    }

    private void await(FlowRun<?> run) {
        try {
            if (run.join().status() == FlowStatus.DEGRADED) {
                runner.degrade();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // no thread interrupts this one
        } finally {
            runner.finishOne();
        }
    }

    private Node<TaskResult> node(FlowBuilder<Void> builder, FlowStep step) {
        TaskFlow rules = step.task().flow();
        Node<TaskResult> node = builder.node(step.task().id(), (NodeContext<Void> context) -> run(step));
        for (Need need : rules.needs()) {
            node.needs(dependencies(need));
        }
        // Each node has a unique key: its step has the group, and also the priority and the cost.
        node.group(step.task().id()).noInterrupt().onResult(report -> onNodeEnd(step, report));
        DeferredCondition when = rules.when();
        if (when != null) {
            node.when(context -> holds(step, when));
        }
        if (rules.essential() || past.unsuccessful().contains(step.task().id())) {
            node.essential();
        }
        DeferredCommand undo = rules.undo();
        if (undo != null) {
            node.compensate(result -> undo(step, undo));
        }
        return node;
    }

    private static Dependency<?>[] dependencies(Need need) {
        String[] ids = need.ids().toArray(String[]::new);
        return switch (need.kind()) {
            case MUST -> need.ids().stream().map(Dependency::must).toArray(Dependency<?>[]::new);
            case OPTIONAL -> need.ids().stream().map(Dependency::optional).toArray(Dependency<?>[]::new);
            case AFTER -> need.ids().stream().map(Dependency::after).toArray(Dependency<?>[]::new);
            case ANY -> new Dependency<?>[] {Dependency.anyOf(ids)};
            case AT_LEAST -> new Dependency<?>[] {Dependency.atLeast(need.least(), ids)};
        };
    }

    // Running.

    private TaskResult run(FlowStep step) throws TaskFailedException {
        if (!step.begin()) {
            throw new TaskFailedException(Objects.requireNonNull(step.result()));
        }
        try {
            TaskResult result = attempt(step);
            step.end(result);
            if (!result.succeeded()) {
                throw new TaskFailedException(result);
            }
            return result;
        } finally {
            step.finish();
        }
    }

    private TaskResult attempt(FlowStep step) {
        PlannedTask task = step.task();
        TaskResult result;
        try {
            DeferredCommand deferred = task.flow().deferred();
            result = step.attempt(
                    deferred == null ? task : task.running(deferred.fill(values(task, deferred.references()))));
        } catch (InvalidRowException | IOException | OutOfMemoryError e) {
            result = TaskResult.unstarted(
                    task, TaskState.FAILED, step.millisSinceReady(), "not started: " + Failure.text(e));
        }
        TaskFlow.Fallback fallback = task.flow().fallback();
        boolean recoverable = result.state() == TaskState.FAILED || result.state() == TaskState.TIMED_OUT;
        return fallback == null || !recoverable || stop.isRequested() ? result : fallBack(step, fallback, result);
    }

    private TaskResult fallBack(FlowStep step, TaskFlow.Fallback fallback, TaskResult failed) {
        AttemptEnd end;
        PlannedTask task = step.task();
        try {
            end = switch (fallback) {
                case TaskFlow.Fallback.Value value -> {
                    keep(step.output(), value.text());
                    yield new AttemptEnd.Exited(new ChildProcess.Exit(0, null));
                }
                case TaskFlow.Fallback.Run run -> {
                    DeferredCommand deferred = run.command();
                    yield runner.launcher()
                            .attempt(
                                    task.running(deferred.fill(values(task, deferred.references()))), 1, step.output());
                }
            };
        } catch (InvalidRowException | IOException | OutOfMemoryError e) {
            end = new AttemptEnd.NotStarted("not started: " + Failure.text(e));
        }
        boolean ran = end.started() && fallback instanceof TaskFlow.Fallback.Run;
        TaskState state = end.succeeded()
                ? TaskState.SUCCEEDED
                : end instanceof AttemptEnd.Stopped ? TaskState.CANCELLED : TaskState.FAILED;
        return failed.withState(state)
                .withAttempts(failed.attempts() + (ran ? 1 : 0), end.succeeded() ? end.exitCode() : failed.exitCode())
                .withTimes(failed.waitMillis(), Math.max(0, step.millisSinceReady() - failed.waitMillis()))
                .withOutput(failed.attempts() > 0 || ran ? step.output().name() : null)
                .withError(end.succeeded() ? failed.error() : failed.error() + "; its fallback: " + end.text())
                .withVia(end.succeeded() ? TaskResult.VIA_FALLBACK : null)
                .withUsage(Usage.sum(failed.usage(), end.usage()));
    }

    private void keep(OutputFiles output, String text) throws IOException {
        if (output.capture() != null) {
            output.capture().write(text, plan.secrets().mask(text));
        }
    }

    private boolean holds(FlowStep step, DeferredCondition when) {
        try {
            boolean holds = when.holds(values(step.task(), when.references()));
            if (!holds) {
                unmet.add(step.task().id());
            }
            return holds;
        } catch (InvalidRowException | IOException e) {
            throw new IllegalStateException(Failure.text(e), e);
        }
    }

    // Values that tasks pass to each other.

    private Map<String, String> values(PlannedTask task, Set<Reference> references) throws IOException {
        Map<String, String> values = new HashMap<>();
        for (Reference reference : references) {
            List<String> subjects = subjects(task, reference, steps.keySet());
            values.put(reference.name(), value(reference.kind(), firstSucceeded(subjects)));
        }
        return values;
    }

    private FlowStep firstSucceeded(List<String> ids) {
        return ids.stream()
                .map(this::step)
                .filter(FlowStep::hasSucceeded)
                .min(Comparator.comparingLong(FlowStep::endedNanos))
                .orElse(step(ids.getFirst()));
    }

    private String value(Reference.Kind kind, FlowStep upstream) throws IOException {
        TaskResult result = upstream.result();
        return switch (kind) {
            case STDOUT -> result != null && result.succeeded() ? printed(upstream) : "";
            case EXIT -> result == null || result.exitCode() == null ? "" : Integer.toString(result.exitCode());
            case STATE -> result == null ? "pending" : result.state().text();
            case PARAM -> throw new IllegalStateException("params are known before the run");
        };
    }

    /** Returns the output of a task without the line breaks at its end, as a shell's $(…) does. */
    private String printed(FlowStep step) throws IOException {
        Capture capture = Objects.requireNonNull(step.output().capture());
        String id = step.task().id();
        if (past.isLost(id, capture)) {
            throw new IOException("the output of \"" + id + "\" is incomplete or missing; restore " + capture.file());
        }
        if (past.isMasked(id)) {
            throw new IOException("the output of \"" + id + "\" contained a secret and was not kept");
        }
        long size = capture.size();
        if (size > MAX_VALUE_BYTES) {
            throw new IOException("the output of \"" + id + "\" must be at most " + MAX_VALUE_BYTES
                    + " bytes to be passed on, was " + size + "; write it to a file and print the file's name");
        }
        String text = capture.text();
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == '\n' || text.charAt(end - 1) == '\r')) {
            end--;
        }
        return text.substring(0, end);
    }

    // Ending without running.

    private void onNodeEnd(FlowStep step, NodeReport<?> report) {
        if (!step.claimWithoutRunning()) {
            return;
        }
        try {
            step.end(withoutRunning(step, report));
        } finally {
            step.finish();
        }
    }

    private TaskResult withoutRunning(FlowStep step, NodeReport<?> report) {
        PlannedTask task = step.task();
        long waited = step.millisSinceReady();
        NotStartedReasons.BlockingUpstream blockingUpstream = reasons.blockingUpstream(task);
        Throwable cause = report.cause();
        if (stop.isRequested()
                && report.state() != NodeState.SKIPPED
                && (blockingUpstream == null || blockingUpstream.state() == TaskState.CANCELLED)) {
            runner.handBack(task.id());
            return TaskResult.unstarted(task, TaskState.CANCELLED, waited, TaskAttempts.NOT_STARTED);
        }
        if (report.state() == NodeState.SKIPPED) {
            return TaskResult.unstarted(task, TaskState.SKIPPED, waited, skipped(task, blockingUpstream));
        }
        if (blockingUpstream != null) {
            return TaskResult.unstarted(
                    task, blockingUpstream.state(), waited, "not started: " + blockingUpstream.text());
        }
        return cause instanceof RejectedTaskException rejected
                ? TaskResult.unstarted(task, TaskState.REJECTED, waited, "rejected, " + rejected.reason())
                : TaskResult.unstarted(task, TaskState.FAILED, waited, "not started: " + Failure.text(cause));
    }

    private String skipped(PlannedTask task, NotStartedReasons.@Nullable BlockingUpstream blockingUpstream) {
        if (unmet.contains(task.id())) {
            return "its condition does not hold";
        }
        if (blockingUpstream != null) {
            return blockingUpstream.text();
        }
        boolean isOutside = !only.isEmpty() && !selected.contains(task.id());
        return isOutside ? "it was not requested" : reasons.unneeded(task);
    }

    // Undoing.

    /** A run that is stopped from outside can be resumed, so nothing is undone then; only a failure is final. */
    private void undo(FlowStep step, DeferredCommand command) throws IOException {
        Stop.Reason reason = stop.reason();
        if (reason != null && reason != Stop.Reason.FAIL_FAST) {
            return;
        }
        PlannedTask task = step.task();
        AttemptEnd end;
        try {
            end = runner.launcher()
                    .undo(
                            task.running(command.fill(values(task, command.references()))),
                            new OutputFiles(
                                    step.output().out(),
                                    null,
                                    true,
                                    step.output().name()));
        } catch (InvalidRowException | IOException e) {
            end = new AttemptEnd.NotStarted("not started: " + Failure.text(e));
        }
        String error = end.succeeded() ? null : end.text();
        runner.post(new RunEvent.TaskUndone(runner.now(), task.id(), task.group(), error));
        if (error != null) {
            throw new IOException("undo of task \"" + task.id() + "\": " + error);
        }
    }
}
