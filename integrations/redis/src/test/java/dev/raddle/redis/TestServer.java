package dev.raddle.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/** A server process on a free port of the loopback interface, for tests. */
final class TestServer implements AutoCloseable {

    private final String binary;
    private final List<String> more;
    private final Path directory;
    final int port;
    private Process process;

    private TestServer(String binary, String... more) throws IOException {
        this.binary = binary;
        this.more = List.of(more);
        directory = Files.createTempDirectory("raddle-redis");
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        start();
    }

    static TestServer start(String binary, String... more) throws IOException {
        return new TestServer(binary, more);
    }

    /** Returns the servers that are here: the embedded one, and those on the path. */
    static List<String> binaries() throws IOException {
        List<String> found = new ArrayList<>();
        found.add(ExecutableProvider.newJarResourceProvider().get().getAbsolutePath());
        for (String name : List.of("redis-server", "valkey-server")) {
            Stream.of(System.getenv("PATH").split(":"))
                    .map(folder -> Path.of(folder, name))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .ifPresent(path -> found.add(path.toString()));
        }
        return found;
    }

    static String versionOf(String binary) {
        try {
            Process version = new ProcessBuilder(binary, "--version").start();
            return new String(version.getInputStream().readAllBytes())
                    .replaceFirst(" sha=.*", "")
                    .strip();
        } catch (IOException failure) {
            return binary + ": " + failure.getMessage();
        }
    }

    void start() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                binary, "--port", "" + port, "--bind", "127.0.0.1", "--save", "", "--dir", directory.toString()));
        command.addAll(more);
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        while (!accepts()) {
            if (!process.isAlive()) {
                throw new IOException(Files.readString(directory.resolve("log")));
            }
            Thread.onSpinWait();
        }
    }

    private boolean accepts() {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write("PING\r\n".getBytes());
            return socket.getInputStream().read() == '+';
        } catch (IOException notYet) {
            return false;
        }
    }

    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        kill();
    }
}
