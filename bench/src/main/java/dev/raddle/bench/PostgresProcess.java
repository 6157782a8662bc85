package dev.raddle.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tukaani.xz.XZInputStream;

/**
 * A real server on a free port of the loopback address, which forces each commit to the disk, and a pool of connections
 * to it. PostgreSQL refuses to run as root; then it runs in a user namespace, in which its user is not root.
 */
final class PostgresProcess implements AutoCloseable {

    /** The unpacked programs; another jar has another directory. */
    private static final Path PROGRAMS = BenchDirectory.TARGET.resolve("postgres-"
            + Integer.toHexString(
                    String.valueOf(PostgresProcess.class.getResource(archive())).hashCode()));

    private static final String ROOT = "root";
    private static final int CONNECTIONS = 40;

    private final BenchDirectory directory;
    private final ServerProcess server;
    private final HikariDataSource pool;

    private PostgresProcess(BenchDirectory directory, ServerProcess server, HikariDataSource pool) {
        this.directory = directory;
        this.server = server;
        this.pool = pool;
    }

    /** Returns why there is no server for this machine, or an empty text. */
    static String missing() {
        if (PostgresProcess.class.getResource(archive()) == null) {
            return "no jar has the programs of PostgreSQL for this machine, "
                    + archive().substring(1);
        }
        return isRoot() && !Files.isExecutable(Path.of("/usr/bin/unshare"))
                ? "PostgreSQL does not run as root, and there is no /usr/bin/unshare"
                : "";
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals(ROOT);
    }

    private static String archive() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm_64" : "x86_64";
        return "/postgres-" + system + "-" + processor + ".txz";
    }

    static PostgresProcess start() throws IOException, SQLException {
        unpack();
        BenchDirectory directory = BenchDirectory.create("durable-postgres");
        Path log = directory.path().resolve("log");
        String data = directory.path().resolve("data").toString();
        ServerProcess.run(command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--locale=C", "-N"), log);
        int port = ServerProcess.freePort();
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&socketTimeout=60";
        ServerProcess server = ServerProcess.start(
                command("postgres", "-D", data, "-p", Integer.toString(port), "-h", "127.0.0.1", "-k", ""),
                Map.of(),
                log,
                () -> answers(url));
        PostgresProcess started = new PostgresProcess(directory, server, pool(url));
        try {
            started.requireOn("fsync");
            started.requireOn("synchronous_commit");
            return started;
        } catch (SQLException | RuntimeException failure) {
            started.close();
            throw failure;
        }
    }

    private static List<String> command(String program, String... arguments) {
        List<String> words = new ArrayList<>(isRoot() ? List.of("unshare", "-U") : List.of());
        words.add(PROGRAMS.resolve("bin").resolve(program).toString());
        words.addAll(List.of(arguments));
        return words;
    }

    /** Unpacks the programs once for each build directory. */
    private static void unpack() throws IOException {
        if (Files.exists(PROGRAMS)) {
            return;
        }
        try (BenchDirectory directory = BenchDirectory.create("postgres")) {
            Path programs = Files.createDirectory(directory.path().resolve("programs"));
            Path tar = directory.path().resolve("tar");
            try (InputStream packed = PostgresProcess.class.getResourceAsStream(archive());
                    OutputStream to = Files.newOutputStream(tar)) {
                new XZInputStream(packed).transferTo(to);
            }
            ServerProcess.run(
                    List.of("tar", "-x", "-f", tar.toString(), "-C", programs.toString()),
                    directory.path().resolve("log"));
            Files.move(programs, PROGRAMS, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static boolean answers(String url) {
        try (Connection connection = DriverManager.getConnection(url)) {
            return connection.isValid(1);
        } catch (SQLException notYet) {
            return false;
        }
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        return new HikariDataSource(config);
    }

    private void requireOn(String setting) throws SQLException {
        String value = query("SHOW " + setting);
        if (!value.equals("on")) {
            throw new IllegalStateException(setting + " must be on, was " + value);
        }
    }

    HikariDataSource pool() {
        return pool;
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Returns the first column of the only row. */
    String query(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    long count(String from) throws SQLException {
        return Long.parseLong(query("SELECT count(*) FROM " + from));
    }

    @Override
    public void close() {
        pool.close();
        server.close();
        directory.close();
    }
}
