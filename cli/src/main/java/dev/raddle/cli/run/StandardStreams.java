package dev.raddle.cli.run;

import java.util.Optional;

/** The standard streams of this process. */
public final class StandardStreams {
    private StandardStreams() {}

    /**
     * Returns whether a standard stream is a terminal; empty if the operating system cannot be asked without starting a
     * process.
     *
     * @param descriptor 0 for standard input, 1 for standard output, 2 for standard error
     */
    public static Optional<Boolean> isTerminal(int descriptor) {
        Posix posix = Posix.get();
        return posix == null ? Optional.empty() : Optional.of(posix.isTerminal(descriptor));
    }
}
