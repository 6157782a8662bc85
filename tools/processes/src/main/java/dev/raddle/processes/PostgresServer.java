package dev.raddle.processes;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A real PostgreSQL server, which forces every commit to the disk. The driver is that of the caller's class path.
 *
 * <p>PostgreSQL refuses to run as root. Then it is started in a user namespace, where its user is not root, or as
 * another user.
 */
public final class PostgresServer implements AutoCloseable {
    private static final String NOBODY = "65534";

    /** The words before a command line that run it as a user who is not root. */
    private static final List<String> AS_OTHER = asOther();

    private final Path programs;
    private final List<String> settings;
    private final ServerProcess process;

    private PostgresServer(Path programs, ProcessDirectory directory, List<String> settings) {
        this.programs = programs;
        this.settings = settings;
        process = new ServerProcess(new Program(), directory);
    }

    /**
     * Starts a server without any tables.
     *
     * @param programs the directory that has been {@linkplain #unpack unpacked}
     * @param directory the directory of the server, which is deleted with it
     * @param settings settings such as {@code max_connections=200}
     */
    public static PostgresServer start(Path programs, ProcessDirectory directory, String... settings) {
        PostgresServer server = new PostgresServer(programs, directory, List.of(settings));
        if (needsOtherUser()) {
            directory.run(List.of("chown", NOBODY, directory.path().toString()));
        }
        directory.run(
                server.commandLine("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"));
        server.process.start();
        return server;
    }

    private List<String> commandLine(String program, String... options) {
        List<String> words = new ArrayList<>(AS_OTHER);
        words.add(programs.resolve("bin").resolve(program).toString());
        words.addAll(List.of("-D", process.data().toString()));
        words.addAll(List.of(options));
        return words;
    }

    private final class Program implements ServerProgram {
        @Override
        public ProcessBuilder command(ServerProcess server) {
            String port = Integer.toString(server.port(0));
            List<String> words = commandLine("postgres", "-p", port, "-h", "127.0.0.1", "-k", "");
            settings.forEach(setting -> words.addAll(List.of("-c", setting)));
            return new ProcessBuilder(words);
        }

        @Override
        public boolean isReady(ServerProcess server) {
            try (Connection connection = connect()) {
                return connection.isValid(1);
            } catch (SQLException notYet) {
                return false;
            }
        }

        /** Lets the server end and await its own processes, which would outlive it and whose CPU time would be lost. */
        @Override
        public void kill(Process process) {
            Signals.quit(process);
        }
    }

    public String url() {
        return url("postgres");
    }

    public String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + process.port(0) + "/" + database
                + "?user=postgres&connectTimeout=5&socketTimeout=60";
    }

    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** Ends the server as a crash does: nothing is answered, all connections break. */
    public void crash() {
        process.kill();
    }

    /** Starts a server that has crashed, on its port with what it had committed. */
    public void restart() {
        process.restart();
    }

    @Override
    public void close() {
        process.close();
    }

    // Its programs, and the user who runs them.

    /** Returns the name of the archive with the programs for this machine, which a jar has. */
    public static String archive() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm_64" : "x86_64";
        return "postgres-" + system + "-" + processor + ".txz";
    }

    /**
     * Unpacks the programs.
     *
     * @param tar the archive, decompressed
     */
    public static void unpack(InputStream tar, Path directory) throws IOException {
        Process program = new ProcessBuilder("tar", "-x", "-C", directory.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (OutputStream to = program.getOutputStream()) {
            tar.transferTo(to);
        }
        Signals.awaitEnd(program);
        if (program.exitValue() != 0) {
            throw new IOException("tar cannot unpack the programs of PostgreSQL into " + directory);
        }
        if (needsOtherUser()) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    /** Returns whether servers run as a user who must be allowed to read what this JVM writes. */
    public static boolean needsOtherUser() {
        return AS_OTHER.contains("setpriv");
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
}
