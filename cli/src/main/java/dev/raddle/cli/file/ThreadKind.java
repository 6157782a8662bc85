package dev.raddle.cli.file;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** In what kind of thread a command is started and waited for. */
public enum ThreadKind {
    /** A thread of the operating system, out of a pool of the group's own. */
    PLATFORM,
    /** A fresh virtual thread for each task. */
    VIRTUAL;

    /** The words of a run file, in the order in which messages name them. */
    static final List<String> WORDS =
            Arrays.stream(values()).map(ThreadKind::text).toList();

    /** The word of a run file. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    static ThreadKind of(String word) {
        return values()[WORDS.indexOf(word)];
    }
}
