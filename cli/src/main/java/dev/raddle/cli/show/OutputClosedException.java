package dev.raddle.cli.show;

import java.io.IOException;

/** Thrown when the reader of a console has closed it. */
public final class OutputClosedException extends IOException {
    private static final long serialVersionUID = 1;

    OutputClosedException(IOException cause) {
        super("the output is closed: " + cause.getMessage(), cause);
    }
}
