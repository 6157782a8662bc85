package dev.raddle.redis;

import dev.raddle.processes.Await;
import dev.raddle.processes.LoopbackPorts;
import dev.raddle.processes.ProcessDirectory;
import dev.raddle.processes.ServerProcess;
import dev.raddle.processes.ServerProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One real server on a loopback port of its own, with a directory of its own. Closing it kills it by its process id and
 * removes the directory; a JVM that ends without closing does the same.
 */
final class RedisServer implements AutoCloseable {

    /** What a server is started with. */
    record Options(
            boolean keepsData,
            boolean cluster,
            @Nullable String password,
            @Nullable RedisServer master,
            @Nullable RedisServer watched) {
        static final Options PLAIN = new Options(false, false, null, null, null);
        /** Every write is on the disk before it is answered. */
        static final Options DURABLE = new Options(true, false, null, null, null);

        static Options replicaOf(RedisServer master) {
            return new Options(true, false, null, master, null);
        }

        static Options protectedBy(String password) {
            return new Options(false, false, password, null, null);
        }

        /** The only Sentinel of a master, which it calls "main". It replaces the master soon after its death. */
        static Options sentinelOf(RedisServer master) {
            return new Options(false, false, null, null, master);
        }

        /** One node with all slots. */
        static final Options CLUSTER = new Options(false, true, null, null, null);
    }

    private static final int CLUSTER_SLOTS = 16_384;

    private final ServerKind kind;
    private final Options options;
    private final ServerProcess process;
    private @Nullable RedisServer master; // null also after the promotion

    private RedisServer(ServerKind kind, Options options) {
        this.kind = kind;
        this.options = options;
        master = options.master();
        process = new ServerProcess(new Program(), ProcessDirectory.create("raddle-redis"));
    }

    static RedisServer start(ServerKind kind, Options options) {
        RedisServer server = new RedisServer(kind, options);
        server.process.start();
        if (options.cluster()) {
            server.becomeCluster();
        }
        if (options.watched() != null) {
            server.watch(options.watched());
        }
        return server;
    }

    private final class Program implements ServerProgram {

        /** The port of the cluster bus is 10 000 higher. */
        @Override
        public int[] ports() {
            int[] ports;
            do {
                ports = LoopbackPorts.free(1);
            } while (ports[0] >= 50_000);
            return ports;
        }

        @Override
        public ProcessBuilder command(ServerProcess server) {
            if (options.watched() != null) {
                return sentinel(server);
            }
            List<String> words = new ArrayList<>(List.of(kind.executable().toString(), "--bind", "127.0.0.1"));
            Collections.addAll(words, "--port", Integer.toString(port()), "--save", "");
            Collections.addAll(words, "--appendonly", options.keepsData() ? "yes" : "no");
            Collections.addAll(words, "--appendfsync", "always", "--repl-diskless-sync-delay", "0");
            if (options.cluster()) {
                Collections.addAll(words, "--cluster-enabled", "yes");
            }
            if (options.password() != null) {
                Collections.addAll(words, "--requirepass", options.password());
            }
            if (master != null) {
                Collections.addAll(words, "--replicaof", "127.0.0.1", Integer.toString(master.port()));
            }
            return new ProcessBuilder(words);
        }

        private ProcessBuilder sentinel(ServerProcess server) {
            Path file = server.data().resolve("sentinel.conf"); // it writes what it finds there
            try {
                Files.writeString(file, "bind 127.0.0.1\nport " + port() + "\n");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new ProcessBuilder(kind.executable().toString(), file.toString(), "--sentinel");
        }

        /** Returns whether the process serves the port, and not one that took it before, and has loaded its data. */
        @Override
        public boolean isReady(ServerProcess server) {
            try (Resp resp = connect()) {
                String info = String.valueOf(resp.command("INFO"));
                return info.contains("process_id:" + server.pid() + "\r\n")
                        && (options.watched() != null || info.contains("\r\nloading:0"));
            } catch (IOException notYet) {
                return false;
            }
        }
    }

    int port() {
        return process.port(0);
    }

    ServerKind kind() {
        return kind;
    }

    /** Kills the server, with SIGKILL. */
    void kill() {
        process.kill();
    }

    /** Starts a killed server on its port with the data that it had on its disk. */
    void restart() {
        process.restart();
    }

    /** Starts a killed server on its port without any data. */
    void restartEmpty() {
        process.restartEmpty();
    }

    /** Stops the process as a machine without processor time does. */
    void pause() {
        process.pause();
    }

    void proceed() {
        process.proceed();
    }

    /** Makes a replica a master, which it remains after a restart. */
    void promote() {
        master = null;
        command("REPLICAOF", "NO", "ONE");
    }

    /** Waits until this replica has what its master has, also on its disk, where it writes all of it at first. */
    void awaitSynchronized() {
        Await.until("the replica has the data of its master", () -> {
            String info = String.valueOf(command("INFO"));
            return info.contains("master_link_status:up")
                    && info.contains("aof_rewrite_in_progress:0")
                    && info.contains("aof_rewrite_scheduled:0");
        });
    }

    /** Sends one command on a connection of its own. */
    @Nullable
    Object command(String... words) {
        try (Resp resp = connect()) {
            return resp.command(words);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens an authenticated connection. */
    Resp connect() throws IOException {
        Resp resp = new Resp(port());
        try {
            if (options.password() != null) {
                resp.command("AUTH", options.password());
            }
            return resp;
        } catch (IOException e) {
            resp.close();
            throw e;
        }
    }

    private void watch(RedisServer watched) {
        command("SENTINEL", "MONITOR", "main", "127.0.0.1", Integer.toString(watched.port()), "1");
        command("SENTINEL", "SET", "main", "down-after-milliseconds", "500");
        command("SENTINEL", "SET", "main", "failover-timeout", "2000");
    }

    private void becomeCluster() {
        List<String> words = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
        for (int slot = 0; slot < CLUSTER_SLOTS; slot++) {
            words.add(Integer.toString(slot));
        }
        command(words.toArray(String[]::new));
        Await.until(
                "the cluster is complete",
                () -> String.valueOf(command("CLUSTER", "INFO")).contains("cluster_state:ok"));
    }

    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return kind + " on port " + port();
    }
}
