package dev.raddle.cli.file;

import java.util.List;

/** A file that cannot be run, with every problem in it. */
public final class InvalidFileException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    InvalidFileException(List<Problem> problems) {
        super(problems.size() + (problems.size() == 1 ? " problem" : " problems"));
        this.problems = List.copyOf(problems);
    }

    public List<Problem> problems() {
        return problems;
    }
}
