package dev.raddle.cli.file.data;

import java.io.IOException;

/** Reads the data files that a run file names. */
@FunctionalInterface
public interface InputFiles {

    /** Returns the content of a file, identified by its name in the run file. */
    byte[] read(String name) throws IOException;
}
