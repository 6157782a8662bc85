package dev.raddle.restate;

import dev.restate.common.Slice;
import dev.restate.serde.Serde;
import org.jspecify.annotations.Nullable;

/** Passes bytes through. Unlike the SDK's own, it copies a slice of a larger array correctly. */
enum Bytes implements Serde<byte[]> {
    SERDE;

    @Override
    public Slice serialize(byte @Nullable [] value) {
        return value == null ? Slice.EMPTY : Slice.wrap(value);
    }

    @Override
    public byte[] deserialize(Slice slice) {
        byte[] bytes = new byte[slice.readableBytes()];
        slice.copyTo(bytes);
        return bytes;
    }
}
