package dev.raddle.cli.run;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Finds programs in the way of a shell. */
final class Programs {
    private static final Pattern SEPARATOR = Pattern.compile(File.pathSeparator, Pattern.LITERAL);

    /** How much of the first line of a script Linux reads. */
    private static final int MAX_LINE = 255;

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

    /** Returns why a program is missing for the system: itself, or what is to execute it. */
    static String missing(String name, Path directory) {
        Path file = directory.resolve(find(name));
        if (!Files.isRegularFile(file)) {
            return "there is no such program";
        }
        if (!name.contains("/") && find(name).equals(name)) {
            return "there is no such program on the PATH; the one in its directory is ./" + name;
        }
        String interpreter = interpreter(file);
        if (interpreter.isEmpty()) {
            return "the program is there, but not what the system loads it with";
        }
        return interpreter.endsWith("\r")
                ? "its first line ends with a carriage return; write the file with the line ends of Unix"
                : "its interpreter \"" + interpreter + "\" does not exist";
    }

    /** Returns the program that the first line of a script names, or an empty text. */
    private static String interpreter(Path script) {
        try (InputStream stream = Files.newInputStream(script)) {
            String text = new String(stream.readNBytes(MAX_LINE), StandardCharsets.UTF_8);
            if (!text.startsWith("#!")) {
                return "";
            }
            String line = text.substring(2).split("\n", 2)[0];
            return line.stripLeading().split("[ \t]", 2)[0];
        } catch (IOException e) {
            return "";
        }
    }
}
