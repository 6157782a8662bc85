package dev.raddle.flow;

import java.io.IOException;

/**
 * Converts the values of nodes to bytes and back, for journals that are stored outside of the JVM.
 *
 * {@snippet :
 * FlowCodec orders = FlowCodec.of(Order::toBytes, Order::fromBytes, Order.class);
 * }
 *
 * <p>One codec converts all values of a run: those of nodes, of elements of a {@code map}, of signals, and, for its
 * digest, the parameter. An implementation must be thread-safe. It must not depend on the process: another process, or
 * a later version of the program, decodes the bytes. Null is never passed to a codec; a journal stores it by itself.
 */
public interface FlowCodec {

    /**
     * Encodes a value.
     *
     * @param value the value, not null
     * @return its bytes
     * @throws IOException if the value cannot be encoded; the node whose value it is then fails
     */
    byte[] encode(Object value) throws IOException;

    /**
     * Decodes a value.
     *
     * @param bytes the bytes that {@link #encode} has returned
     * @return an equal value
     * @throws IOException if the bytes cannot be decoded; the journal can then not be opened
     */
    Object decode(byte[] bytes) throws IOException;

    /**
     * Returns a codec for values that are strings, which are stored in UTF-8.
     *
     * @return the codec
     */
    static FlowCodec text() {
        return BasicCodecs.text();
    }

    /**
     * Returns a codec for values that are byte arrays, which are stored as they are.
     *
     * @return the codec
     */
    static FlowCodec bytes() {
        return BasicCodecs.bytes();
    }

    /**
     * Returns a codec for the values of one class.
     *
     * @param <X> the type of the values
     * @param encoding the function from a value to its bytes
     * @param decoding the function from the bytes to an equal value
     * @param type the class of the values; a value of another class is refused
     * @return a new codec
     */
    static <X> FlowCodec of(
            CheckedFunction.F1<X, byte[]> encoding, CheckedFunction.F1<byte[], ? extends X> decoding, Class<X> type) {
        return new BasicCodecs.Typed<>(encoding, decoding, type);
    }
}
