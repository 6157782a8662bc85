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
 * A journal in a file, which survives the end of its process at any time, even by {@code kill -9}.
 *
 * {@snippet :
 * try (FileJournal journal = FileJournal.open(Path.of("checkout.journal"), FileJournal.Codec.strings())) {
 *     plan.run(order, RunOptions.defaults().withJournal(journal, "order-17"));
 * }
 * }
 *
 * <p>Each record is a line with a checksum, and is forced to disk before the node counts as finished. A line that was
 * truncated by a crash is dropped when the file is opened again: its node had not been reported as finished. A new file
 * is readable by its owner only, on file systems with such permissions. Instead of the parameter the file contains a
 * digest of it: of the bytes that the codec encodes it to, unless it is a string, a number, a boolean, a character, an
 * enum or a UUID. Only one journal at a time may have a file open, and no other code of the same process should open
 * it: when that code closes the file, many systems release the lock that excludes other processes.
 *
 * <p>If a thread is interrupted while it records, the interrupt status is preserved, and the journal is not affected.
 */
public final class FileJournal implements FlowJournal, Closeable {

    /*
     * Overview. The file is a header and records, oldest first:
     *
     *   raddle-flow-journal/2
     *   work FLOW PLAN:PARAMETER CHECKSUM    the work of the journal, as digests; "-" for the parameter null
     *   done ID VALUE CHECKSUM               the value in base 64, or "-" for null
     *   undone ID - CHECKSUM
     *
     * Lines are only appended, under the lock, each with one write and one force. So only the last line can be torn; it
     * is torn if it has no line end or a wrong checksum, and is then removed when the file is opened. A wrong line
     * before the last was not caused by a crash, and the file is refused. A file with a part of a header is refused,
     * too: it might belong to another program, and contains no records.
     */

    /** The work that the file is bound to. */
    private record Binding(String flow, String plan, String parameter) {}

    /** Converts values to bytes and back. */
    public interface Codec {

        /**
         * Encodes a value.
         *
         * @param value the value, not null
         * @return its bytes
         * @throws IOException if the value cannot be encoded
         */
        byte[] encode(Object value) throws IOException;

        /**
         * Decodes a value.
         *
         * @param bytes the bytes that {@link #encode} has returned
         * @return an equal value
         * @throws IOException if the bytes cannot be decoded
         */
        Object decode(byte[] bytes) throws IOException;

        /**
         * Returns a codec for values that are strings.
         *
         * @return the same codec at every call
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
            throw new IOException("this journal stores strings, and the value was a "
                    + value.getClass().getName() + "; open the journal with another codec");
        }

        @Override
        public Object decode(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static final String HEADER = "raddle-flow-journal/2";
    private static final String NOTHING = "-";
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
    private final RandomAccessFile bytes; // not its channel, which an interrupt would close
    private final Codec codec;
    private final Map<String, Recorded> records = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Binding bound; // null until the first run; guarded by lock
    private long validLength; // the length of the complete records; guarded by lock
    private boolean closed; // guarded by lock

    private FileJournal(Path file, Object identity, RandomAccessFile bytes, Codec codec) {
        this.file = file;
        this.identity = identity;
        this.bytes = bytes;
        this.codec = codec;
    }

    /**
     * Opens a journal, and creates the file if it does not exist.
     *
     * @param file the file, in an existing directory
     * @param codec the codec for the values of all nodes
     * @return a journal with the records of the file
     * @throws IOException if the file cannot be read or written, is not a journal, has 2 GB or more, or is open in this
     *     process or another
     */
    public static FileJournal open(Path file, Codec codec) throws IOException {
        return open(file, codec, path -> new RandomAccessFile(path, "rw"));
    }

    /** Opens a journal; tests can provide a file that fails. */
    static FileJournal open(Path file, Codec codec, Opening opening) throws IOException {
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
                if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                    Files.createFile(
                            file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
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

    private static IOException openAlready(Path file) {
        return new IOException("journal " + file + " is open already; one run at a time may write it");
    }

    private void read() throws IOException {
        long length = bytes.length();
        if (length > MAX_BYTES) {
            throw new IOException("journal " + file + " is too large: it can be read up to " + MAX_BYTES
                    + " bytes and has " + length + "; move it away to begin anew");
        }
        byte[] all = new byte[(int) length];
        bytes.readFully(all);
        int whole = 0; // the length of the valid lines
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
            if (number > 1 && !parseRecord(line, number)) {
                if (end + 1 < all.length) {
                    throw new IOException("journal " + file + " is damaged: line " + number
                            + " is not a record, and others follow it; restore the file, or remove it to begin anew");
                }
                break;
            }
            whole = end + 1;
        }
        validLength = whole;
        bytes.setLength(validLength);
        if (validLength == 0) {
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

    private boolean parseRecord(String line, int number) throws IOException {
        String[] parts = line.split(" ", -1);
        if (parts.length != 4 || !parts[3].equals(checksum(parts[0] + " " + parts[1] + " " + parts[2]))) {
            return false;
        }
        String id = URLDecoder.decode(parts[1], StandardCharsets.UTF_8);
        if (parts[0].equals("work")) {
            String[] digests = parts[2].split(":", 2);
            bound = new Binding(id, digests[0], digests[1]);
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
     * Binds the file to a piece of work, or ensures that it is bound to that work.
     *
     * @throws IllegalArgumentException if the file is bound to other work, or the codec cannot encode the parameter
     * @throws UncheckedIOException if the file cannot be written
     */
    @Override
    public void bind(Work work) {
        String parameter = digestOf(work.parameter());
        lock.lock();
        try {
            Binding known = bound;
            if (known == null) {
                append("work", work.flow(), work.plan() + ":" + parameter);
                bound = new Binding(work.flow(), work.plan(), parameter);
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
            lock.unlock();
        }
    }

    private String digestOf(@Nullable Object parameter) {
        if (parameter == null) {
            return NOTHING;
        }
        byte[] bytes;
        try {
            String text = identifyingText(parameter);
            bytes = text == null ? codec.encode(parameter) : utf8(text);
        } catch (IOException | RuntimeException failure) {
            throw new IllegalArgumentException(
                    "journal " + file + " cannot store the parameter of the run, a "
                            + parameter.getClass().getName()
                            + "; identify the work with RunOptions.withJournal(journal, key)",
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

    /** Returns a text that identifies a value of its class in every JVM, or null if there may be none. */
    private static @Nullable String identifyingText(Object value) {
        if (value instanceof Enum<?> constant) {
            return constant.name(); // its toString() may be anything
        }
        boolean isNumber = value instanceof Number
                && value.getClass().getName().startsWith("java.")
                && value instanceof Comparable<?>;
        return isNumber
                        || value instanceof String
                        || value instanceof Boolean
                        || value instanceof Character
                        || value instanceof UUID
                ? value.toString()
                : null;
    }

    @Override
    public @Nullable Recorded find(String id) {
        return records.get(id);
    }

    @Override
    public void finished(String id, @Nullable Object value) throws IOException {
        String text = value == null ? NOTHING : "=" + Base64.getEncoder().encodeToString(codec.encode(value));
        lock.lock();
        try {
            append("done", id, text);
            records.put(id, new Recorded(value));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void undone(String id) throws IOException {
        lock.lock();
        try {
            append("undone", id, NOTHING);
            records.remove(id);
        } finally {
            lock.unlock();
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
            bytes.seek(validLength);
            bytes.write(record);
            bytes.getFD().sync();
            validLength += record.length;
        } catch (IOException failure) {
            try {
                bytes.setLength(validLength); // a complete record would not be dropped by the next open
            } catch (IOException again) {
                failure.addSuppressed(again); // the next record is written at the same position
            }
            throw failure;
        }
    }

    /** Encodes a text, or throws if it has an unpaired surrogate, which would be replaced by a question mark. */
    private static byte[] utf8(String text) throws IOException {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException failure) {
            throw new IOException("a text with an unpaired surrogate cannot be stored; split it elsewhere", failure);
        }
    }

    private static String checksum(String text) {
        CRC32 sum = new CRC32();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(sum.getValue());
    }

    /** Closes the file, which keeps the records. A second call has no effect. */
    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                try {
                    bytes.close();
                } finally {
                    OPEN_FILES.remove(identity);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "journal " + file + " of " + records.size() + " nodes";
    }
}
