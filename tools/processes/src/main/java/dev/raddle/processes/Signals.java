package dev.raddle.processes;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Signals to processes that the test has started, by their ids. */
public final class Signals {
    private Signals() {}

    /** Stops a process as a stopped virtual machine is stopped: it notices nothing but the time that has passed. */
    public static void stop(Process process) {
        send("-STOP", process);
    }

    public static void proceed(Process process) {
        send("-CONT", process);
    }

    /** Lets a PostgreSQL server end at once, as in a crash; its next start repairs the data from the log. */
    public static void quit(Process process) {
        send("-QUIT", process);
        awaitEnd(process);
    }

    /** Kills a process and waits until it is gone. */
    public static void kill(Process process) {
        process.destroyForcibly();
        awaitEnd(process);
    }

    /** Waits until a process is gone, also if this thread is interrupted. */
    static void awaitEnd(Process process) {
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

    private static void send(String signal, Process process) {
        if (!process.isAlive()) {
            return; // its id may be that of another process by now
        }
        try {
            Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .start();
            if (kill.waitFor() != 0 && process.isAlive()) {
                throw new IllegalStateException("cannot signal process " + process.pid());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
