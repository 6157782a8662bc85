package dev.raddle.cli.file;

import java.util.ArrayList;
import java.util.List;

/**
 * Everything that is wrong with the input, in the order in which it was found. Reading goes on after a problem, so that
 * one go shows them all. For one thread.
 */
public final class Problems {
    private final List<Problem> found = new ArrayList<>();

    public void add(Location at, String text) {
        found.add(new Problem(at, text));
    }

    public int count() {
        return found.size();
    }

    public List<Problem> list() {
        return List.copyOf(found);
    }

    public void throwIfAny() throws InvalidFileException {
        if (!found.isEmpty()) {
            throw new InvalidFileException(found);
        }
    }
}
