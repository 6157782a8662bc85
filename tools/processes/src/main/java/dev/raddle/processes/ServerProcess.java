package dev.raddle.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A real server on free ports of the loopback interface, with a directory of its own. Closing it kills it by its
 * process id and deletes the directory; a JVM that ends without closing does the same.
 *
 * <p>The server is a child of this JVM, which always awaits its end. So the system counts the CPU time of the server as
 * that of an ended child of this JVM.
 */
public final class ServerProcess implements AutoCloseable {
    private static final int ATTEMPTS = 5;

    private final ServerProgram program;
    private final ProcessDirectory directory;
    private final Thread atExit = new Thread(this::end, "end-of-server");
    private int[] ports = {};
    private @Nullable Process process; // null if it does not run

    /**
     * Creates a server that is not yet started.
     *
     * @param directory an empty directory, which is deleted with the server
     */
    public ServerProcess(ServerProgram program, ProcessDirectory directory) {
        this.program = program;
        this.directory = directory;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Starts the server on free ports, and returns when it is ready. */
    public void start() {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            ports = program.ports();
            if (launch()) {
                return;
            }
            kill(); // another process may have taken a port before the server did
        }
        String log = log();
        close();
        throw new IllegalStateException("the server does not start:\n" + log);
    }

    /** Starts a killed server on its ports with its data, and returns when it is ready. */
    public void restart() {
        if (!launch()) {
            throw new IllegalStateException("the server does not start again:\n" + log());
        }
    }

    /** Starts a killed server on its ports without any data, and returns when it is ready. */
    public void restartEmpty() {
        ProcessDirectory.delete(data());
        restart();
    }

    private boolean launch() {
        try {
            Files.createDirectories(data());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Process started = directory.start(program.command(this).directory(data().toFile()));
        process = started;
        return Await.within(Await.BOUND, () -> !started.isAlive() || program.isReady(this)) && started.isAlive();
    }

    /** Ends the server as a crash does. */
    public void kill() {
        Process running = process;
        if (running != null) {
            program.kill(running);
            process = null;
        }
    }

    /** Stops the process as a machine without processor time does. */
    public void pause() {
        Signals.stop(running());
    }

    public void proceed() {
        Signals.proceed(running());
    }

    private Process running() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("the server is not running");
        }
        return running;
    }

    public long pid() {
        return running().pid();
    }

    /**
     * Returns a port of the server, which it keeps when it is restarted.
     *
     * @param index the index in the ports of its program
     */
    public int port(int index) {
        return ports[index];
    }

    public Path directory() {
        return directory.path();
    }

    /** Returns the directory in which the server runs and has its data. */
    public Path data() {
        return directory().resolve("data");
    }

    /** Returns what the server has printed. */
    public String log() {
        return directory.log();
    }

    @Override
    public void close() {
        end();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    private void end() {
        kill();
        directory.close();
    }
}
