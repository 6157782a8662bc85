package dev.raddle.jdbc;

import dev.raddle.flow.FlowCodec;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes the values of a flow, and bounds their length.
 *
 * @param codec the codec of the flow
 */
record Values(FlowCodec codec) {

    /** The greatest length of an encoded value. */
    static final int MAX_BYTES = 1_000_000;

    /** Encodes the value of a node; null for null. */
    byte @Nullable [] encodeOf(String node, @Nullable Object value) throws IOException {
        return encode("the value of node \"" + node + "\"", value);
    }

    /** Encodes a value; null for null. Throws if it is too long, or if the codec throws anything. */
    byte @Nullable [] encode(String what, @Nullable Object value) throws IOException {
        if (value == null) {
            return null;
        }
        byte[] bytes;
        try {
            bytes = codec.encode(value);
        } catch (IOException failure) {
            throw failure;
        } catch (Throwable failure) { // also a checked exception that is not declared
            throw new IOException("the codec cannot encode " + what, failure);
        }
        if (bytes == null) {
            throw new IOException("the codec has encoded " + what + " to null");
        }
        if (bytes.length > MAX_BYTES) {
            throw new IOException(what + " has " + bytes.length + " bytes, and at most " + MAX_BYTES
                    + " are stored; store it elsewhere and let the node return a reference to it");
        }
        return bytes;
    }

    /** Decodes a value; null for null. Throws if the codec throws anything. */
    @Nullable
    Object decode(byte @Nullable [] bytes) throws IOException {
        if (bytes == null) {
            return null;
        }
        try {
            return codec.decode(bytes);
        } catch (IOException failure) {
            throw failure;
        } catch (Throwable failure) { // likewise
            throw new IOException("the codec cannot decode a value of " + bytes.length + " bytes", failure);
        }
    }
}
