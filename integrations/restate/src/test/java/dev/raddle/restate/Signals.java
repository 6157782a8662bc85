package dev.raddle.restate;

/** Ends processes that the test has started, by their ids. */
final class Signals {
    private Signals() {}

    /** Kills a process and waits until it is gone. */
    static void kill(Process process) {
        process.destroyForcibly();
        boolean interrupted = false;
        while (true) {
            try {
                process.waitFor();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
