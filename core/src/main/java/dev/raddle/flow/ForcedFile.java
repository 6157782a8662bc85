package dev.raddle.flow;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A file to which records are appended, which are on the disk when {@link #append} returns. */
final class ForcedFile {

    /*
     * Overview.
     *
     * The file has two lengths, `forced` <= `written`. The records up to `forced` are on the disk; those between are
     * one or two groups, whose writers wait. Without groups each writer forces its record under the lock, so both
     * lengths are equal when the lock is free.
     *
     * With groups a writer joins the open group and then waits for `forcing`. The first of a group to get it closes the
     * group and forces the file for all its members; meanwhile others write, and form the next group. When they get
     * `forcing`, their group has been forced, or it is still open and they force it. A group that is not open is done,
     * unless a thread holds `forcing`.
     *
     * After a force that failed, the state of the disk is unknown, and another force may report success although pages
     * are lost. So everything behind `forced` is removed, and both the closed group and the open one fail.
     */

    /** The records that one force serves. */
    private static final class Group {
        private boolean isDone; // guarded by forcing
        private @Nullable IOException failure; // likewise
    }

    /** Forces a file to the disk. */
    interface Force {
        void force(RandomAccessFile bytes) throws IOException;
    }

    static final Force SYNC = bytes -> bytes.getFD().sync();

    private final RandomAccessFile bytes; // not its channel, which an interrupt would close
    private final boolean groups;
    private final Force force;
    private final long limit;
    private final ReentrantLock forcing = new ReentrantLock(); // taken before lock
    private final ReentrantLock lock = new ReentrantLock();
    private Group open = new Group(); // guarded by lock
    private long written; // guarded by lock
    private long forced; // guarded by lock
    private boolean closed; // guarded by lock

    /**
     * Creates a file whose bytes up to a length are on the disk; others are removed.
     *
     * @param limit the greatest length of the file; records that would make it longer are refused
     */
    ForcedFile(RandomAccessFile bytes, long length, long limit, boolean groups, Force force) throws IOException {
        this.bytes = bytes;
        this.limit = limit;
        this.groups = groups;
        this.force = force;
        written = length;
        forced = length;
        bytes.setLength(length);
    }

    /**
     * Appends a record and waits until it is on the disk.
     *
     * @param record the record, as a function of the length of the file that is on the disk before it is written
     * @throws IOException if the record cannot be written; then it is not in the file, unless the disk is broken
     */
    void append(LongFunction<byte[]> record) throws IOException {
        Group mine;
        lock.lock();
        try {
            if (closed) {
                throw new IOException("it is closed");
            }
            write(fitting(record.apply(forced)));
            if (!groups) {
                return;
            }
            mine = open;
        } finally {
            lock.unlock();
        }
        awaitForced(mine);
    }

    private byte[] fitting(byte[] record) throws IOException {
        if (written + record.length > limit) {
            throw new IOException("a record of " + record.length + " bytes does not fit: the file has " + written
                    + " bytes, and at most " + limit + " can be read again; keep large values elsewhere, and record"
                    + " where");
        }
        return record;
    }

    private void write(byte[] record) throws IOException {
        try {
            bytes.seek(written);
            bytes.write(record);
            if (!groups) {
                force.force(bytes);
                forced = written + record.length;
            }
            written += record.length;
        } catch (IOException failure) {
            truncate(written, failure); // a complete record would not be dropped by the next open
            throw failure;
        }
    }

    private void truncate(long length, IOException failure) {
        try {
            bytes.setLength(length);
        } catch (IOException again) {
            failure.addSuppressed(again); // the next record is written at the same position
        }
    }

    private void awaitForced(Group mine) throws IOException {
        forcing.lock();
        try {
            if (!mine.isDone) {
                forceOpenGroup();
            }
            if (mine.failure != null) {
                throw new IOException(mine.failure.getMessage(), mine.failure);
            }
        } finally {
            forcing.unlock();
        }
    }

    private void forceOpenGroup() {
        Group group;
        long length;
        lock.lock();
        try {
            group = open;
            open = new Group();
            length = written;
        } finally {
            lock.unlock();
        }
        try {
            force.force(bytes);
            lock.lock();
            try {
                forced = length;
            } finally {
                lock.unlock();
            }
        } catch (IOException failure) {
            failGroups(group, failure);
        }
        group.isDone = true;
    }

    private void failGroups(Group group, IOException failure) {
        group.failure = failure;
        lock.lock();
        try {
            open.failure = failure;
            open.isDone = true;
            open = new Group();
            written = forced;
            truncate(forced, failure);
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the file after the records that are being forced. Further calls have no effect.
     *
     * @param afterwards an action of the call that closes the file, whether it succeeds or not
     */
    void close(Runnable afterwards) throws IOException {
        forcing.lock();
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                try {
                    bytes.close();
                } finally {
                    afterwards.run();
                }
            }
        } finally {
            lock.unlock();
            forcing.unlock();
        }
    }
}
