package dev.raddle.processes;

/** What a {@link ServerProcess} starts, and how that is started, awaited and killed. */
public interface ServerProgram {

    /** Returns free ports for one server. */
    default int[] ports() {
        return LoopbackPorts.free(1);
    }

    /** Returns the command that starts the server on its ports. It is executed in the directory of its data. */
    ProcessBuilder command(ServerProcess server);

    /** Returns whether the server serves its ports. Called again until it does. */
    boolean isReady(ServerProcess server);

    /** Ends the process of the server as a crash does, and waits until it is gone. */
    default void kill(Process process) {
        Signals.kill(process);
    }
}
