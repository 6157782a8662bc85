package dev.raddle.cli.file;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The kind of thread that starts a command and waits for it. */
public enum ThreadKind {
    /** A platform thread from a pool of the group. */
    PLATFORM,
    /** A new virtual thread for each task. */
    VIRTUAL;

    /** The words of a run file, in the order in which messages list them. */
    static final List<String> WORDS =
            Arrays.stream(values()).map(ThreadKind::text).toList();

    /** Returns the word in a run file. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    static ThreadKind of(String word) {
        return values()[WORDS.indexOf(word)];
    }
}
