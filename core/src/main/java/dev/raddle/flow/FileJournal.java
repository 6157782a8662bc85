package dev.raddle.flow;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
 * dropped when the file is opened again: its node had not been reported as done. One process at a time may have a file open.
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
                return text.getBytes(StandardCharsets.UTF_8);
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

    /*
     * The files that this process has open. The lock of a file is one for each process, and is lost when any of its descriptors is
     * closed; so a second one must not even be opened.
     */
    private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final RandomAccessFile bytes; // and not its channel, which an interrupt would close for good
    private final Codec codec;
    private final Map<String, Recorded> records = new ConcurrentHashMap<>();
    private final ReentrantLock appending = new ReentrantLock();
    private long good; // so many bytes are whole records; guarded by appending

    private FileJournal(Path file, RandomAccessFile bytes, Codec codec) {
        this.file = file;
        this.bytes = bytes;
        this.codec = codec;
    }

    /**
     * Opens a journal, which is made if there is none.
     *
     * @param file in an existing directory
     * @param codec for the values of all nodes
     * @return a journal with what was recorded before
     * @throws IOException if the file cannot be read or written, is not a journal, or is open in another process
     */
    public static FileJournal open(Path file, Codec codec) throws IOException {
        Path real = file.toAbsolutePath().normalize();
        if (!OPEN.add(real)) {
            throw openAlready(file);
        }
        RandomAccessFile bytes = null;
        try {
            bytes = new RandomAccessFile(file.toFile(), "rw");
            if (bytes.getChannel().tryLock() == null) {
                throw openAlready(file);
            }
            FileJournal journal = new FileJournal(real, bytes, codec);
            journal.read();
            return journal;
        } catch (IOException | RuntimeException | Error failure) {
            if (bytes != null) {
                bytes.close();
            }
            OPEN.remove(real);
            throw failure;
        }
    }

    private static IOException openAlready(Path file) {
        return new IOException("journal " + file + " is open already; one run at a time may write it");
    }

    private void read() throws IOException {
        byte[] all = new byte[Math.toIntExact(bytes.length())];
        bytes.readFully(all);
        int whole = 0; // so many bytes are lines that are right
        int number = 0;
        while (whole < all.length) {
            int end = lineEnd(all, whole);
            number++;
            String line = end < 0 ? "" : new String(all, whole, end - whole, StandardCharsets.UTF_8);
            if (end < 0 || !accept(line, number)) {
                if (end >= 0 && end + 1 < all.length) {
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
            write(HEADER + "\n");
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
        if (number == 1) {
            if (!line.equals(HEADER)) {
                throw new IOException(file + " is not a journal of this version: it begins with \"" + line
                        + "\", and a journal with \"" + HEADER + "\"");
            }
            return true;
        }
        String[] parts = line.split(" ", -1);
        if (parts.length != 4 || !parts[3].equals(checksum(parts[0] + " " + parts[1] + " " + parts[2]))) {
            return false;
        }
        String id = URLDecoder.decode(parts[1], StandardCharsets.UTF_8);
        if (parts[0].equals("done")) {
            Object value = parts[2].equals(NOTHING)
                    ? null
                    : codec.decode(Base64.getDecoder().decode(parts[2].substring(1)));
            records.put(id, new Recorded(value));
        } else {
            records.remove(id);
        }
        return true;
    }

    @Override
    public @Nullable Recorded find(String id) {
        return records.get(id);
    }

    @Override
    public void finished(String id, @Nullable Object value) throws IOException {
        String text = value == null ? NOTHING : "=" + Base64.getEncoder().encodeToString(codec.encode(value));
        append("done", id, text);
        records.put(id, new Recorded(value));
    }

    @Override
    public void undone(String id) throws IOException {
        append("undone", id, NOTHING);
        records.remove(id);
    }

    private void append(String what, String id, String value) throws IOException {
        String line = what + " " + URLEncoder.encode(id, StandardCharsets.UTF_8) + " " + value;
        write(line + " " + checksum(line) + "\n");
    }

    private void write(String line) throws IOException {
        byte[] record = line.getBytes(StandardCharsets.UTF_8);
        appending.lock();
        try {
            bytes.seek(good);
            bytes.write(record);
            bytes.getFD().sync();
            good += record.length;
        } catch (IOException failure) {
            bytes.setLength(good); // half a record would spoil the next
            throw failure;
        } finally {
            appending.unlock();
        }
    }

    private static String checksum(String text) {
        CRC32 sum = new CRC32();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(sum.getValue());
    }

    /** Closes the file. What was recorded stays. */
    @Override
    public void close() throws IOException {
        bytes.close();
        OPEN.remove(file);
    }

    @Override
    public String toString() {
        return "journal " + file + " of " + records.size() + " nodes";
    }
}
