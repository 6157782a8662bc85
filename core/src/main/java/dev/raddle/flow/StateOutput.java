package dev.raddle.flow;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes values and exceptions of a stepper as bytes. */
final class StateOutput {

    static final byte NOTHING = 0;
    static final byte VALUE = 1;
    static final byte LIST = 2;
    static final byte MAP = 3;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final DataOutputStream data = new DataOutputStream(bytes);
    private final FlowCodec codec;
    private final IdentityHashMap<Throwable, Integer> failures =
            new IdentityHashMap<>(); // those that were written, numbered

    StateOutput(FlowCodec codec) {
        this.codec = codec;
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }

    void text(@Nullable String text) throws IOException {
        if (text == null) {
            data.writeInt(-1);
            return;
        }
        bytes(text.getBytes(StandardCharsets.UTF_16BE)); // any text, even with unpaired surrogates
    }

    void constant(Enum<?> constant) throws IOException {
        text(constant.name());
    }

    void bytes(byte[] some) throws IOException {
        data.writeInt(some.length);
        data.write(some);
    }

    void numbers(int[] numbers) throws IOException {
        data.writeInt(numbers.length);
        for (int each : numbers) {
            data.writeInt(each);
        }
    }

    void value(@Nullable Object value) throws IOException {
        if (value == null) {
            data.writeByte(NOTHING);
            return;
        }
        data.writeByte(VALUE);
        bytes(codec.encode(value));
    }

    /** Writes the value of a nested run: its lists and maps are this library's, their elements are the user's. */
    void nestedValue(@Nullable Object value) throws IOException {
        if (value instanceof List<?> list) {
            data.writeByte(LIST);
            data.writeInt(list.size());
            for (Object each : list) {
                value(each);
            }
        } else if (value instanceof Map<?, ?> map) {
            data.writeByte(MAP);
            data.writeInt(map.size());
            for (Map.Entry<?, ?> each : map.entrySet()) {
                text(String.valueOf(each.getKey()));
                value(each.getValue());
            }
        } else {
            value(value);
        }
    }

    /** Writes an exception, or its number if it was written before, so that equal causes stay the same object. */
    void failure(@Nullable Throwable failure) throws IOException {
        if (failure == null) {
            data.writeInt(-1);
            return;
        }
        Integer known = failures.get(failure);
        if (known != null) {
            data.writeInt(known);
            return;
        }
        data.writeInt(failures.size());
        failures.put(failure, failures.size());
        RecordedFailure record = RecordedFailure.of(failure);
        text(record.type());
        text(record.message());
        text(record.trace());
    }

    void failures(List<Throwable> several) throws IOException {
        data.writeInt(several.size());
        for (Throwable each : several) {
            failure(each);
        }
    }
}
