package dev.raddle.cli.show;

import java.io.IOException;

/** Nobody reads what is written to a console any more. */
public final class OutputClosedException extends IOException {
    private static final long serialVersionUID = 1;

    OutputClosedException(IOException cause) {
        super("the output is closed: " + cause.getMessage(), cause);
    }
}
