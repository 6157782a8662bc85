package dev.raddle.console;

import java.io.Serial;

/** Thrown to answer a request with a status of 4xx or 5xx and a sentence. */
final class Refusal extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    final int status;

    Refusal(int status, String sentence) {
        super(sentence, null, false, false);
        this.status = status;
    }

    String sentence() {
        return String.valueOf(getMessage());
    }
}
