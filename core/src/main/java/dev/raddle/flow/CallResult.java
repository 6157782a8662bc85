package dev.raddle.flow;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The result of one {@linkplain FlowStepper#call call} of an action or a compensation, which a driver may write down
 * before it {@linkplain FlowStepper#settled reports} it. The retry policy and the fallback of the node have been
 * applied by then, where the original exception was known.
 */
public sealed interface CallResult {

    /**
     * The function has returned.
     *
     * @param value its value, may be null
     */
    record Returned(@Nullable Object value) implements CallResult {}

    /**
     * The action has thrown, and the fallback has returned.
     *
     * @param value the value of the fallback, may be null
     * @param failure the exception of the action
     */
    record Recovered(@Nullable Object value, Throwable failure) implements CallResult {}

    /**
     * The function has thrown, and is not called again.
     *
     * @param failure the exception
     */
    record Failed(Throwable failure) implements CallResult {}

    /**
     * The action has thrown, and the retry policy of the node allows another attempt.
     *
     * @param failure the exception
     * @param delay the time until the next attempt
     */
    record Retry(Throwable failure, Duration delay) implements CallResult {}

    /**
     * Encodes this result. Of an exception the bytes contain the name of its class, its message, the beginning of its
     * stack trace, and its causes, but no object.
     *
     * @param codec the codec for the value
     * @return the bytes
     * @throws IOException if the codec cannot encode the value
     */
    default byte[] toBytes(FlowCodec codec) throws IOException {
        return new EntryLines(codec).encode(this).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Decodes a result. Its exceptions are {@link RecordedException}s.
     *
     * @param bytes the bytes that {@link #toBytes} has returned
     * @param codec the codec for the value
     * @return an equal result
     * @throws IOException if the bytes are not an encoded result, or the codec cannot decode the value
     */
    static CallResult fromBytes(byte[] bytes, FlowCodec codec) throws IOException {
        try {
            return new EntryLines(codec).decodeResult(new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException | RuntimeException damaged) {
            throw new IOException("the bytes are not a result of a call: " + damaged.getMessage(), damaged);
        }
    }
}
