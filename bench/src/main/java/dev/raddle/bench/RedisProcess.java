package dev.raddle.bench;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import redis.embedded.core.ExecutableProvider;

/**
 * A real server on a free port of the loopback address, without persistence. Its CPU time counts as that of this
 * process, because it is a child whose end this process awaits.
 */
final class RedisProcess implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    private final Process process;
    private final int port;

    private RedisProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    static RedisProcess start() throws IOException {
        File program = ExecutableProvider.newJarResourceProvider().get();
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Process process = new ProcessBuilder(
                        program.getPath(),
                        "--bind",
                        "127.0.0.1",
                        "--port",
                        Integer.toString(port),
                        "--save",
                        "",
                        "--appendonly",
                        "no")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly)); // if the benchmark fails
        RedisProcess server = new RedisProcess(process, port);
        server.awaitReady();
        return server;
    }

    private void awaitReady() throws IOException {
        long begin = System.nanoTime();
        while (!accepts()) {
            if (!process.isAlive() || System.nanoTime() - begin > PATIENCE) {
                process.destroyForcibly();
                throw new IOException("the server on port " + port + " does not start");
            }
            Flood.sleep(5);
        }
    }

    private boolean accepts() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    String uri() {
        return "redis://127.0.0.1:" + port;
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE, TimeUnit.NANOSECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
