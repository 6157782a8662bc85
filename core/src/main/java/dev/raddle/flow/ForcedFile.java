package dev.raddle.flow;

import dev.raddle.time.UserCode;
import java.io.IOException;
import java.io.RandomAccessFile;

/** A file to which records are appended, one after the other, each on the disk when {@link #append} returns. */
final class ForcedFile {

    /** Forces a file to the disk. */
    interface Force {
        void force(RandomAccessFile bytes) throws IOException;
    }

    private final RandomAccessFile bytes; // not its channel, which an interrupt would close
    private final Force force;
    private final long limit;
    private long length; // of the records on the disk; guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates a file whose bytes up to a length are on the disk; others are removed.
     *
     * @param limit the greatest length of the file; records that would make it longer are refused
     */
    ForcedFile(RandomAccessFile bytes, long length, long limit, Force force) throws IOException {
        this.bytes = bytes;
        this.limit = limit;
        this.force = force;
        this.length = length;
        bytes.setLength(length);
    }

    /**
     * Appends a record and waits until it is on the disk.
     *
     * @throws IOException if the record cannot be written; then it is not in the file, unless the disk is broken
     */
    synchronized void append(byte[] record) throws IOException {
        if (closed) {
            throw new IOException("it is closed");
        }
        if (length + record.length > limit) {
            throw new IOException("a record of " + record.length + " bytes does not fit: the file has " + length
                    + " bytes, and at most " + limit + " can be read again; keep large values elsewhere, and record"
                    + " where");
        }
        try {
            bytes.seek(length);
            bytes.write(record);
            force.force(bytes);
            length += record.length;
        } catch (IOException failure) {
            try {
                bytes.setLength(length); // a complete record would not be dropped by the next open
            } catch (IOException again) {
                UserCode.addSuppressed(failure, again); // the next record is written at the same position
            }
            throw failure;
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /**
     * Closes the file after the record that is being forced. Further calls have no effect.
     *
     * @param afterwards an action of the call that closes the file, whether it succeeds or not
     */
    synchronized void close(Runnable afterwards) throws IOException {
        if (!closed) {
            closed = true;
            try {
                bytes.close();
            } finally {
                afterwards.run();
            }
        }
    }
}
