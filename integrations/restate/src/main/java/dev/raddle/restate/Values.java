package dev.raddle.restate;

import dev.raddle.flow.CallResult;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.RecordedFailure;
import dev.restate.sdk.common.TerminalException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Encodes and decodes what the engine stores of the values of a flow. An empty array stands for null. */
record Values(FlowCodec codec, int maxBytes) {

    /**
     * Encodes the result of a call. A value that cannot be encoded and decoded again, or is too large, becomes a
     * failure, so that no run is left with a value that it cannot read.
     */
    byte[] encodeResult(String node, CallResult result) {
        try {
            byte[] bytes = result.toBytes(codec);
            if (bytes.length > maxBytes) {
                return failure(
                        "the value of node \"" + node + "\" has " + bytes.length + " bytes, and at most " + maxBytes
                                + " are stored; store it elsewhere and return its place, or raise"
                                + " RestateOptions.withMaxValueBytes",
                        null);
            }
            CallResult.fromBytes(bytes, codec);
            return bytes;
        } catch (Throwable unfit) { // also an Error of the codec is an outcome of the node
            return failure("the value of node \"" + node + "\" cannot be stored: " + RecordedFailure.of(unfit), unfit);
        }
    }

    private byte[] failure(String message, @Nullable Throwable cause) {
        try {
            return new CallResult.Failed(new IOException(message, cause)).toBytes(codec);
        } catch (IOException impossible) {
            throw new IllegalStateException("a failure has no value to encode", impossible);
        }
    }

    /**
     * Decodes the stored result of a call.
     *
     * @throws IllegalStateException if the codec has changed; the engine then tries again
     */
    CallResult decodeResult(String node, byte[] bytes) {
        try {
            return CallResult.fromBytes(bytes, codec);
        } catch (Throwable unreadable) { // whatever a codec throws
            throw new IllegalStateException(
                    "the stored value of node \"" + node + "\" cannot be read: " + RecordedFailure.of(unreadable)
                            + "; serve the codec that wrote it here again, and a changed codec at a new address",
                    unreadable);
        }
    }

    /**
     * Decodes a value that a caller has sent.
     *
     * @throws TerminalException if the codec cannot decode it; the answer says that the request is wrong
     */
    @Nullable
    Object decodeSent(String what, byte[] bytes) {
        try {
            return bytes.length == 0 ? null : codec.decode(bytes);
        } catch (Throwable wrong) {
            throw terminal(
                    TerminalException.BAD_REQUEST_CODE, what + " cannot be read: " + RecordedFailure.of(wrong), wrong);
        }
    }

    /** Encodes the value of a flow. */
    byte[] encodeOutput(String flow, @Nullable Object value) {
        try {
            return value == null ? new byte[0] : codec.encode(value);
        } catch (Throwable unfit) {
            throw terminal(
                    TerminalException.INTERNAL_SERVER_ERROR_CODE,
                    "the value of flow \"" + flow + "\" cannot be encoded: " + RecordedFailure.of(unfit),
                    unfit);
        }
    }

    private static TerminalException terminal(int code, String message, Throwable cause) {
        TerminalException exception = new TerminalException(code, message);
        exception.initCause(cause);
        return exception;
    }
}
