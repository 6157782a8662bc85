package dev.raddle.cli.file.value;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The maximum size of a file that is read as a whole. */
public enum FileSize {
    /** Run files, and data files that are a single JSON array: their parsed form takes many times their size. */
    PARSED(16, "put data into a file that forEach names, such as .jsonl or .csv"),
    /** Data files that are read line by line or record by record. */
    LINES(64, "let raddle map read it from standard input, or split it");

    private static final int MIB = 1 << 20;

    private final int mebibytes;
    private final String advice;

    FileSize(int mebibytes, String advice) {
        this.mebibytes = mebibytes;
        this.advice = advice;
    }

    int bytes() {
        return mebibytes * MIB;
    }

    /** Reads a file, but only as much of it as is needed to detect that it is too large. */
    public byte[] read(Path path) throws IOException {
        try (InputStream input = Files.newInputStream(path)) {
            return read(input);
        }
    }

    /** Reads a stream, but only as much of it as is needed to detect that it is too large. */
    public byte[] read(InputStream input) throws IOException {
        return input.readNBytes(bytes() + 1);
    }

    /** Returns whether the content is small enough, and adds a problem if it is not. */
    public boolean allows(byte[] content, String file, Problems problems) {
        if (content.length <= bytes()) {
            return true;
        }
        problems.add(
                new Location(file, 1, 1),
                "the file must have at most " + mebibytes + " MiB (" + bytes() + " bytes), it has more; " + advice);
        return false;
    }
}
