package dev.raddle.cli.run;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The processes of this machine, read repeatedly. Thread-safe; concurrent callers share a reading.
 *
 * <p>On Linux all data is read from {@code /proc}. On other systems it comes from the JDK, which cannot read tokens.
 */
final class ProcessTable {
    private static final Path PROC = Path.of("/proc");
    private static final int READABLE_STAT_FIELDS = 49;

    /** All processes, regardless of their age. */
    static final ProcessTable ALL = new ProcessTable(0, hasProc());
    /** Processes that this process may have started: the environment of others is not read. */
    static final ProcessTable YOUNGER =
            new ProcessTable(ALL.startOf(ProcessHandle.current().pid()), hasProc());

    private final long since;
    private final boolean proc;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Snapshot last; // guarded by lock

    /** Creates a table that reads the environment of processes started at or after a moment. */
    ProcessTable(long since, boolean proc) {
        this.since = since;
        this.proc = proc;
    }

    /**
     * A process.
     *
     * @param start the start of the process, in a unit of the table
     * @param runs false for a process that has ended and whose parent has not read its exit status
     * @param tokens the value of {@link ProcessStarter#VARIABLE}, or an empty text
     * @param settled false while the process executes a new program and its environment cannot be read
     */
    record Entry(
            long pid, long parent, long group, long session, long start, boolean runs, String tokens, boolean settled) {

        boolean has(String token) {
            return List.of(tokens.split(" ", -1)).contains(token);
        }
    }

    /** A reading, made completely after a moment. */
    private record Snapshot(long nanoTime, Collection<Entry> entries) {}

    private static boolean hasProc() {
        return Files.isReadable(PROC.resolve("self/stat")) && Files.isReadable(PROC.resolve("self/environ"));
    }

    /** Returns the running processes, in a state not older than the beginning of this call. */
    Collection<Entry> read() {
        long now = System.nanoTime();
        lock.lock();
        try {
            Snapshot known = last;
            if (known == null || known.nanoTime - now < 0) {
                known = new Snapshot(System.nanoTime(), proc ? readProc() : readHandles());
                last = known;
            }
            return known.entries;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the start of a process, or -1 if it does not exist. */
    long startOf(long pid) {
        Entry entry = proc
                ? entry(PROC.resolve(Long.toString(pid)), false)
                : entry(ProcessHandle.of(pid).orElse(null));
        return entry == null ? -1 : entry.start;
    }

    private Collection<Entry> readProc() {
        List<Entry> entries = new ArrayList<>();
        String[] names = new File(PROC.toString()).list((directory, name) -> isNumber(name));
        for (String name : names == null ? new String[0] : names) {
            Entry entry = entry(PROC.resolve(name), true);
            if (entry != null && entry.runs) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private static boolean isNumber(String name) {
        return name.charAt(0) >= '0' && name.charAt(0) <= '9';
    }

    private @Nullable Entry entry(Path directory, boolean withTokens) {
        try {
            String stat = Files.readString(directory.resolve("stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            char state = fields[0].charAt(0);
            boolean runs = state != 'Z' && state != 'X' && state != 'x';
            long start = Long.parseLong(fields[19]);
            boolean reads = withTokens && runs && start >= since;
            byte[] environment = reads ? environment(directory) : new byte[0];
            // A process that executes a new program has memory and no environment; a kernel thread has neither.
            boolean replaces = reads
                    && environment.length == 0
                    && fields.length >= READABLE_STAT_FIELDS
                    && Long.parseUnsignedLong(fields[20]) != 0
                    && fields[48].equals("0")
                    && !directory.endsWith("1") // the first process of a container may hide it
                    && isReadable(directory);
            return new Entry(
                    Long.parseLong(stat.substring(0, stat.indexOf(' '))),
                    Long.parseLong(fields[1]),
                    Long.parseLong(fields[2]),
                    Long.parseLong(fields[3]),
                    start,
                    runs,
                    tokens(environment),
                    !replaces);
        } catch (IOException | IndexOutOfBoundsException e) {
            return null; // the process has ended in the meantime
        }
    }

    private static boolean isReadable(Path directory) {
        return Files.isReadable(directory.resolve("environ"));
    }

    private static byte[] environment(Path directory) throws IOException {
        try {
            return Files.readAllBytes(directory.resolve("environ"));
        } catch (AccessDeniedException e) {
            return new byte[0]; // a process of another user
        }
    }

    private static String tokens(byte[] environment) {
        String text = "\0" + new String(environment, StandardCharsets.ISO_8859_1);
        String name = "\0" + ProcessStarter.VARIABLE + "=";
        int at = text.indexOf(name);
        if (at < 0) {
            return "";
        }
        int end = text.indexOf('\0', at + name.length());
        return text.substring(at + name.length(), end < 0 ? text.length() : end);
    }

    private static Collection<Entry> readHandles() {
        Map<Long, Entry> entries = new LinkedHashMap<>();
        ProcessHandle.allProcesses().forEach(handle -> {
            Entry entry = entry(handle);
            if (entry != null && entry.runs) {
                entries.put(entry.pid, entry);
            }
        });
        return entries.values();
    }

    private static @Nullable Entry entry(@Nullable ProcessHandle handle) {
        if (handle == null) {
            return null;
        }
        ProcessHandle.Info info = handle.info();
        Posix posix = Posix.get();
        return new Entry(
                handle.pid(),
                handle.parent().map(ProcessHandle::pid).orElse(0L),
                posix == null ? -1 : posix.group(handle.pid()),
                posix == null ? -1 : posix.session(handle.pid()),
                info.startInstant().map(Instant::toEpochMilli).orElse(0L),
                handle.isAlive() && info.command().isPresent(),
                "",
                true);
    }
}
