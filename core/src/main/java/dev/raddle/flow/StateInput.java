package dev.raddle.flow;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what {@link StateOutput} has written. */
final class StateInput {

    final DataInputStream data;
    private final FlowCodec codec;
    private final List<Throwable> failures = new ArrayList<>();

    StateInput(byte[] bytes, FlowCodec codec) {
        data = new DataInputStream(new ByteArrayInputStream(bytes));
        this.codec = codec;
    }

    @Nullable
    String text() throws IOException {
        int length = data.readInt();
        return length < 0 ? null : new String(bytes(length), StandardCharsets.UTF_16BE);
    }

    String knownText() throws IOException {
        String text = text();
        if (text == null) {
            throw new IOException("a text is missing");
        }
        return text;
    }

    byte[] bytes() throws IOException {
        return bytes(data.readInt());
    }

    private byte[] bytes(int length) throws IOException {
        if (length < 0 || length > data.available()) {
            throw new EOFException("a field of " + length + " bytes is longer than the rest");
        }
        byte[] some = new byte[length];
        data.readFully(some);
        return some;
    }

    /** Reads a number of elements, each of which has at least some bytes. */
    int count(int bytesOfEach) throws IOException {
        int count = data.readInt();
        if (count < 0 || (long) count * bytesOfEach > data.available()) {
            throw new EOFException("a list of " + count + " elements is longer than the rest");
        }
        return count;
    }

    int[] numbers() throws IOException {
        int[] numbers = new int[count(Integer.BYTES)];
        for (int each = 0; each < numbers.length; each++) {
            numbers[each] = data.readInt();
        }
        return numbers;
    }

    @Nullable
    Object value() throws IOException {
        byte tag = data.readByte();
        return switch (tag) {
            case StateOutput.NOTHING -> null;
            case StateOutput.VALUE -> codec.decode(bytes());
            case StateOutput.LIST -> list();
            case StateOutput.MAP -> map();
            default -> throw new IOException("there is no value with the tag " + tag);
        };
    }

    private List<@Nullable Object> list() throws IOException {
        int size = count(1);
        List<@Nullable Object> values = new ArrayList<>(size);
        for (int each = 0; each < size; each++) {
            values.add(value());
        }
        return Collections.unmodifiableList(values);
    }

    private Map<String, @Nullable Object> map() throws IOException {
        int size = count(1);
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (int each = 0; each < size; each++) {
            values.put(knownText(), value());
        }
        return values;
    }

    @Nullable
    Throwable failure() throws IOException {
        int number = data.readInt();
        if (number < 0) {
            return null;
        }
        if (number < failures.size()) {
            return failures.get(number);
        }
        RecordedFailure record = new RecordedFailure(knownText(), text(), knownText());
        Throwable failure = record.toException();
        failures.add(failure);
        return failure;
    }

    Throwable knownFailure() throws IOException {
        Throwable failure = failure();
        if (failure == null) {
            throw new IOException("an exception is missing");
        }
        return failure;
    }

    List<Throwable> failures() throws IOException {
        int size = count(Integer.BYTES);
        List<Throwable> several = new ArrayList<>(size);
        for (int each = 0; each < size; each++) {
            several.add(knownFailure());
        }
        return several;
    }

    <E extends Enum<E>> E constant(Class<E> type) throws IOException {
        String name = knownText();
        try {
            return Enum.valueOf(type, name);
        } catch (IllegalArgumentException unknown) {
            throw new IOException("there is no " + type.getSimpleName() + " \"" + name + "\"", unknown);
        }
    }

    void ensureEnd() throws IOException {
        if (data.available() > 0) {
            throw new IOException(data.available() + " bytes follow the end");
        }
    }
}
