package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The end of an attempt. */
sealed interface AttemptEnd {
    int BY_SIGNAL = 128;
    int LAST_SIGNAL = 64;

    /** Returns a description of the end, if the attempt did not succeed. */
    String text();

    /** Returns how the process ended; null if none was started, or after a timeout. */
    default ChildProcess.@Nullable Exit exit() {
        return null;
    }

    default @Nullable Integer exitCode() {
        ChildProcess.Exit exit = exit();
        return exit == null ? null : (Integer) exit.code();
    }

    /** Returns what the process has used, or null if that is unknown. */
    default @Nullable Usage usage() {
        ChildProcess.Exit exit = exit();
        return exit == null ? null : exit.usage();
    }

    default boolean succeeded() {
        return false;
    }

    /** Returns whether a process was started. */
    default boolean started() {
        return true;
    }

    /** Returns the number of the signal that an exit code stands for, or 0. */
    static int signal(int exitCode) {
        return exitCode > BY_SIGNAL && exitCode <= BY_SIGNAL + LAST_SIGNAL ? exitCode - BY_SIGNAL : 0;
    }

    /** The process ended by itself, or by a signal from another process. */
    record Exited(ChildProcess.Exit exit) implements AttemptEnd {
        @Override
        public boolean succeeded() {
            return exit.code() == 0;
        }

        @Override
        public String text() {
            int signal = signal(exit.code());
            return "exit code " + exit.code() + (signal > 0 ? " (signal " + signal + ")" : "");
        }
    }

    /** The process was ended because its timeout passed. */
    record TimedOut(Duration timeout, @Nullable Usage usage) implements AttemptEnd {
        @Override
        public String text() {
            return "ran out of time after " + Durations.text(timeout) + " (its timeout)";
        }
    }

    /** No process was started. */
    record NotStarted(String text) implements AttemptEnd {
        @Override
        public boolean started() {
            return false;
        }
    }

    /** The process was ended with the run, or had not been started yet. */
    record Stopped(ChildProcess.@Nullable Exit exit) implements AttemptEnd {
        @Override
        public String text() {
            return "stopped";
        }

        @Override
        public boolean started() {
            return exit != null;
        }
    }
}
