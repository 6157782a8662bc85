package dev.raddle.cli.file.value;

import java.util.List;

/** Thrown for a file that cannot be run; contains every problem in it. */
public final class InvalidFileException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    /** Creates the exception for at least one problem. */
    public InvalidFileException(List<Problem> problems) {
        super(problems.size() + (problems.size() == 1 ? " problem" : " problems"));
        this.problems = List.copyOf(problems);
    }

    public List<Problem> problems() {
        return problems;
    }
}
