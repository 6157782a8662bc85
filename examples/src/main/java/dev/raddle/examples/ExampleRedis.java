package dev.raddle.examples;

import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A Redis or Valkey server for an example: that of the environment variable {@code RADDLE_REDIS}, or one of a program
 * on the PATH, which runs on a free port of this machine, stores nothing, and ends with the example.
 */
public final class ExampleRedis implements AutoCloseable {

    private final RedisURI uri;
    private final Optional<Process> started;
    private final Thread atExit = new Thread(this::end);

    private ExampleRedis(RedisURI uri, Optional<Process> started) {
        this.uri = uri;
        this.started = started;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /**
     * Finds or starts a server.
     *
     * @param environment the variables {@code RADDLE_REDIS} and {@code PATH}
     * @return the server, or empty if there is neither an address nor a program
     * @throws IOException if the program does not start
     */
    public static Optional<ExampleRedis> find(Map<String, String> environment) throws IOException {
        String address = environment.get("RADDLE_REDIS");
        if (address != null) {
            return Optional.of(new ExampleRedis(RedisURI.create(address), Optional.empty()));
        }
        for (String directory : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            for (String name : List.of("redis-server", "valkey-server")) {
                Path program = Path.of(directory, name);
                if (Files.isExecutable(program)) {
                    return Optional.of(start(program));
                }
            }
        }
        return Optional.empty();
    }

    private static ExampleRedis start(Path program) throws IOException {
        String port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = Integer.toString(free.getLocalPort());
        }
        Process process = new ProcessBuilder(program.toString(), "--bind", "127.0.0.1", "--port", port, "--save", "")
                .redirectErrorStream(true)
                .start();
        ExampleRedis server = new ExampleRedis(RedisURI.create("redis://127.0.0.1:" + port), Optional.of(process));
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        String line = lines.readLine();
        while (line != null && !line.contains("Ready to accept connections")) {
            line = lines.readLine();
        }
        if (line == null) {
            server.close();
            throw new IOException(program + " does not start");
        }
        return server;
    }

    /**
     * Returns the address.
     *
     * @return the address, for {@link dev.raddle.redis.RedisFleet#connect}
     */
    public RedisURI uri() {
        return uri;
    }

    /** Ends the server, if it was started here. */
    @Override
    public void close() {
        end();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    private void end() {
        started.ifPresent(process -> {
            process.destroy();
            process.onExit().join();
        });
    }
}
