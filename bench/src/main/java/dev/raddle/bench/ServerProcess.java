package dev.raddle.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A server that is a child of this process, with a log file. Its CPU time counts as that of this process, because this
 * process awaits its end.
 */
final class ServerProcess implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final Process process;
    private final Path log;

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a server, and returns when it is ready. */
    static ServerProcess start(List<String> command, Map<String, String> environment, Path log, BooleanSupplier isReady)
            throws IOException {
        ServerProcess server = new ServerProcess(launch(command, environment, log), log);
        Runtime.getRuntime().addShutdownHook(new Thread(server.process::destroy)); // if the JVM is ended
        server.awaitReady(isReady);
        return server;
    }

    /** Runs a program to its end. */
    static void run(List<String> command, Path log) throws IOException {
        ServerProcess program = new ServerProcess(launch(command, Map.of(), log), log);
        program.awaitEnd();
        if (program.process.exitValue() != 0) {
            throw program.failure("fails");
        }
    }

    private static Process launch(List<String> command, Map<String, String> environment, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Returns a port of the loopback address that is free at the moment. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitReady(BooleanSupplier isReady) throws IOException {
        long begin = System.nanoTime();
        while (!isReady.getAsBoolean()) {
            if (!process.isAlive() || System.nanoTime() - begin > PATIENCE) {
                process.destroyForcibly();
                throw failure("does not start");
            }
            Flood.sleep(20);
        }
    }

    private IOException failure(String what) throws IOException {
        return new IOException(
                process.info().commandLine().orElse("the program") + " " + what + ":\n" + Files.readString(log));
    }

    /** Requests the server to end, and waits until it has. */
    @Override
    public void close() {
        process.destroy();
        awaitEnd();
    }

    /** Ends the server at once. */
    void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    private void awaitEnd() {
        try {
            if (!process.waitFor(PATIENCE, TimeUnit.NANOSECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
