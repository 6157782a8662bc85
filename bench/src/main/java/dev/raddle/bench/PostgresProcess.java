package dev.raddle.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.raddle.processes.PostgresServer;
import dev.raddle.processes.ProcessDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/** A real server, which forces each commit to the disk, and a pool of connections to it. */
final class PostgresProcess implements AutoCloseable {

    /** The unpacked programs; another jar has another directory. */
    private static final Path PROGRAMS = BenchDirectory.TARGET.resolve(
            "postgres-" + Integer.toHexString(String.valueOf(archive()).hashCode()));

    private static final int CONNECTIONS = 40;

    private final PostgresServer server;
    private final HikariDataSource pool;

    private PostgresProcess(PostgresServer server, HikariDataSource pool) {
        this.server = server;
        this.pool = pool;
    }

    /** Returns why there is no server for this machine, or an empty text. */
    static String missing() {
        if (archive() == null) {
            return "no jar has the programs of PostgreSQL for this machine, " + PostgresServer.archive();
        }
        return PostgresServer.needsOtherUser()
                ? "PostgreSQL does not run as root, and unshare does not give it a user namespace"
                : "";
    }

    private static @Nullable URL archive() {
        return PostgresProcess.class.getResource("/" + PostgresServer.archive());
    }

    static PostgresProcess start() throws IOException, SQLException {
        unpack();
        PostgresServer server = PostgresServer.start(PROGRAMS, BenchDirectory.create("durable-postgres"));
        PostgresProcess started = new PostgresProcess(server, pool(server.url()));
        try {
            started.requireOn("fsync");
            started.requireOn("synchronous_commit");
            return started;
        } catch (SQLException | RuntimeException failure) {
            started.close();
            throw failure;
        }
    }

    /** Unpacks the programs once for each build directory. */
    private static void unpack() throws IOException {
        if (Files.exists(PROGRAMS)) {
            return;
        }
        try (ProcessDirectory directory = BenchDirectory.create("postgres");
                InputStream tar = new XZInputStream(archive().openStream())) {
            Path programs = Files.createDirectory(directory.path().resolve("programs"));
            PostgresServer.unpack(tar, programs);
            Files.move(programs, PROGRAMS, StandardCopyOption.ATOMIC_MOVE);
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
    }
}
