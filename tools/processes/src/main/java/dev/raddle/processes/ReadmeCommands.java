package dev.raddle.processes;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The commands of a README that start Java programs, run as a reader runs them: in a shell, after the lines that set
 * {@code classes} to a class path.
 *
 * @param readme the file
 * @param root the directory in which the commands run
 * @param output an existing directory for what they print
 */
public record ReadmeCommands(Path readme, Path root, Path output) {

    /**
     * Returns the command for a program, with other arguments.
     *
     * @throws AssertionError if there is none
     */
    public String commandOf(Class<?> program, String... arguments) throws IOException {
        String name = Pattern.quote(program.getName());
        Matcher command =
                Pattern.compile("(?m)^java -cp \"\\$classes\" " + name + "\\b").matcher(text());
        if (!command.find()) {
            throw new AssertionError(readme + " has no command for " + program.getName());
        }
        return command.group() + (arguments.length == 0 ? "" : " '" + String.join("' '", arguments) + "'");
    }

    private String text() throws IOException {
        return Files.readString(readme);
    }

    /**
     * Runs a command with the JDK of this JVM, and returns the lines that it prints.
     *
     * @throws AssertionError if its exit code is not zero
     */
    public List<String> run(String command) throws IOException, InterruptedException {
        StringBuilder script = new StringBuilder();
        text().lines()
                .filter(line -> line.startsWith("classes="))
                .forEach(line -> script.append(line).append('\n'));
        Path out = output.resolve("out");
        Path err = output.resolve("err");
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", script + "exec " + command)
                .directory(root.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        shell.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        Path java = Path.of(System.getProperty("java.home"), "bin");
        shell.environment().merge("PATH", java.toString(), (before, mine) -> mine + File.pathSeparator + before);
        Process process = shell.start();
        int exitCode;
        try {
            exitCode = process.waitFor();
        } finally {
            process.destroyForcibly(); // if this thread was interrupted
        }
        List<String> lines = Files.readAllLines(out, StandardCharsets.UTF_8);
        if (exitCode != 0) {
            throw new AssertionError(command + " has ended with " + exitCode + ":\n" + String.join("\n", lines) + "\n"
                    + Files.readString(err));
        }
        return lines;
    }
}
