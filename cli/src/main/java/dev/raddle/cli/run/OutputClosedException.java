package dev.raddle.cli.run;

import java.io.IOException;

/** Thrown when the reader of an output has closed it, which is not an error of this process. */
public final class OutputClosedException extends IOException {
    private static final long serialVersionUID = 1;

    public OutputClosedException(IOException cause) {
        super("the output is closed: " + cause.getMessage(), cause);
    }
}
