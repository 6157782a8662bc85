package dev.raddle.cli.run;

/** Thrown when a task of a flow has not succeeded; its result is reported elsewhere. */
final class TaskFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    TaskFailedException(TaskResult result) {
        super("task \"" + result.id() + "\" " + result.state().text() + ": " + result.error(), null, false, false);
    }
}
