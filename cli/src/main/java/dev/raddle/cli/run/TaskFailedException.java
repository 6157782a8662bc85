package dev.raddle.cli.run;

/** A task of a flow has not succeeded; what became of it is told elsewhere. */
final class TaskFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    TaskFailedException(TaskResult result) {
        super("task \"" + result.id() + "\" " + result.state().text() + ": " + result.error(), null, false, false);
    }
}
