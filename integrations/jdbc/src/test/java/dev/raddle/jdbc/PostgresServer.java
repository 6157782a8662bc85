package dev.raddle.jdbc;

import dev.raddle.processes.Await;
import dev.raddle.processes.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One real server on a loopback port of its own, with a directory of its own, which forces every commit to the disk.
 * Closing it ends it by its process id and removes the directory; a JVM that ends without closing does the same.
 *
 * <p>PostgreSQL refuses to run as root. Then it is started in a user namespace, where its user is not root, or as
 * another user.
 */
final class PostgresServer implements AutoCloseable {

    private static final int ATTEMPTS = 5;
    private static final String NOBODY = "65534";

    /** The words before a command line that run it as somebody who is not root. */
    private static final List<String> AS_OTHER = asOther();

    private final ServerKind kind;
    private final Path directory;
    private final Thread atExit = new Thread(this::end, "end-of-postgres");
    private int port;
    private @Nullable Process process;

    private PostgresServer(ServerKind kind) throws IOException {
        this.kind = kind;
        directory = Files.createTempDirectory("raddle-postgres-data-");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    private static List<String> asOther() {
        if (!System.getProperty("user.name").equals("root")) {
            return List.of();
        }
        try {
            if (new ProcessBuilder("unshare", "-U", "true").start().waitFor() == 0) {
                return List.of("unshare", "-U");
            }
        } catch (IOException noSuchProgram) {
            // the other way remains
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
    }

    /** Returns whether the server runs as a user who does not own what this JVM writes. */
    static boolean needsOtherUser() {
        return AS_OTHER.contains("setpriv");
    }

    static PostgresServer start(ServerKind kind) {
        try {
            PostgresServer server = new PostgresServer(kind);
            server.create();
            server.startOnFreePort();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ServerKind kind() {
        return kind;
    }

    String url() {
        return url("postgres");
    }

    String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database
                + "?user=postgres&connectTimeout=5&socketTimeout=60";
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** Ends the server as a crash does: nothing is answered, all connections break. */
    void crash() {
        Process running = process;
        if (running != null) {
            Signals.quit(running);
            process = null;
        }
    }

    /** Starts a server that has crashed, on its port with what it had committed. */
    void restart() {
        if (!launch()) {
            throw new IllegalStateException(kind + " does not start again on port " + port + ":\n" + log());
        }
    }

    private void create() throws IOException {
        if (needsOtherUser()) {
            allowOthers(directory);
            run("chown", NOBODY, directory.toString());
        }
        List<String> words = command("initdb");
        words.addAll(List.of("-D", data().toString(), "-U", "postgres", "-A", "trust", "-E", "UTF8"));
        words.addAll(List.of("--locale=C", "--no-sync"));
        run(words.toArray(String[]::new));
    }

    private Path data() {
        return directory.resolve("data");
    }

    private List<String> command(String program) {
        List<String> words = new ArrayList<>(AS_OTHER);
        words.add(kind.programs().resolve(program).toString());
        return words;
    }

    private void startOnFreePort() throws IOException {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = socket.getLocalPort();
            }
            if (launch()) {
                return;
            }
            crash();
        }
        String log = log();
        close();
        throw new IOException(kind + " does not start:\n" + log);
    }

    private boolean launch() {
        List<String> words = command("postgres");
        words.addAll(List.of("-D", data().toString(), "-p", Integer.toString(port), "-h", "127.0.0.1", "-k", ""));
        words.addAll(List.of("-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "log_lock_waits=on"));
        try {
            Process started = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
                    .start();
            process = started;
            return Await.within(Await.BOUND, () -> !started.isAlive() || answers()) && started.isAlive();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean answers() {
        try (Connection connection = connect()) {
            return connection.isValid(1);
        } catch (SQLException notYet) {
            return false;
        }
    }

    private void run(String... words) throws IOException {
        try {
            Process command = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
                    .start();
            if (command.waitFor() != 0) {
                throw new IOException(List.of(words) + " has failed:\n" + log());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Lets other users read a directory. */
    static void allowOthers(Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path logFile() {
        return directory.resolveSibling(directory.getFileName() + ".log");
    }

    String log() {
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
        crash();
        deleteTree(directory);
        deleteTree(logFile());
    }

    static void deleteTree(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            System.out.println("cannot delete " + directory + ": " + e);
        }
    }

    @Override
    public String toString() {
        return kind + " on port " + port;
    }
}
