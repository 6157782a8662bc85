package dev.raddle.flow;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A journal in a file, which survives the end of its process at any moment, also by {@code kill -9}.
 *
 * {@snippet :
 * try (FileJournal journal = FileJournal.open(Path.of("checkout.journal"), FileJournal.Codec.strings())) {
 *     plan.run(order, RunOptions.defaults().withJournal(journal, "order-17"));
 * }
 * }
 *
 * <p>Each record is a line with a checksum, and is forced to the disk before it counts. A line that was cut off by a crash is
 * dropped when the file is opened again: its node had not been reported as done. A new file can be read by its owner only, where
 * files have such permissions. It keeps no parameter but a digest of it: of the bytes that the codec makes of it, unless it is a
 * string, a number, a boolean, a character, an enum or a UUID. One journal at a time may have a file open, and
 * nothing else in its process should: when that closes the file, many systems forget the lock that keeps other processes out.
 *
 * <p>An interrupt of a thread that records is kept for it, and does the journal no harm.
 */
public final class FileJournal implements FlowJournal, Closeable {

    /*
     * Overview. The file is a header and records, oldest first:
     *
     *   raddle-flow-journal/2
     *   work FLOW PLAN:PARAMETER CHECKSUM    what the journal is for, as digests; "-" for the parameter null
     *   done ID VALUE CHECKSUM               the value in base 64, or "-" for null
     *   undone ID - CHECKSUM
     *
     * Lines are only ever appended, under the lock, each with one write and one force. So only the last can be torn, and it is
     * when it has no line end or a wrong checksum; opening cuts it off. A wrong line before the last was not made by a crash, and
     * the file is refused. So is a part of a header: it might be a file of somebody else's, and holds nothing that would be lost.
     */

    /** What the file says that it is for. */
    private record Bound(String flow, String plan, String parameter) {}

    /** How values become bytes. */
    public interface Codec {

        /**
         * Writes a value.
         *
         * @param value not null
         * @return its bytes
         * @throws IOException if it cannot be written
         */
        byte[] encode(Object value) throws IOException;

        /**
         * Reads a value.
         *
         * @param bytes what {@link #encode} has returned
         * @return an equal value
         * @throws IOException if it cannot be read
         */
        Object decode(byte[] bytes) throws IOException;

        /**
         * Returns a codec for values that are strings.
         *
         * @return the same at every call
         */
        static Codec strings() {
            return Strings.INSTANCE;
        }
    }

    private enum Strings implements Codec {
        INSTANCE;

        @Override
        public byte[] encode(Object value) throws IOException {
            if (value instanceof String text) {
                return utf8(text);
            }
            throw new IOException("this journal keeps strings, and the value was a "
                    + value.getClass().getName() + "; open the journal with another codec");
        }

        @Override
        public Object decode(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static final String HEADER = "raddle-flow-journal/2";
    private static final String NOTHING = "-";
    private static final int MOST_BYTES = Integer.MAX_VALUE - 8; // in one array

    /** How a file is opened. */
    interface Opening {
        RandomAccessFile open(File file) throws IOException;
    }

    /*
     * The files that this process has open, whatever they are called. The lock of a file is one for each process, and is lost when
     * any of its descriptors is closed; so a second one must not even be opened.
     */
    private static final Set<Object> OPEN = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final Object identity; // in OPEN until the journal is closed
    private final RandomAccessFile bytes; // and not its channel, which an interrupt would close for good
    private final Codec codec;
    private final Map<String, Recorded> records = new ConcurrentHashMap<>();
    private final ReentrantLock appending = new ReentrantLock();
    private @Nullable Bound bound; // null until a run begins; guarded by appending
    private long good; // so many bytes are whole records; guarded by appending
    private boolean closed; // guarded by appending

    private FileJournal(Path file, Object identity, RandomAccessFile bytes, Codec codec) {
        this.file = file;
        this.identity = identity;
        this.bytes = bytes;
        this.codec = codec;
    }

    /**
     * Opens a journal, which is made if there is none.
     *
     * @param file in an existing directory
     * @param codec for the values of all nodes
     * @return a journal with what was recorded before
     * @throws IOException if the file cannot be read or written, is not a journal, has 2 GB or more, or is open in this process
     *     or another
     */
    public static FileJournal open(Path file, Codec codec) throws IOException {
        return open(file, codec, path -> new RandomAccessFile(path, "rw"));
    }

    /** Opens a journal, perhaps in a file that fails. */
    static FileJournal open(Path file, Codec codec, Opening opening) throws IOException {
        Object identity = identityOf(file);
        if (!OPEN.add(identity)) {
            throw openAlready(file);
        }
        RandomAccessFile bytes = null;
        try {
            bytes = opening.open(file.toFile());
            if (!isFree(bytes.getChannel())) {
                throw openAlready(file);
            }
            FileJournal journal = new FileJournal(file, identity, bytes, codec);
            journal.read();
            return journal;
        } catch (IOException | RuntimeException | Error failure) {
            try {
                if (bytes != null) {
                    bytes.close();
                }
            } catch (IOException | RuntimeException | Error again) {
                failure.addSuppressed(again);
            } finally {
                OPEN.remove(identity);
            }
            throw failure;
        }
    }

    private static boolean isFree(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException byThisProcess) {
            return false; // by something else than this class
        }
    }

    /** Returns what is the same for all names of a file, which is made if there is none. Opens none that exists. */
    private static Object identityOf(Path file) throws IOException {
        if (Files.notExists(file)) {
            try {
                if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                    Files.createFile(
                            file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
                } else {
                    Files.createFile(file);
                }
            } catch (FileAlreadyExistsException meanwhile) {
                // or it is a link to nothing, which has no attributes either
            }
        }
        Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        return key == null ? file.toRealPath() : key; // not all systems have keys
    }

    private static IOException openAlready(Path file) {
        return new IOException("journal " + file + " is open already; one run at a time may write it");
    }

    private void read() throws IOException {
        long length = bytes.length();
        if (length > MOST_BYTES) {
            throw new IOException("journal " + file + " is too large: it can be read up to " + MOST_BYTES
                    + " bytes and has " + length + "; move it away to begin anew");
        }
        byte[] all = new byte[(int) length];
        bytes.readFully(all);
        int whole = 0; // so many bytes are lines that are right
        int number = 0;
        while (whole < all.length) {
            int end = lineEnd(all, whole);
            number++;
            String line = new String(all, whole, (end < 0 ? all.length : end) - whole, StandardCharsets.UTF_8);
            if (number == 1) {
                ensureHeader(line, end < 0);
            }
            if (end < 0) {
                break;
            }
            if (number > 1 && !accept(line, number)) {
                if (end + 1 < all.length) {
                    throw new IOException("journal " + file + " is damaged: line " + number
                            + " is not a record, and others follow it; restore the file, or remove it to begin anew");
                }
                break;
            }
            whole = end + 1;
        }
        good = whole;
        bytes.setLength(good);
        if (good == 0) {
            write((HEADER + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    private void ensureHeader(String line, boolean torn) throws IOException {
        if (torn || !HEADER.equals(line)) {
            String begin = line.length() > 80 ? line.substring(0, 80) + "..." : line;
            throw new IOException(file + " is not a journal of this version: it begins with \"" + begin
                    + "\", and a journal with \"" + HEADER + "\""
                    + (HEADER.startsWith(line) ? " and a line end; if a crash has cut that off, remove the file" : ""));
        }
    }

    private static int lineEnd(byte[] bytes, int from) {
        for (int position = from; position < bytes.length; position++) {
            if (bytes[position] == '\n') {
                return position;
            }
        }
        return -1;
    }

    private boolean accept(String line, int number) throws IOException {
        String[] parts = line.split(" ", -1);
        if (parts.length != 4 || !parts[3].equals(checksum(parts[0] + " " + parts[1] + " " + parts[2]))) {
            return false;
        }
        String id = URLDecoder.decode(parts[1], StandardCharsets.UTF_8);
        if (parts[0].equals("work")) {
            String[] digests = parts[2].split(":", 2);
            bound = new Bound(id, digests[0], digests[1]);
        } else if (parts[0].equals("done")) {
            records.put(id, new Recorded(valueOf(parts[2], id, number)));
        } else {
            records.remove(id);
        }
        return true;
    }

    private @Nullable Object valueOf(String text, String id, int number) throws IOException {
        if (text.equals(NOTHING)) {
            return null;
        }
        try {
            return codec.decode(Base64.getDecoder().decode(text.substring(1)));
        } catch (IOException | RuntimeException failure) {
            throw new IOException(
                    "journal " + file + " has a value of node \"" + id + "\" in line " + number
                            + " that its codec cannot read; open it with the codec that wrote it",
                    failure);
        }
    }

    /**
     * Binds the file to a piece of work, or ensures that it is bound to that.
     *
     * @throws IllegalArgumentException if it is bound to other work, or the codec cannot keep the parameter
     * @throws UncheckedIOException if the file cannot be written
     */
    @Override
    public void bind(Work work) {
        String parameter = digestOf(work.parameter());
        appending.lock();
        try {
            Bound known = bound;
            if (known == null) {
                append("work", work.flow(), work.plan() + ":" + parameter);
                bound = new Bound(work.flow(), work.plan(), parameter);
                return;
            }
            boolean isSame = parameter.equals(known.parameter());
            IllegalArgumentException difference = work.differs("journal " + file, known.flow(), known.plan(), isSame);
            if (difference != null) {
                throw difference;
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } finally {
            appending.unlock();
        }
    }

    private String digestOf(@Nullable Object parameter) {
        if (parameter == null) {
            return NOTHING;
        }
        byte[] bytes;
        try {
            bytes = isPlain(parameter) ? utf8(parameter.toString()) : codec.encode(parameter);
        } catch (IOException | RuntimeException failure) {
            throw new IllegalArgumentException(
                    "journal " + file + " cannot keep the parameter of the run, a "
                            + parameter.getClass().getName()
                            + "; say what the run is about with RunOptions.withJournal(journal, key)",
                    failure);
        }
        try {
            MessageDigest sum = MessageDigest.getInstance("SHA-256");
            sum.update(parameter.getClass().getName().getBytes(StandardCharsets.UTF_8));
            sum.update((byte) 0);
            return HexFormat.of().formatHex(sum.digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }

    /** Tells whether the text of a value says all about it, in every JVM. */
    private static boolean isPlain(Object value) {
        return value instanceof String
                || value instanceof Boolean
                || value instanceof Character
                || value instanceof Enum<?>
                || value instanceof UUID
                || (value instanceof Number
                        && value.getClass().getName().startsWith("java.")
                        && value instanceof Comparable<?>);
    }

    @Override
    public @Nullable Recorded find(String id) {
        return records.get(id);
    }

    @Override
    public void finished(String id, @Nullable Object value) throws IOException {
        String text = value == null ? NOTHING : "=" + Base64.getEncoder().encodeToString(codec.encode(value));
        appending.lock();
        try {
            append("done", id, text);
            records.put(id, new Recorded(value));
        } finally {
            appending.unlock();
        }
    }

    @Override
    public void undone(String id) throws IOException {
        appending.lock();
        try {
            append("undone", id, NOTHING);
            records.remove(id);
        } finally {
            appending.unlock();
        }
    }

    /** Appends a line. The caller holds the lock. */
    private void append(String what, String id, String value) throws IOException {
        utf8(id);
        String line = what + " " + URLEncoder.encode(id, StandardCharsets.UTF_8) + " " + value;
        byte[] whole = (line + " " + checksum(line) + "\n").getBytes(StandardCharsets.UTF_8);
        if (closed) {
            throw new IOException("journal " + file + " is closed; " + (what.equals("work") ? "flow" : "node") + " \""
                    + id + "\" cannot be recorded as " + what + ", close the journal after the run");
        }
        write(whole);
    }

    private void write(byte[] record) throws IOException {
        try {
            bytes.seek(good);
            bytes.write(record);
            bytes.getFD().sync();
            good += record.length;
        } catch (IOException failure) {
            try {
                bytes.setLength(good); // half a record would be dropped by the next opening; a whole one would not
            } catch (IOException again) {
                failure.addSuppressed(again); // the next record begins there all the same
            }
            throw failure;
        }
    }

    /** Encodes a text that is the same when it is decoded: half a surrogate pair would become a question mark. */
    private static byte[] utf8(String text) throws IOException {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException failure) {
            throw new IOException("a text with half a surrogate pair cannot be kept; cut it elsewhere", failure);
        }
    }

    private static String checksum(String text) {
        CRC32 sum = new CRC32();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(sum.getValue());
    }

    /** Closes the file. What was recorded stays. Closed again, this does nothing. */
    @Override
    public void close() throws IOException {
        appending.lock();
        try {
            if (!closed) {
                closed = true;
                try {
                    bytes.close();
                } finally {
                    OPEN.remove(identity);
                }
            }
        } finally {
            appending.unlock();
        }
    }

    @Override
    public String toString() {
        return "journal " + file + " of " + records.size() + " nodes";
    }
}
