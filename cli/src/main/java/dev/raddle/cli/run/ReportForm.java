package dev.raddle.cli.run;

import java.io.IOException;

/** An additional form of the report, besides the JSON file. */
@FunctionalInterface
public interface ReportForm {

    /**
     * Writes the report of a run that has ended.
     *
     * @throws IOException if it cannot be written
     */
    void write(Report report) throws IOException;
}
