package dev.raddle.cli.help;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.ArgSpec;

/** What a shell can propose as the value of an option or of an argument. */
enum Values {
    /** One of some words. */
    CHOICE,
    FILE,
    DIRECTORY,
    /** A task of a run file. */
    TASK,
    /** A program, and after it what that program takes. */
    COMMAND,
    /** Nothing that could be proposed. */
    FREE;

    static Values of(ArgSpec arg) {
        String label = arg.paramLabel();
        if (arg.completionCandidates() != null) {
            return CHOICE;
        }
        if (arg.type() == Path.class) {
            return label.endsWith("DIR") ? DIRECTORY : FILE;
        }
        return label.equals("CMD") ? COMMAND : label.equals("TASK") ? TASK : FREE;
    }

    /** Returns the words of a {@link #CHOICE}. */
    static List<String> choices(ArgSpec arg) {
        List<String> words = new ArrayList<>();
        Iterable<String> candidates = arg.completionCandidates();
        if (candidates != null) {
            candidates.forEach(words::add);
        }
        return words;
    }
}
