package dev.raddle.flow;

import dev.raddle.time.UserCode;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A journal in a file, which survives the end of its process at any time, even by {@code kill -9}.
 *
 * {@snippet :
 * try (FileJournal journal = FileJournal.open(Path.of("checkout.journal"), FlowCodec.text())) {
 *     plan.run(order, RunOptions.defaults().withJournal(journal, "order-17"));
 * }
 * }
 *
 * <p>Each entry is a line with a checksum, and is forced to disk before {@link #record} returns. A line that was
 * truncated by a crash is dropped when the file is opened again: nothing had followed from it. A new file is readable
 * and writable by its owner only, on file systems with such permissions. Instead of the parameter the file contains a
 * digest of it. Only one journal at a time may have a file open, and no other code of the same process should open it:
 * when that code closes the file, many systems release the lock that excludes other processes.
 *
 * <p>If a thread is interrupted while it records, the interrupt status is preserved, and the journal is not affected.
 */
public final class FileJournal implements FlowJournal, Closeable {

    /*
     * Overview. The file is a header and lines, oldest first:
     *
     *   raddle-flow-journal/5
     *   work RUN FLOW PLAN PARAMETER CHECKSUM     the run that the file is bound to; the parameter as a digest
     *   ended ID SUCCESS ACTION 1 7 2026-11-24T10:15:30Z VALUE - CHECKSUM     and other entries, see EntryLines
     *
     * Lines are only appended, and each is on the disk before the next one is written. So a crash can tear the last
     * line only; it is torn if it has no line end or a wrong checksum, and is then removed when the file is opened. A
     * wrong line before the last was not caused by a crash, and the file is refused.
     *
     * A file with a part of a header is refused, too: it might belong to another program, and contains no records.
     */

    private static final String HEADER = "raddle-flow-journal/5";
    private static final String ANY_HEADER = "raddle-flow-journal/";
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final int MAX_BYTES = Integer.MAX_VALUE - 8; // the largest array

    /** Opens a file. */
    interface Opening {
        RandomAccessFile open(File file) throws IOException;
    }

    /*
     * The files that this process has open, by identity rather than name. A file lock belongs to the process, and is
     * lost when any descriptor of the file is closed; so a second descriptor must not even be opened.
     */
    private static final Set<Object> OPEN_FILES = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final Object identity; // in OPEN_FILES until the journal is closed
    private final EntryLines lines;
    private final List<Entry> entries = new ArrayList<>(); // guarded by this
    private final ForcedFile records;
    private final boolean wasBegun; // whether the file had entries when it was opened
    private @Nullable Work bound; // null until the first run; guarded by this

    private FileJournal(Path file, Object identity, RandomAccessFile bytes, FlowCodec codec) throws IOException {
        this.file = file;
        this.identity = identity;
        lines = new EntryLines(codec);
        int whole = read(bytes);
        wasBegun = !entries.isEmpty();
        records = new ForcedFile(bytes, whole, MAX_BYTES, open -> open.getFD().sync());
        if (whole == 0) {
            protect(file);
            records.append((HEADER + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * Opens a journal, and creates the file if it does not exist.
     *
     * @param file the file, in an existing directory
     * @param codec the codec for all values
     * @return a journal with the records of the file
     * @throws IOException if the file cannot be read or written, is not a journal, has 2 GB or more, or is open in this
     *     process or another
     */
    public static FileJournal open(Path file, FlowCodec codec) throws IOException {
        return open(file, codec, path -> new RandomAccessFile(path, "rw"));
    }

    /** Opens a journal; tests can provide a file that fails. */
    static FileJournal open(Path file, FlowCodec codec, Opening opening) throws IOException {
        Object identity = identityOf(file);
        if (!OPEN_FILES.add(identity)) {
            throw openAlready(file);
        }
        RandomAccessFile bytes = null;
        try {
            bytes = opening.open(file.toFile());
            if (!tryLock(bytes.getChannel())) {
                throw openAlready(file);
            }
            return new FileJournal(file, identity, bytes, codec);
        } catch (IOException | RuntimeException | Error failure) {
            try {
                if (bytes != null) {
                    bytes.close();
                }
            } catch (IOException | RuntimeException | Error again) {
                UserCode.addSuppressed(failure, again);
            } finally {
                OPEN_FILES.remove(identity);
            }
            throw failure;
        }
    }

    private static boolean tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException byThisProcess) {
            return false; // locked by code outside this class
        }
    }

    /**
     * Returns an identity that is the same for all names of a file. Creates the file if it does not exist, else does
     * not open it.
     */
    private static Object identityOf(Path file) throws IOException {
        if (Files.notExists(file)) {
            try {
                if (isPosix(file)) {
                    Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
                } else {
                    Files.createFile(file);
                }
            } catch (FileAlreadyExistsException meanwhile) {
                // or a dangling link, which has no attributes either
            }
        }
        Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        return key == null ? file.toRealPath() : key; // not all systems have keys
    }

    /** Makes a file that contained nothing private to its owner. */
    private static void protect(Path file) throws IOException {
        if (isPosix(file)) {
            Files.setPosixFilePermissions(file, OWNER_ONLY);
        }
    }

    private static boolean isPosix(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static IOException openAlready(Path file) {
        return new IOException("journal " + file + " is open already; one run at a time may write it");
    }

    // Reading.

    /** Reads the entries, and returns the length of the valid lines. */
    private int read(RandomAccessFile bytes) throws IOException {
        long length = bytes.length();
        if (length > MAX_BYTES) {
            throw new IOException("journal " + file + " is too large: it can be read up to " + MAX_BYTES
                    + " bytes and has " + length + "; move it away to begin anew");
        }
        byte[] all = new byte[(int) length];
        bytes.readFully(all);
        String bytesAsText = new String(all, StandardCharsets.ISO_8859_1); // one character for each byte
        int from = 0;
        for (int number = 1; from < all.length; number++) {
            int end = bytesAsText.indexOf('\n', from);
            if (number == 1) {
                requireHeader(new String(all, 0, end < 0 ? all.length : end, StandardCharsets.UTF_8), end < 0);
            } else if (end >= 0 && isWhole(all, bytesAsText, from, end)) {
                readLine(EntryLines.fields(new String(all, from, end - from, StandardCharsets.UTF_8)), number);
            } else if (end < 0 || end + 1 == all.length) {
                return from;
            } else {
                throw new IOException("journal " + file + " is damaged: line " + number
                        + " is not a record, and others follow it; restore the file, or remove it to begin anew");
            }
            from = end + 1;
        }
        return from;
    }

    private void requireHeader(String line, boolean torn) throws IOException {
        if (!torn && HEADER.equals(line)) {
            return;
        }
        String begin = line.length() > 80 ? line.substring(0, 80) + "..." : line;
        String advice = "";
        if (HEADER.startsWith(line)) {
            advice = " and a line end; if a crash has cut that off, remove the file";
        } else if (line.startsWith(ANY_HEADER)) {
            advice = "; let the version that has written it end its run, or remove the file to begin anew";
        }
        throw new IOException(file + " is not a journal of this version: it begins with \"" + begin
                + "\", and a journal with \"" + HEADER + "\"" + advice);
    }

    /** Returns whether a line ends with its checksum. */
    private static boolean isWhole(byte[] bytes, String bytesAsText, int from, int to) {
        int space = bytesAsText.lastIndexOf(' ', to - 1);
        return space > from && checksum(bytes, from, space).equals(bytesAsText.substring(space + 1, to));
    }

    private static String checksum(byte[] bytes, int from, int to) {
        CRC32 sum = new CRC32();
        sum.update(bytes, from, to - from);
        return Long.toHexString(sum.getValue());
    }

    /** Reads a line whose checksum is right. */
    private void readLine(String[] all, int number) throws IOException {
        String[] fields = Arrays.copyOf(all, all.length - 1);
        try {
            if (fields[0].equals("work")) {
                bound = new Work(
                        EntryLines.optionalOf(fields[1]),
                        EntryLines.plain(fields[2]),
                        fields[3],
                        EntryLines.plain(fields[4]));
            } else {
                entries.add(lines.decode(fields));
            }
        } catch (IOException | RuntimeException failure) {
            throw new IOException(
                    "journal " + file + " has " + nameOf(fields).replaceFirst("the", "an") + " in line " + number
                            + " that cannot be read; open it with the codec and the version that wrote it",
                    failure);
        }
    }

    /** Returns the kind of an entry and its first field, which is not a value. */
    private static String nameOf(String[] fields) {
        return "the entry \"" + fields[0] + "\""
                + (fields.length == 1 ? "" : " of \"" + EntryLines.plain(fields[1]) + "\"");
    }

    // Recording.

    /**
     * Binds the file to a run, or ensures that it is bound to that run.
     *
     * @throws IllegalArgumentException if the file is bound to other work, or the codec cannot encode the parameter
     * @throws IOException if the file cannot be written
     */
    @Override
    public List<Entry> open(Work work) throws IOException {
        Work mine = work.withDigest(lines.codec());
        synchronized (this) {
            Work known = bound;
            if (known != null) {
                mine.requireSame(known, "journal " + file);
                return entries();
            }
        }
        if (records.isClosed()) {
            throw closed("the run of flow \"" + work.flow() + "\"");
        }
        append(EntryLines.line("work", EntryLines.optional(mine.run()), mine.flow(), mine.plan(), mine.parameter()));
        synchronized (this) {
            bound = mine;
            return entries();
        }
    }

    @Override
    public void record(Entry entry) throws IOException {
        String line = lines.encode(entry);
        if (records.isClosed()) {
            throw closed(nameOf(line.split(" ", 3)));
        }
        append(line);
        synchronized (this) {
            entries.add(entry);
        }
    }

    /** Returns whether the file had entries when it was opened: if its run has not ended, its process has died. */
    @Override
    public boolean wasLost() {
        return wasBegun;
    }

    private IOException closed(String what) {
        return new IOException(
                "journal " + file + " is closed; " + what + " cannot be recorded, close the journal after the run");
    }

    private void append(String line) throws IOException {
        records.append(withChecksum(BasicCodecs.utf8(line)));
    }

    private static byte[] withChecksum(byte[] text) {
        byte[] end = (" " + checksum(text, 0, text.length) + "\n").getBytes(StandardCharsets.US_ASCII);
        byte[] whole = Arrays.copyOf(text, text.length + end.length);
        System.arraycopy(end, 0, whole, text.length, end.length);
        return whole;
    }

    /** Closes the file, which keeps the records. A second call has no effect. */
    @Override
    public void close() throws IOException {
        records.close(() -> OPEN_FILES.remove(identity));
    }

    /**
     * Returns the end of the run that is recorded here. A run with this journal begins a new try if there is one, and
     * continues otherwise.
     *
     * @return the status of the run, or null if the latest try has not ended
     */
    public @Nullable FlowStatus ended() {
        return new Recovered(entries()).ended;
    }

    /**
     * Returns what is recorded.
     *
     * @return the entries, in the order of their records
     */
    public synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    @Override
    public String toString() {
        return "journal " + file + " of " + entries().size() + " entries";
    }
}
