package dev.raddle.cli.file.value;

import java.util.ArrayList;
import java.util.List;

/**
 * The problems found in the input, in order of discovery. Reading continues after a problem, so that all are reported
 * together. For one thread.
 */
public final class Problems {
    private final List<Problem> found = new ArrayList<>();
    private Secrets secrets = Secrets.NONE;

    /** Hides secrets in the texts of all problems. */
    public void hide(Secrets values) {
        secrets = values;
    }

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
            throw new InvalidFileException(found.stream()
                    .map(problem -> new Problem(masked(problem.at()), secrets.mask(problem.text())))
                    .toList());
        }
    }

    private Location masked(Location at) {
        return new Location(secrets.mask(at.file()), at.line(), at.column());
    }
}
