package dev.raddle.redis;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Counts what runs in all processes of a test at the same time, in a file that they have mapped into their memory. It
 * knows nothing of Redis, so it notices what the fleet itself does not.
 */
final class PeakFile implements AutoCloseable {

    /*
     * Overview.
     *
     * Each group, and the cap, is one word of eight bytes: byte s is the number of tasks that run in the process
     * with slot s.
     *
     *   enter   adds 1 to the byte of the process, in one atomic step, which returns all other bytes of the same
     *           moment. Their sum is the number of running tasks: exact, whatever the others do.
     *   leave   subtracts 1.
     *   forget  clears the byte of a process that is known to be dead. A process may be killed between any two
     *           steps: the byte is right in each case, because there is only one step.
     *
     * An excess is recorded with the whole word, so that a judge may find out later which process was late. The
     * counts of a process that runs at most 255 tasks do not overflow.
     *
     * The file is a sequence of longs: a header, `SLOTS` blocks of counts of a process, `groups` + 1 blocks of a
     * group (the last one is the cap's), a ring of excesses, a ring of stalls, and a histogram of waiting times.
     */
    static final int SLOTS = 8;

    private static final int HEADER = 8;
    private static final int EXCESSES = 0; // number of recorded excesses
    private static final int STALLS = 1; // number of recorded stalls

    private static final int PROCESS = 72;
    private static final int TASKS = 0;
    private static final int INTERRUPTED = 1;
    private static final int ACQUIRED = 2;
    private static final int OUTAGES = 3;
    private static final int LOST = 4;
    private static final int THREADS = 8; // tasks of each thread
    static final int MAX_THREADS = 64;

    private static final int GROUP = 8;
    private static final int WORD = 0;
    private static final int LIMIT = 1;
    private static final int PEAK = 2;
    private static final int FENCE = 3; // the last fencing number x SLOTS + the slot of its process
    private static final int LAST_WORD = 4; // the last recorded excess
    private static final int LAST_TIME = 5;

    private static final int RING = 1 << 16;
    private static final int EXCESS = 4; // group, kind, moment, word
    private static final int STALL = 3; // slot, begin, end
    private static final long SAME_EXCESS_NANOS = 5_000_000;

    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment file;
    private final int groups;

    private PeakFile(Path path, int groups) throws IOException {
        this.groups = groups;
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long longs = histogramAt() + Waits.BUCKETS;
            file = channel.map(FileChannel.MapMode.READ_WRITE, 0, longs * Long.BYTES, arena);
        }
    }

    /** Opens a file, which is created if there is none. All processes give the same number of groups. */
    static PeakFile open(Path path, int groups) {
        try {
            return new PeakFile(path, groups);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long groupAt(int group) {
        return HEADER + (long) SLOTS * PROCESS + (long) group * GROUP;
    }

    private long excessAt(long index) {
        return groupAt(groups + 1) + index % RING * EXCESS;
    }

    private long stallAt(long index) {
        return groupAt(groups + 1) + (long) RING * EXCESS + index % RING * STALL;
    }

    private long histogramAt() {
        return groupAt(groups + 1) + (long) RING * (EXCESS + STALL);
    }

    private static long processAt(int slot) {
        return HEADER + (long) slot * PROCESS;
    }

    private long get(long index) {
        return (long) LONG.getVolatile(file, index * Long.BYTES);
    }

    private void set(long index, long value) {
        LONG.setVolatile(file, index * Long.BYTES, value);
    }

    private long getAndAdd(long index, long delta) {
        return (long) LONG.getAndAdd(file, index * Long.BYTES, delta);
    }

    /** Sets the maximum of a long to at least a value, and returns what was there. */
    private long getAndMax(long index, long value) {
        while (true) {
            long old = get(index);
            if (old >= value || LONG.compareAndSet(file, index * Long.BYTES, old, value)) {
                return old;
            }
        }
    }

    int groups() {
        return groups;
    }

    /** Sets what the judge compares with: the limit of a group, or of the cap, whose number is {@link #groups}. */
    void setLimit(int group, int limit) {
        set(groupAt(group) + LIMIT, limit);
    }

    int limit(int group) {
        return (int) get(groupAt(group) + LIMIT);
    }

    /** Returns the largest number of tasks that ran at the same moment. */
    int peak(int group) {
        return (int) get(groupAt(group) + PEAK);
    }

    /** Returns how many tasks run. */
    int running(int group) {
        return sum(get(groupAt(group) + WORD));
    }

    /** A task of a group begins to run in a process. */
    void enter(int slot, int group) {
        enterOne(slot, group);
        enterOne(slot, groups);
    }

    /** A task has ended. */
    void leave(int slot, int group) {
        getAndAdd(groupAt(groups) + WORD, -one(slot));
        getAndAdd(groupAt(group) + WORD, -one(slot));
    }

    /** A process is dead, and so are its tasks. */
    void forget(int slot) {
        for (int group = 0; group <= groups; group++) {
            long mask = ~(0xffL << (Byte.SIZE * slot));
            long unused = (long) LONG.getAndBitwiseAnd(file, (groupAt(group) + WORD) * Long.BYTES, mask);
        }
    }

    private void enterOne(int slot, int group) {
        long at = groupAt(group);
        long word = getAndAdd(at + WORD, one(slot)) + one(slot);
        int running = sum(word);
        getAndMax(at + PEAK, running);
        if (running > get(at + LIMIT)) {
            recordOnce(at, new Excess(group, Excess.Kind.PERMITS, System.nanoTime(), word));
        }
    }

    /**
     * A task of a group of limit 1 presents its fencing number to what it guards, which remembers the highest one.
     * A lower one, or the same one from another process, is an excess.
     */
    void guard(int slot, int group, long fence) {
        long last = getAndMax(groupAt(group) + FENCE, fence * SLOTS + slot);
        boolean same = last / SLOTS == fence;
        if (last / SLOTS > fence || same && last % SLOTS != slot) {
            record(new Excess(group, Excess.Kind.FENCE, System.nanoTime(), one(slot)));
        }
    }

    private void recordOnce(long at, Excess excess) {
        boolean recent = excess.moment() - get(at + LAST_TIME) < SAME_EXCESS_NANOS;
        if (recent && get(at + LAST_WORD) == excess.word()) {
            return;
        }
        set(at + LAST_WORD, excess.word());
        set(at + LAST_TIME, excess.moment());
        record(excess);
    }

    private void record(Excess excess) {
        long at = excessAt(getAndAdd(EXCESSES, 1));
        set(at, excess.group());
        set(at + 1, excess.kind().ordinal());
        set(at + 3, excess.word());
        set(at + 2, excess.moment()); // the last one: not 0 when the others are written
    }

    long excesses() {
        return get(EXCESSES);
    }

    /** Returns an excess, of the last ones. */
    Excess excess(long index) {
        long at = excessAt(index);
        return new Excess((int) get(at), Excess.Kind.values()[(int) get(at + 1)], get(at + 2), get(at + 3));
    }

    /** Records that a process did not run for a time. */
    void stalled(int slot, long begin, long end) {
        long at = stallAt(getAndAdd(STALLS, 1));
        set(at, slot);
        set(at + 1, begin);
        set(at + 2, end);
    }

    long stalls() {
        return get(STALLS);
    }

    Stall stall(long index) {
        long at = stallAt(index);
        return new Stall((int) get(at), get(at + 1), get(at + 2));
    }

    static int ringSize() {
        return RING;
    }

    /** Counts a task that a thread of a process has completed. */
    void completed(int slot, int thread, long waitedNanos) {
        getAndAdd(processAt(slot) + TASKS, 1);
        getAndAdd(processAt(slot) + THREADS + thread, 1);
        getAndAdd(histogramAt() + Waits.bucket(waitedNanos), 1);
    }

    void interrupted(int slot) {
        getAndAdd(processAt(slot) + INTERRUPTED, 1);
    }

    /** Publishes what the fleet of a process says of itself. */
    void publish(int slot, FleetStats stats) {
        set(processAt(slot) + ACQUIRED, stats.acquired());
        set(processAt(slot) + OUTAGES, stats.outages());
        set(processAt(slot) + LOST, stats.lost());
    }

    long tasks(int slot) {
        return get(processAt(slot) + TASKS);
    }

    long tasksOfThread(int slot, int thread) {
        return get(processAt(slot) + THREADS + thread);
    }

    long interruptedTasks(int slot) {
        return get(processAt(slot) + INTERRUPTED);
    }

    long acquired(int slot) {
        return get(processAt(slot) + ACQUIRED);
    }

    long outages(int slot) {
        return get(processAt(slot) + OUTAGES);
    }

    long lost(int slot) {
        return get(processAt(slot) + LOST);
    }

    /** Starts the counts of a process anew. */
    void clearCounts(int slot) {
        for (int i = 0; i < PROCESS; i++) {
            set(processAt(slot) + i, 0);
        }
    }

    /** Returns the waiting times. */
    Waits waits() {
        long[] counts = new long[Waits.BUCKETS];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = get(histogramAt() + i);
        }
        return new Waits(counts);
    }

    private static long one(int slot) {
        return 1L << (Byte.SIZE * slot);
    }

    private static int sum(long word) {
        int sum = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            sum += held(word, slot);
        }
        return sum;
    }

    private static int held(long word, int slot) {
        return (int) (word >>> (Byte.SIZE * slot)) & 0xff;
    }

    @Override
    public void close() {
        arena.close();
    }

    /**
     * A process did not run between two moments.
     *
     * @param slot the process
     * @param begin the moment before
     * @param end the moment after
     */
    record Stall(int slot, long begin, long end) {}

    /**
     * More than the limit ran, or a fencing number was too low.
     *
     * @param group the group
     * @param kind which of them
     * @param moment when it was seen, in System.nanoTime(), which all processes of a machine share
     * @param word the running tasks of each process, or a 1 for the process with the fencing number
     */
    record Excess(int group, Kind kind, long moment, long word) {
        enum Kind {
            PERMITS,
            FENCE
        }

        int held(int slot) {
            return PeakFile.held(word, slot);
        }

        int running() {
            return sum(word);
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(kind + " of group " + group + ": " + running() + " by process");
            for (int slot = 0; slot < SLOTS; slot++) {
                text.append(' ').append(held(slot));
            }
            return text.toString();
        }
    }
}
