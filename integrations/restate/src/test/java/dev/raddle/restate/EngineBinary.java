package dev.raddle.restate;

import dev.raddle.processes.RestateServer;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The executable of the engine, from its npm package. It is installed once, with scripts off, into a directory under
 * target, or found where {@code RADDLE_RESTATE_SERVER} says.
 *
 * @param path the executable, null if there is none
 * @param problem why there is none, empty if there is one
 */
record EngineBinary(Path path, String problem) {
    static final String VERSION = "1.7.12";

    private static final Path REPOSITORY = Path.of("..", "..");
    private static final long INSTALL_SECONDS = 120;

    /** Returns the executable, installing it if this is the first call on this machine. */
    static EngineBinary find() {
        Path executable = RestateServer.executable(REPOSITORY);
        try {
            return System.getenv(RestateServer.VARIABLE) == null
                    ? installed(executable)
                    : new EngineBinary(executable, "");
        } catch (IOException e) {
            return missing("Restate's server could not be installed: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return missing("interrupted while Restate's server was installed");
        }
    }

    boolean isMissing() {
        return !problem.isEmpty();
    }

    private static EngineBinary missing(String problem) {
        return new EngineBinary(Path.of(""), problem);
    }

    /** Two test JVMs may be here at once, so the installation is under the lock of a file. */
    private static EngineBinary installed(Path executable) throws IOException, InterruptedException {
        Path directory = Path.of("target", "restate-server").toAbsolutePath();
        Files.createDirectories(directory);
        Path done = directory.resolve("installed-" + VERSION);
        try (RandomAccessFile lockFile =
                        new RandomAccessFile(directory.resolve("lock").toFile(), "rw");
                FileLock lock = lockFile.getChannel().lock()) {
            if (!Files.exists(done)) {
                String problem = install(directory);
                if (!problem.isEmpty() || !Files.exists(executable)) {
                    return missing("no Restate server " + VERSION + " at " + executable + ": " + problem);
                }
                Files.createFile(done);
            }
        }
        return new EngineBinary(executable, "");
    }

    /** Returns the problem, or an empty text. */
    private static String install(Path directory) throws IOException, InterruptedException {
        List<String> command = List.of(
                "npm",
                "install",
                "--ignore-scripts",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--prefix",
                directory.toString(),
                "@restatedev/restate-server@" + VERSION);
        File log = directory.resolve("npm.log").toFile();
        Process npm;
        try {
            npm = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log)
                    .start();
        } catch (IOException e) {
            return "there is no npm here: " + e.getMessage();
        }
        if (!npm.waitFor(INSTALL_SECONDS, TimeUnit.SECONDS)) {
            npm.destroyForcibly();
            return "npm took longer than " + INSTALL_SECONDS + " s";
        }
        return npm.exitValue() == 0 ? "" : "npm failed: " + Files.readString(log.toPath());
    }
}
