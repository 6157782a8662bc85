package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Failure;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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

    /**
     * Returns a stream that throws {@link OutputClosedException} when its reader has closed it, and otherwise, such as
     * for a full disk, an exception that names it.
     */
    public static OutputStream guarded(OutputStream stream, String name, boolean terminal) {
        return new FilterOutputStream(stream) {
            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                try {
                    out.write(bytes, from, length);
                } catch (IOException e) {
                    throw terminal || isClosed(e)
                            ? new OutputClosedException(e)
                            : new IOException(name + " cannot be written: " + Failure.text(e), e);
                }
            }
        };
    }

    /** Returns why this process could not write to its standard output, which a PrintStream does not say. */
    public static IOException failureOfOutput() {
        OutputStream out = guarded(new FileOutputStream(FileDescriptor.out), "standard output", false);
        try {
            out.write(new byte[] {'\n'});
            return new IOException("standard output could not be written");
        } catch (IOException e) {
            return e;
        }
    }

    private static boolean isClosed(IOException e) {
        Posix posix = Posix.get();
        return posix == null
                ? !String.valueOf(e.getMessage()).contains("space")
                : posix.isClosed(String.valueOf(e.getMessage()));
    }
}
