package dev.raddle.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs programs of the JDK, mostly JVMs, in separate processes. */
public final class Jvm {

    private static final Path BIN = Path.of(System.getProperty("java.home"), "bin");

    private Jvm() {}

    /** Runs a test class with options of the JVM, and returns its output. Fails unless its exit code is 0. */
    public static String run(Class<?> program, String... options) throws Exception {
        return run(program, List.of(), options);
    }

    /** Runs a test class with arguments and with options of the JVM. */
    public static String run(Class<?> program, List<String> arguments, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(BIN.resolve("java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classes() + File.pathSeparator + testClasses(), program.getName()));
        command.addAll(arguments);
        return run(command);
    }

    /** Runs a command to its end, and returns its output. Fails unless its exit code is 0. */
    public static String run(List<String> command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JAVA_TOOL_OPTIONS"); // a JVM prints a line if this is set
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes());
            assertThat(process.waitFor()).as(output).isZero();
            return output.strip();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Returns the directory of the classes under test. */
    public static Path classes() throws Exception {
        return Path.of(VirtualTime.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }

    /** Returns the directory of the test classes, also if they are patched into the module. */
    public static Path testClasses() throws Exception {
        Path own = Path.of(
                Jvm.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path sibling = classes().resolveSibling("test-classes");
        return own.equals(classes()) && Files.isDirectory(sibling) ? sibling : own;
    }
}
