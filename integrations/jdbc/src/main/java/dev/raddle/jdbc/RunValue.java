package dev.raddle.jdbc;

import dev.raddle.flow.FlowResult;
import dev.raddle.flow.PlanNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes the value of a run.
 *
 * @param values the codec of the values of nodes
 */
record RunValue(Values values) {

    /*
     * Overview.
     *
     * A codec is for the parameter and the values of nodes. The value of a run may be more than that: a map of the
     * values of several nodes, or the list of the elements of a node, which the journal records one by one. These are
     * stored as
     *
     *   MARK 'M' n (id part)*    the map of a plan with a list of outputs
     *   MARK 'L' n part*         a list that the codec cannot encode
     *   MARK 'B' bytes           a value whose encoding begins with MARK
     *
     * where a part is 'N' for null, 'B' and the encoding of a value, or 'L' n part*. Everything else is what the codec
     * has made of the value. The limit of the length is that of each value of a node.
     */
    private static final byte[] MARK = {0, 'r', 'a', 'd', 'd', 'l', 'e', 1};

    private static final char MAP = 'M';
    private static final char LIST = 'L';
    private static final char NULL = 'N';
    private static final char BYTES = 'B';

    /** Encodes the value of a run; null for null. Throws if it has none, or one that cannot be stored. */
    byte @Nullable [] encode(FlowResult<?> result, List<PlanNode> nodes) throws IOException {
        Object value = result.value();
        if (value == null) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.write(MARK);
        if (value instanceof Map<?, ?> map && isOfSeveral(result, value, nodes)) {
            out.write(MAP);
            out.writeInt(map.size());
            for (Map.Entry<?, ?> each : map.entrySet()) {
                String id = String.valueOf(each.getKey());
                write(out, id.getBytes(StandardCharsets.UTF_8));
                writePart(out, "the value of node \"" + id + "\"", each.getValue());
            }
            return bytes.toByteArray();
        }
        byte[] encoded = encodePart(out, "the value of the run", value);
        if (encoded != null && !isMarked(encoded)) {
            return encoded;
        }
        if (encoded != null) {
            out.write(BYTES);
            out.write(encoded);
        }
        return bytes.toByteArray();
    }

    /** Returns whether the value is a map that the run has made of the values of nodes. */
    private static boolean isOfSeveral(FlowResult<?> result, Object value, List<PlanNode> nodes) {
        return nodes.stream()
                .filter(PlanNode::output)
                .noneMatch(node -> result.node(node.id()).value() == value);
    }

    private void writePart(DataOutputStream out, String what, @Nullable Object value) throws IOException {
        if (value == null) {
            out.write(NULL);
            return;
        }
        byte[] encoded = encodePart(out, what, value);
        if (encoded != null) {
            out.write(BYTES);
            write(out, encoded);
        }
    }

    /** Returns the encoding of a value, or writes it as a list and returns null. */
    private byte @Nullable [] encodePart(DataOutputStream out, String what, Object value) throws IOException {
        try {
            return values.encode(what, value);
        } catch (IOException cannot) {
            if (!(value instanceof List<?> list)) {
                throw cannot;
            }
            out.write(LIST);
            out.writeInt(list.size());
            for (Object each : list) {
                writePart(out, "an element of " + what, each);
            }
            return null;
        }
    }

    private static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static boolean isMarked(byte[] bytes) {
        return bytes.length > MARK.length && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length);
    }

    /** Decodes the value of a run; null for null. */
    @Nullable
    Object decode(byte @Nullable [] bytes) throws IOException {
        if (bytes == null || !isMarked(bytes)) {
            return values.decode(bytes);
        }
        DataInputStream in =
                new DataInputStream(new ByteArrayInputStream(bytes, MARK.length, bytes.length - MARK.length));
        int kind = in.read();
        return switch (kind) {
            case BYTES -> values.decode(in.readAllBytes());
            case LIST -> readList(in);
            case MAP -> readMap(in);
            default -> throw new IOException("the value has the unknown form " + kind + "; it is of a newer version");
        };
    }

    private Map<String, @Nullable Object> readMap(DataInputStream in) throws IOException {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            String id = new String(read(in), StandardCharsets.UTF_8);
            map.put(id, readPart(in));
        }
        return map;
    }

    private List<@Nullable Object> readList(DataInputStream in) throws IOException {
        List<@Nullable Object> list = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            list.add(readPart(in));
        }
        return Collections.unmodifiableList(list);
    }

    private @Nullable Object readPart(DataInputStream in) throws IOException {
        int kind = in.read();
        return switch (kind) {
            case NULL -> null;
            case LIST -> readList(in);
            case BYTES -> values.decode(read(in));
            default -> throw new IOException("a part of the value has the unknown form " + kind);
        };
    }

    private static byte[] read(DataInputStream in) throws IOException {
        return in.readNBytes(in.readInt());
    }
}
