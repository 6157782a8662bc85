package dev.raddle.flow;

import dev.raddle.time.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Converts entries, and the results of calls, to lines of text fields, separated by spaces, and back. */
final class EntryLines {

    /*
     * The first field is the kind of the entry. Texts are as they are, with percent escapes for spaces, control
     * characters and the percent sign. A value is "-" for null, else "=" and its bytes in base 64; a text that may be
     * null is "-", or "=" and the text.
     */

    private static final String NULL = "-";
    private static final String LAST = "last";
    private static final String RETRIED = "retried";
    private static final String END = " ."; // of a result, which has no checksum
    private static final String HEX = "0123456789ABCDEF";

    private final FlowCodec codec;

    EntryLines(FlowCodec codec) {
        this.codec = codec;
    }

    FlowCodec codec() {
        return codec;
    }

    /** Returns the line of an entry, without a line end. */
    String encode(Entry entry) throws IOException {
        return switch (entry) {
            case Entry.Begun begun -> line("begun", begun.at(), begun.again());
            case Entry.NodeEnded end ->
                line("ended", end.id(), end.state(), end.via(), end.attempt(), end.number(), end.at())
                        + line("", value(end.value()), end.failure());
            case Entry.AttemptBegan attempt -> line("began", attempt.id(), attempt.attempt());
            case Entry.AttemptFailed failed ->
                line("failed", failed.id(), failed.attempt(), failed.isLast() ? LAST : RETRIED, failed.failure());
            case Entry.DeadlineSet limit -> line("deadline", limit.id(), limit.until());
            case Entry.SleepUntil sleep -> line("sleep", sleep.id(), sleep.until());
            case Entry.SignalReceived signal -> line("signal", signal.id(), value(signal.value()));
            case Entry.ElementEnded element -> line("element", element.id(), element.index(), value(element.value()));
            case Entry.MapEnded map -> line("map", map.id(), map.size(), map.number(), map.at());
            case Entry.Compensating stopped -> line("compensating", stopped.status(), stopped.at(), stopped.cause());
            case Entry.CompensationAttemptFailed failed ->
                line("undo-failed", failed.id(), failed.attempt(), failed.isLast() ? LAST : RETRIED, failed.failure());
            case Entry.Compensated done -> line("compensated", done.id());
            case Entry.RunEnded end -> line("end", end.status());
        };
    }

    /**
     * Returns the entry of a line.
     *
     * @param fields the fields of the line
     * @throws IOException if a value cannot be decoded
     * @throws RuntimeException if this is not the line of an entry
     */
    Entry decode(String[] fields) throws IOException {
        String id = plain(fields[1]); // or another text
        return switch (fields[0]) {
            case "begun" ->
                new Entry.Begun(
                        Instant.parse(id),
                        Arrays.stream(fields).skip(2).map(EntryLines::plain).toList());
            case "ended" ->
                new Entry.NodeEnded(
                        id,
                        NodeState.valueOf(fields[2]),
                        ValueSource.valueOf(fields[3]),
                        value(fields[7]),
                        Integer.parseInt(fields[4]),
                        failure(fields, 8),
                        Long.parseLong(fields[5]),
                        Instant.parse(fields[6]));
            case "began" -> new Entry.AttemptBegan(id, Integer.parseInt(fields[2]));
            case "failed" ->
                new Entry.AttemptFailed(id, Integer.parseInt(fields[2]), known(fields, 4), fields[3].equals(LAST));
            case "undo-failed" ->
                new Entry.CompensationAttemptFailed(
                        id, Integer.parseInt(fields[2]), known(fields, 4), fields[3].equals(LAST));
            case "deadline" -> new Entry.DeadlineSet(id, Instant.parse(fields[2]));
            case "sleep" -> new Entry.SleepUntil(id, Instant.parse(fields[2]));
            case "signal" -> new Entry.SignalReceived(id, value(fields[2]));
            case "element" -> new Entry.ElementEnded(id, Integer.parseInt(fields[2]), value(fields[3]));
            case "map" ->
                new Entry.MapEnded(
                        id, Integer.parseInt(fields[2]), Long.parseLong(fields[3]), Instant.parse(fields[4]));
            case "compensating" ->
                new Entry.Compensating(FlowStatus.valueOf(id), failure(fields, 3), Instant.parse(fields[2]));
            case "compensated" -> new Entry.Compensated(id);
            case "end" -> new Entry.RunEnded(FlowStatus.valueOf(id));
            default -> throw new IllegalArgumentException("unknown kind of entry \"" + fields[0] + "\"");
        };
    }

    /** Returns the line of the result of a call. */
    String encode(CallResult result) throws IOException {
        String line = switch (result) {
            case CallResult.Returned(Object value) -> line("returned", value(value));
            case CallResult.Recovered(Object value, Throwable failure) ->
                line("recovered", value(value), RecordedFailure.of(failure));
            case CallResult.Failed(Throwable failure) -> line("failed", RecordedFailure.of(failure));
            case CallResult.Retry(Throwable failure, Duration delay) ->
                line("retry", Deadline.nanos(delay), RecordedFailure.of(failure));
        };
        return line + END;
    }

    /**
     * Returns the result of a call.
     *
     * @throws IOException if the value cannot be decoded
     * @throws RuntimeException if this is not the line of a result
     */
    CallResult decodeResult(String line) throws IOException {
        if (!line.endsWith(END)) {
            throw new IllegalArgumentException("it has no end");
        }
        String[] fields = fields(line);
        return switch (fields[0]) {
            case "returned" -> new CallResult.Returned(value(fields[1]));
            case "recovered" ->
                new CallResult.Recovered(value(fields[1]), known(fields, 2).toException());
            case "failed" -> new CallResult.Failed(known(fields, 1).toException());
            case "retry" ->
                new CallResult.Retry(known(fields, 2).toException(), Duration.ofNanos(Long.parseLong(fields[1])));
            default -> throw new IllegalArgumentException("unknown kind of result \"" + fields[0] + "\"");
        };
    }

    private String value(@Nullable Object value) throws IOException {
        return value == null ? NULL : "=" + Base64.getEncoder().encodeToString(BasicCodecs.encode(codec, value));
    }

    private @Nullable Object value(String field) throws IOException {
        return field.equals(NULL)
                ? null
                : BasicCodecs.decode(codec, Base64.getDecoder().decode(field.substring(1)));
    }

    private static @Nullable RecordedFailure failure(String[] fields, int from) {
        return fields[from].equals(NULL) ? null : known(fields, from);
    }

    private static RecordedFailure known(String[] fields, int from) {
        return new RecordedFailure(plain(fields[from]), optionalOf(fields[from + 1]), plain(fields[from + 2]));
    }

    // Texts.

    /** Returns a line. A failure has three fields, or one if there is none; a list has one for each element. */
    static String line(String kind, @Nullable Object... contents) {
        StringBuilder line = new StringBuilder(kind);
        for (Object content : contents) {
            if (content instanceof RecordedFailure failure) {
                line.append(line("", failure.type(), optional(failure.message()), failure.trace()));
            } else if (content instanceof List<?> list) {
                line.append(line("", list.toArray()));
            } else {
                line.append(' ').append(content == null ? NULL : escaped(content.toString()));
            }
        }
        return line.toString();
    }

    static String optional(@Nullable String text) {
        return text == null ? NULL : "=" + text;
    }

    static @Nullable String optionalOf(String field) {
        return field.equals(NULL) ? null : plain(field.substring(1));
    }

    /** Returns the fields of a line. */
    static String[] fields(String line) {
        return line.split(" ", -1);
    }

    private static boolean isEscaped(int c) {
        return c <= ' ' || c == '%' || c == 0x7f;
    }

    static String escaped(String text) {
        if (text.chars().noneMatch(EntryLines::isEscaped)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 8);
        for (int position = 0; position < text.length(); position++) {
            char c = text.charAt(position);
            if (isEscaped(c)) {
                escaped.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    static String plain(String field) {
        if (field.indexOf('%') < 0) {
            return field;
        }
        StringBuilder plain = new StringBuilder(field.length());
        for (int position = 0; position < field.length(); position++) {
            char c = field.charAt(position);
            if (c == '%') {
                plain.append((char) Integer.parseInt(field, position + 1, position + 3, 16));
                position += 2;
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
