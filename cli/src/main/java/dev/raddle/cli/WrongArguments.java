package dev.raddle.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is wrong with the arguments of a command, so that all of it is reported at once. For one thread. */
final class WrongArguments {
    private final List<String> problems = new ArrayList<>();

    interface Reading<T> {
        T read() throws IOException;
    }

    void add(String problem) {
        problems.add(problem);
    }

    void addIf(boolean isWrong, String problem) {
        if (isWrong) {
            problems.add(problem);
        }
    }

    boolean isEmpty() {
        return problems.isEmpty();
    }

    /** Returns the value, or null if it is invalid, which is added. */
    <T> @Nullable T valid(String name, Reading<T> reading) throws IOException {
        try {
            return reading.read();
        } catch (IllegalArgumentException e) {
            problems.add(name + " " + e.getMessage());
            return null;
        }
    }

    /** Returns the value, or the least if it is less, which is added. */
    int atLeast(String option, int least, int value) {
        addIf(value < least, option + " must be at least " + least + ", was " + value);
        return Math.max(least, value);
    }

    /** Returns the text of a message with all that was added. */
    String text() {
        return String.join("\nraddle: ", problems);
    }
}
