package dev.raddle.redis;

import dev.raddle.processes.Await;
import dev.raddle.processes.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
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
            @Nullable RedisServer master) {
        static final Options PLAIN = new Options(false, false, null, null);
        /** Every write is on the disk before it is answered. */
        static final Options DURABLE = new Options(true, false, null, null);

        static Options replicaOf(RedisServer master) {
            return new Options(true, false, null, master);
        }

        static Options protectedBy(String password) {
            return new Options(false, false, password, null);
        }

        /** One node with all slots. */
        static final Options CLUSTER = new Options(false, true, null, null);
    }

    private static final int CLUSTER_SLOTS = 16_384;
    private static final int ATTEMPTS = 5;

    private final ServerKind kind;
    private final Options options;
    private final Path directory;
    private final Thread atExit = new Thread(this::end, "end-of-redis");
    private @Nullable RedisServer master; // null also after the promotion
    private int port;
    private @Nullable Process process;

    private RedisServer(ServerKind kind, Options options) throws IOException {
        this.kind = kind;
        this.options = options;
        master = options.master();
        directory = Files.createTempDirectory("raddle-redis-");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    static RedisServer start(ServerKind kind, Options options) {
        try {
            RedisServer server = new RedisServer(kind, options);
            server.startOnFreePort();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return port;
    }

    ServerKind kind() {
        return kind;
    }

    /** Kills the server, with SIGKILL. */
    void kill() {
        Process running = process;
        if (running != null) {
            Signals.kill(running);
            process = null;
        }
    }

    /** Starts a killed server on its port with the data that it had on its disk. */
    void restart() {
        if (!launch()) {
            throw new IllegalStateException(kind + " does not start again on port " + port + ":\n" + log());
        }
    }

    /** Starts a killed server on its port without any data. */
    void restartEmpty() {
        deleteTree(false);
        restart();
    }

    /** Stops the process as a machine without processor time does. */
    void pause() {
        Signals.stop(running());
    }

    void proceed() {
        Signals.proceed(running());
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
        Resp resp = new Resp(port);
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

    private Process running() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("the server is not running");
        }
        return running;
    }

    /*
     * Another process may take the port between the look for a free one and the start, or the port of the cluster bus,
     * which is 10 000 higher.
     */
    private void startOnFreePort() throws IOException {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            port = freePort();
            if (launch()) {
                if (options.cluster()) {
                    becomeCluster();
                }
                return;
            }
            kill();
        }
        String log = log();
        close();
        throw new IOException(kind + " does not start:\n" + log);
    }

    private static int freePort() throws IOException {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (socket.getLocalPort() < 50_000) { // the cluster bus has to fit above
                    return socket.getLocalPort();
                }
            }
        }
    }

    private boolean launch() {
        try {
            Process started = new ProcessBuilder(commandLine())
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
                    .start();
            process = started;
            return Await.within(Await.BOUND, () -> !started.isAlive() || answers(started.pid())) && started.isAlive();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether the process serves the port, and not one that took it before, and has loaded its data. */
    private boolean answers(long pid) {
        try (Resp resp = connect()) {
            String info = String.valueOf(resp.command("INFO"));
            return info.contains("process_id:" + pid + "\r\n") && info.contains("\r\nloading:0");
        } catch (IOException e) {
            return false; // not yet
        }
    }

    private List<String> commandLine() {
        List<String> words = new ArrayList<>(List.of(kind.executable().toString(), "--bind", "127.0.0.1"));
        Collections.addAll(words, "--port", Integer.toString(port), "--dir", directory.toString());
        Collections.addAll(words, "--save", "", "--appendonly", options.keepsData() ? "yes" : "no");
        Collections.addAll(words, "--appendfsync", "always", "--repl-diskless-sync-delay", "0");
        if (options.cluster()) {
            Collections.addAll(words, "--cluster-enabled", "yes");
        }
        if (options.password() != null) {
            Collections.addAll(words, "--requirepass", options.password());
        }
        RedisServer source = master;
        if (source != null) {
            Collections.addAll(words, "--replicaof", "127.0.0.1", Integer.toString(source.port));
        }
        return words;
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

    private Path logFile() {
        return directory.resolve("log");
    }

    private String log() {
        try {
            return Files.readString(logFile());
        } catch (IOException e) {
            return "no log: " + e;
        }
    }

    @Override
    public void close() {
        end();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    private void end() {
        kill();
        deleteTree(true);
    }

    /** Deletes what the server has written, with the log and the directory itself if all is set. */
    private void deleteTree(boolean all) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (all || !file.equals(directory) && !file.equals(logFile())) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return kind + " on port " + port;
    }
}
