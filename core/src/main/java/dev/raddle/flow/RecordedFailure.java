package dev.raddle.flow;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An exception as a journal keeps it: without its class, which another process may not have, and of bounded size.
 *
 * @param type the name of the class of the exception
 * @param message its message, or the first 2 000 characters of it; may be null
 * @param trace the first lines of its stack trace and of its cause, for people; may be empty
 */
public record RecordedFailure(String type, @Nullable String message, String trace) implements Serializable {

    /** The type of the failure of an attempt whose process has died, which is not the name of a class. */
    public static final String LOST = "lost process";

    private static final int MOST_OF_MESSAGE = 2_000;
    private static final int FRAMES = 16;
    private static final int CAUSES = 4;

    /** Ensures that the type and the trace are not null. */
    public RecordedFailure {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(trace, "trace");
    }

    /**
     * Returns the record of an exception.
     *
     * @param failure the exception; its methods may throw, too
     * @return its record
     */
    public static RecordedFailure of(Throwable failure) {
        if (failure instanceof RecordedException again) {
            return again.failure();
        }
        return new RecordedFailure(failure.getClass().getName(), messageOf(failure), traceOf(failure));
    }

    /** Returns the record of an attempt whose process has died. */
    static RecordedFailure ofLost(Entry.AttemptBegan attempt) {
        return new RecordedFailure(
                LOST,
                "the process has died during attempt " + attempt.attempt() + " of node \"" + attempt.id() + "\"",
                "");
    }

    /** Calls a method of an exception, which may be user code. */
    private static <T extends @Nullable Object> T read(Supplier<T> method, Function<Throwable, T> otherwise) {
        try {
            return method.get();
        } catch (Throwable broken) {
            return otherwise.apply(broken);
        }
    }

    private static @Nullable String messageOf(Throwable failure) {
        String text = RecordedFailure.<@Nullable String>read(
                failure::getMessage,
                broken -> "its message could not be read: " + broken.getClass().getName());
        if (text == null) {
            return null;
        }
        return text.length() <= MOST_OF_MESSAGE
                ? encodable(text)
                : encodable(text.substring(0, MOST_OF_MESSAGE)) + "...";
    }

    /** Returns the cause of an exception; null if there is none, or it cannot be read. */
    static @Nullable Throwable causeOf(Throwable failure) {
        return RecordedFailure.<@Nullable Throwable>read(failure::getCause, broken -> null);
    }

    /** Returns a text without halves of surrogate pairs, which UTF-8 cannot encode. */
    private static String encodable(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private static String traceOf(Throwable failure) {
        StringBuilder text = new StringBuilder();
        Throwable each = failure;
        for (int depth = 0; each != null && depth < CAUSES; depth++) {
            if (depth > 0) {
                text.append("caused by ").append(each.getClass().getName());
                text.append(": ").append(messageOf(each)).append('\n');
            }
            StackTraceElement[] frames =
                    RecordedFailure.<StackTraceElement @Nullable []>read(each::getStackTrace, broken -> null);
            for (int frame = 0; frames != null && frame < Math.min(FRAMES, frames.length); frame++) {
                text.append("at ").append(frames[frame]).append('\n');
            }
            each = causeOf(each);
        }
        return encodable(text.toString());
    }

    /**
     * Returns an exception with this record.
     *
     * @return a new exception without a stack trace
     */
    RecordedException toException() {
        return new RecordedException(this);
    }

    @Override
    public String toString() {
        return message == null ? type : type + ": " + message;
    }
}
