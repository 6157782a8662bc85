package dev.raddle.cli;

import dev.raddle.cli.file.InvalidFileException;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A run file that has been read, from where the user wrote it or from a run directory. */
record RunFile(RunDirectory.Origin origin) {

    static RunFile of(Path path) throws IOException, InvalidFileException {
        Path directory = path.toAbsolutePath().normalize().getParent();
        Path beside = directory == null ? Path.of("/") : directory;
        String text = PlanReader.decoded(path.toString(), Files.readAllBytes(path));
        return new RunFile(new RunDirectory.Origin(
                path.toString(), beside, text, name -> Files.readAllBytes(beside.resolve(name))));
    }

    Plan plan() throws InvalidFileException {
        return new PlanReader(origin.file(), origin.directory(), origin.inputs()).read(origin.text());
    }
}
