package dev.raddle.restate;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** A {@link CrashWorker} in a process of its own. */
final class WorkerProcess implements AutoCloseable {
    private final Process process;
    private final Thread atExit;
    private int port; // 0 if not known yet

    /** Starts a worker, without waiting until it serves. */
    WorkerProcess(Path directory) {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                CrashWorker.class.getName(),
                directory.toString());
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        atExit = new Thread(process::destroyForcibly, "end-of-worker");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    private int readPort(BufferedReader lines) {
        try {
            for (String line; (line = lines.readLine()) != null; ) {
                if (line.startsWith(CrashWorker.READY)) {
                    Thread.ofVirtual().start(() -> lines.lines().forEach(this::print));
                    return Integer.parseInt(line.substring(CrashWorker.READY.length()));
                }
                print(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("the worker ended at once");
    }

    private void print(String line) {
        System.out.println("worker " + process.pid() + ": " + line);
    }

    /** Waits until the worker serves, and returns its port. */
    int port() {
        if (port == 0) {
            port = readPort(process.inputReader());
        }
        return port;
    }

    long pid() {
        return process.pid();
    }

    /** Kills the worker, with SIGKILL. */
    void kill() {
        Signals.kill(process);
    }

    @Override
    public void close() {
        kill();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }
}
