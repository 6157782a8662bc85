package dev.raddle.flow;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
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
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A journal in a file, which survives the end of its process at any moment, also by {@code kill -9}.
 *
 * {@snippet :
 * try (FileJournal journal = FileJournal.open(Path.of("checkout.journal"), FileJournal.Codec.strings())) {
 *     plan.run(order, RunOptions.defaults().withJournal(journal));
 * }
 * }
 *
 * <p>Each record is a line with a checksum, and is forced to the disk before it counts. A line that was cut off by a crash is
 * dropped when the file is opened again: its node had not been reported as done. One journal at a time may have a file open, and
 * nothing else in its process should: when that closes the file, many systems forget the lock that keeps other processes out.
 *
 * <p>An interrupt of a thread that records is kept for it, and does the journal no harm.
 */
public final class FileJournal implements FlowJournal, Closeable {

    /*
     * Overview. The file is a header and records, oldest first:
     *
     *   raddle-flow-journal/1
     *   done ID VALUE CHECKSUM       the value in base 64, or "-" for null
     *   undone ID - CHECKSUM
     *
     * Lines are only ever appended, under the lock, each with one write and one force. So only the last can be torn, and it is
     * when it has no line end or a wrong checksum; opening cuts it off. A wrong line before the last was not made by a crash, and
     * the file is refused.
     */

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

    private static final String HEADER = "raddle-flow-journal/1";
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
                Files.createFile(file);
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
        if (torn ? !HEADER.startsWith(line) : !HEADER.equals(line)) {
            String begin = line.length() > 80 ? line.substring(0, 80) + "..." : line;
            throw new IOException(file + " is not a journal of this version: it begins with \"" + begin
                    + "\", and a journal with \"" + HEADER + "\"");
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
        if (parts[0].equals("done")) {
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

    @Override
    public @Nullable Recorded find(String id) {
        return records.get(id);
    }

    @Override
    public void finished(String id, @Nullable Object value) throws IOException {
        String text = value == null ? NOTHING : "=" + Base64.getEncoder().encodeToString(codec.encode(value));
        append("done", id, text, new Recorded(value));
    }

    @Override
    public void undone(String id) throws IOException {
        append("undone", id, NOTHING, null);
    }

    private void append(String what, String id, String value, @Nullable Recorded record) throws IOException {
        utf8(id);
        String line = what + " " + URLEncoder.encode(id, StandardCharsets.UTF_8) + " " + value;
        byte[] whole = (line + " " + checksum(line) + "\n").getBytes(StandardCharsets.UTF_8);
        appending.lock();
        try {
            if (closed) {
                throw new IOException("journal " + file + " is closed; node \"" + id + "\" cannot be recorded as "
                        + what + ", close the journal after the run");
            }
            write(whole);
            if (record == null) {
                records.remove(id);
            } else {
                records.put(id, record);
            }
        } finally {
            appending.unlock();
        }
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
