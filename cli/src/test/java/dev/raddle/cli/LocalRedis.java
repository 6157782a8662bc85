package dev.raddle.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.jspecify.annotations.Nullable;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/** A real server on a free port of the loopback address, without persistence. Closing it ends its process. */
final class LocalRedis implements AutoCloseable {
    private static final int ATTEMPTS = 5;

    private final RedisServer server;

    private LocalRedis(RedisServer server) {
        this.server = server;
    }

    static LocalRedis start(@Nullable String password) throws IOException {
        for (int attempt = 1; ; attempt++) {
            RedisServerBuilder builder = RedisServer.newRedisServer()
                    .bind("127.0.0.1")
                    .port(freePort())
                    .setting("save \"\"")
                    .setting("appendonly no");
            RedisServer server = builder.settingIf(password != null, "requirepass " + password)
                    .build();
            try {
                server.start();
                return new LocalRedis(server);
            } catch (IOException e) { // another process may have taken the port
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    String uri() {
        return "redis://127.0.0.1:" + port();
    }

    int port() {
        return server.ports().getFirst();
    }

    @Override
    public void close() throws IOException {
        server.stop();
    }
}
