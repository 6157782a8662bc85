package dev.raddle.cli.run;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Finds programs as a shell does. */
final class Programs {
    private static final Pattern SEPARATOR = Pattern.compile(File.pathSeparator, Pattern.LITERAL);

    private Programs() {}

    /** The path of a program; the name itself if it is a path already or there is no such program. */
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
