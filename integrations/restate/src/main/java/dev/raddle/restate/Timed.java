package dev.raddle.restate;

import java.nio.ByteBuffer;
import java.time.Instant;

/** Bytes with the time at which they were written, as the engine stores them. */
final class Timed {

    private static final byte VERSION = 1;
    private static final int HEADER = Byte.BYTES + Long.BYTES;

    private final long epochNanos; // since 1970
    private final byte[] body;

    private Timed(long epochNanos, byte[] body) {
        this.epochNanos = epochNanos;
        this.body = body;
    }

    long epochNanos() {
        return epochNanos;
    }

    byte[] body() {
        return body;
    }

    static long nowNanos() {
        Instant now = Instant.now();
        return Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
    }

    /** Returns the encoding of some bytes that are written now. */
    static byte[] now(byte[] body) {
        return ByteBuffer.allocate(HEADER + body.length)
                .put(VERSION)
                .putLong(nowNanos())
                .put(body)
                .array();
    }

    static Timed fromBytes(byte[] bytes) {
        if (bytes.length < HEADER || bytes[0] != VERSION) {
            throw new IllegalStateException(
                    "the run was begun by another version of this library, which must continue it at its own address");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, Byte.BYTES, bytes.length - Byte.BYTES);
        long epochNanos = buffer.getLong();
        byte[] body = new byte[buffer.remaining()];
        buffer.get(body);
        return new Timed(epochNanos, body);
    }
}
