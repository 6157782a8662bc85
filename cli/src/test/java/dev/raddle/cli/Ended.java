package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What a command has printed in this JVM, and its exit code. */
record Ended(int exitCode, String out, String err) {

    /** Runs the command. */
    static Ended raddle(String... arguments) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream newOut = new ByteArrayOutputStream();
        ByteArrayOutputStream newErr = new ByteArrayOutputStream();
        System.setOut(new PrintStream(newOut, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(newErr, true, StandardCharsets.UTF_8));
        try {
            int exitCode = Main.run(arguments);
            return new Ended(
                    exitCode, newOut.toString(StandardCharsets.UTF_8), newErr.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    /** Returns what the command has printed, after checking that it has succeeded. */
    String succeeded() {
        assertThat(err).isEmpty();
        assertThat(exitCode).isZero();
        return out;
    }
}
