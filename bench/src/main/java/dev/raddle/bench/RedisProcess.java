package dev.raddle.bench;

import dev.raddle.processes.ProcessDirectory;
import dev.raddle.processes.ServerProcess;
import dev.raddle.processes.ServerProgram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import redis.embedded.core.ExecutableProvider;

/** A real server on a free port of the loopback address, without persistence. */
final class RedisProcess implements AutoCloseable {

    private final ServerProcess server;

    private RedisProcess(ServerProcess server) {
        this.server = server;
    }

    static RedisProcess start() throws IOException {
        Path executable = ExecutableProvider.newJarResourceProvider().get().toPath();
        ServerProcess server = new ServerProcess(new Program(executable), ProcessDirectory.create("raddle-redis"));
        server.start();
        return new RedisProcess(server);
    }

    private record Program(Path executable) implements ServerProgram {

        @Override
        public ProcessBuilder command(ServerProcess server) {
            String port = Integer.toString(server.port(0));
            return new ProcessBuilder(List.of(
                    executable.toString(), "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"));
        }

        @Override
        public boolean isReady(ServerProcess server) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port(0))) {
                return socket.isConnected();
            } catch (IOException notYet) {
                return false;
            }
        }
    }

    String uri() {
        return "redis://127.0.0.1:" + server.port(0);
    }

    @Override
    public void close() {
        server.close();
    }
}
