package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.time.Deadline;

/** The enclosure of a task with a timeout: whatever is begun inside the task has no more time than the task. */
final class TimedEnclosure extends EnclosingScope {

    private final ScopeNode scope;
    private final String task;
    private final Deadline deadline;

    TimedEnclosure(ScopeNode scope, String task, Deadline deadline) {
        this.scope = scope;
        this.task = task;
        this.deadline = deadline;
    }

    ScopeNode scope() {
        return scope;
    }

    @Override
    public Deadline deadline() {
        return deadline;
    }

    @Override
    public String label() {
        return "task \"" + task + "\"";
    }

    @Override
    public EnclosingScope enclosing() {
        return scope;
    }
}
