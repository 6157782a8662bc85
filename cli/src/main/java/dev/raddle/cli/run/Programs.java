package dev.raddle.cli.run;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Finds programs in the way of a shell. */
final class Programs {
    private static final Pattern SEPARATOR = Pattern.compile(File.pathSeparator, Pattern.LITERAL);

    private Programs() {}

    /** Returns the path of a program, or the name itself if it is already a path or the program is not found. */
    static String find(String name) {
        String path = System.getenv("PATH");
        if (name.contains("/") || name.isEmpty() || path == null) {
            return name;
        }
        for (String directory : SEPARATOR.split(path, -1)) {
            Path candidate = Path.of(directory.isEmpty() ? "." : directory, name);
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate.toAbsolutePath().toString();
            }
        }
        return name;
    }
}
