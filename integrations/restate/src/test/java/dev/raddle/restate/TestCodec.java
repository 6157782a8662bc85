package dev.raddle.restate;

import dev.raddle.flow.FlowCodec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Stores strings, and lists of strings. */
enum TestCodec implements FlowCodec {
    CODEC;

    @Override
    public byte[] encode(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        switch (value) {
            case String text -> {
                out.writeByte('S');
                out.write(text.getBytes(StandardCharsets.UTF_8));
            }
            case List<?> list -> {
                out.writeByte('L');
                for (Object each : list) {
                    out.writeUTF((String) each);
                }
            }
            default -> throw new IOException("a " + value.getClass().getName() + " is neither a string nor a list");
        }
        return bytes.toByteArray();
    }

    @Override
    public Object decode(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        return switch (in.readByte()) {
            case 'S' -> new String(in.readAllBytes(), StandardCharsets.UTF_8);
            case 'L' -> {
                List<String> list = new ArrayList<>();
                while (in.available() > 0) {
                    list.add(in.readUTF());
                }
                yield list;
            }
            default -> throw new IOException("neither a string nor a list");
        };
    }

    static byte[] bytes(Object value) {
        try {
            return CODEC.encode(value);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    static Object value(byte[] bytes) {
        try {
            return CODEC.decode(bytes);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
