package dev.raddle.cli.file;

import java.io.IOException;

/** Where the data files that a run file names are read from. */
@FunctionalInterface
public interface InputFiles {

    /** The content of a file, by the name that the run file gives it. */
    byte[] read(String name) throws IOException;
}
