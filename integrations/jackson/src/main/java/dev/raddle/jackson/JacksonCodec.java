package dev.raddle.jackson;

import dev.raddle.flow.FlowCodec;
import dev.raddle.task.CheckReturnValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Stores the values of a flow as JSON: records and other classes that Jackson can read and write, lists, maps, and
 * single values such as strings and numbers.
 *
 * {@snippet :
 * FlowCodec codec = JacksonCodec.of(Order.class, Receipt.class);
 * }
 *
 * <p>A string, a boolean, an {@code int} and a {@code double} are stored as such, a list as an array of its elements.
 * Every other value has the name of its type with it, as in {@code {"Order":{"id":17}}}. Only the types that are named
 * here are read, whatever is stored; these need no name: {@code Long}, {@code BigInteger}, {@code BigDecimal},
 * {@code UUID}, {@code Instant}, {@code LocalDate}, {@code Duration}, {@code JsonNode}, {@code byte[]}, and maps whose
 * keys are strings. Collections are read as unmodifiable ones with the same elements in the same order. Maps and sets
 * that have no order, such as {@code Map.of}, are written in one that is the same in each JVM, also inside records, so
 * that equal values have equal bytes.
 *
 * <p>The name of a type is its simple name, so it may move to another package. {@link #with(String, Class)} keeps the
 * name of a type that was renamed. A component that was added to a record is null in values that were stored
 * before, so it must not be of a primitive type; one that was removed is ignored.
 */
public final class JacksonCodec implements FlowCodec {

    private static final String MAP = "Map";
    private static final JacksonCodec BASIC = new JacksonCodec(FixedOrder.of(new JsonMapper()), Map.of())
            .with(Long.class)
            .with(Double.class)
            .with(BigInteger.class)
            .with(BigDecimal.class)
            .with(UUID.class)
            .with(Instant.class)
            .with(LocalDate.class)
            .with(Duration.class)
            .with(JsonNode.class)
            .with("bytes", byte[].class);

    private final JsonMapper mapper;
    private final Map<String, Class<?>> types; // by name

    private JacksonCodec(JsonMapper mapper, Map<String, Class<?>> types) {
        this.mapper = mapper;
        this.types = types;
    }

    /**
     * Returns a codec for values of some types.
     *
     * @param types classes and records; an interface or an abstract class if Jackson can find out the class of a value,
     *     as with {@code @JsonTypeInfo}
     * @return a new codec
     * @throws IllegalArgumentException if two types have the same simple name; give one of them another one by
     *     {@link #with(String, Class)}
     */
    public static JacksonCodec of(Class<?>... types) {
        JacksonCodec codec = BASIC;
        for (Class<?> type : types) {
            codec = codec.with(type);
        }
        return codec;
    }

    private JacksonCodec with(Class<?> type) {
        return with(type.getSimpleName(), type);
    }

    /**
     * Adds a type under a name of its own.
     *
     * @param name the name with which its values are stored
     * @param type the type
     * @return a changed copy
     * @throws IllegalArgumentException if another type has the name
     */
    @CheckReturnValue
    public JacksonCodec with(String name, Class<?> type) {
        Map<String, Class<?>> more = new LinkedHashMap<>(types);
        Class<?> before = more.put(name, type);
        if (name.equals(MAP) || (before != null && before != type)) {
            throw new IllegalArgumentException("the name \"" + name + "\" is that of "
                    + (before == null ? "maps" : before.getName()) + "; give " + type.getName()
                    + " another one: with(\"Other" + name + "\", …)");
        }
        return new JacksonCodec(mapper, Collections.unmodifiableMap(more));
    }

    /**
     * Sets the mapper, for its modules and settings. A mapper that changes what was stored needs a new version of the
     * flow.
     *
     * @param other the mapper; the default is one without settings
     * @return a changed copy
     */
    @CheckReturnValue
    public JacksonCodec withMapper(JsonMapper other) {
        return new JacksonCodec(FixedOrder.of(other), types);
    }

    @Override
    public byte[] encode(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = mapper.createGenerator(bytes)) {
            write(out, value);
        } catch (JacksonException failure) {
            throw new IOException("a " + value.getClass().getName() + " cannot be stored as JSON", failure);
        }
        return bytes.toByteArray();
    }

    private void write(JsonGenerator out, @Nullable Object value) throws IOException {
        switch (value) {
            case null -> out.writeNull();
            case String text -> out.writeString(text);
            case Boolean bit -> out.writeBoolean(bit);
            case Integer number -> out.writeNumber(number);
            case Double number when Double.isFinite(number) -> out.writeNumber(number);
            case List<?> list -> {
                out.writeStartArray();
                for (Object each : list) {
                    write(out, each);
                }
                out.writeEndArray();
            }
            case Map<?, ?> map -> writeMap(out, map);
            default -> {
                out.writeStartObject();
                out.writeName(nameOf(value));
                mapper.writeValue(out, value);
                out.writeEndObject();
            }
        }
    }

    private void writeMap(JsonGenerator out, Map<?, ?> map) throws IOException {
        out.writeStartObject();
        out.writeName(MAP);
        out.writeStartObject();
        for (Map.Entry<String, ?> each : inFixedOrder(map).entrySet()) {
            out.writeName(each.getKey());
            write(out, each.getValue());
        }
        out.writeEndObject();
        out.writeEndObject();
    }

    /** Returns a map whose order is the same in each JVM, so that equal maps such as of Map.of have one encoding. */
    private static Map<String, @Nullable Object> inFixedOrder(Map<?, ?> map) throws IOException {
        Map<String, @Nullable Object> ordered = map instanceof SequencedMap ? new LinkedHashMap<>() : new TreeMap<>();
        for (Map.Entry<?, ?> each : map.entrySet()) {
            if (!(each.getKey() instanceof String key)) {
                throw new IOException("the keys of a map must be strings; make the map a component of a record");
            }
            ordered.put(key, each.getValue());
        }
        return ordered;
    }

    /** Returns the name of the class of a value, or else of the first type that includes it. */
    private String nameOf(Object value) throws IOException {
        String name = null;
        for (Map.Entry<String, Class<?>> each : types.entrySet()) {
            if (each.getValue() == value.getClass()) {
                return each.getKey();
            }
            if (name == null && each.getValue().isInstance(value)) {
                name = each.getKey();
            }
        }
        if (name == null) {
            String type = value.getClass().getName();
            throw new IOException("this codec does not know " + type + "; name it: JacksonCodec.of("
                    + value.getClass().getSimpleName() + ".class)");
        }
        return name;
    }

    @Override
    public Object decode(byte[] bytes) throws IOException {
        try (JsonParser in = mapper.createParser(bytes)) {
            Object value = read(in, in.nextToken());
            if (value == null || in.nextToken() != null) {
                throw new IOException("the stored JSON is not one value");
            }
            return value;
        } catch (JacksonException failure) {
            throw new IOException("the stored JSON cannot be read", failure);
        }
    }

    private @Nullable Object read(JsonParser in, @Nullable JsonToken token) throws IOException {
        return switch (token) {
            case VALUE_NULL -> null;
            case VALUE_STRING -> in.getString();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NUMBER_INT -> in.getIntValue();
            case VALUE_NUMBER_FLOAT -> in.getDoubleValue();
            case START_ARRAY -> {
                List<@Nullable Object> list = new ArrayList<>();
                for (JsonToken next; (next = in.nextToken()) != JsonToken.END_ARRAY; ) {
                    list.add(read(in, next));
                }
                yield Collections.unmodifiableList(list);
            }
            case START_OBJECT -> readNamed(in);
            case null, default -> throw new IOException("the stored JSON ends too early");
        };
    }

    private Object readNamed(JsonParser in) throws IOException {
        String name = String.valueOf(in.nextName());
        JsonToken token = in.nextToken();
        Object value = name.equals(MAP) ? readMap(in, token) : readValue(in, typeOf(name));
        if (value == null || in.nextToken() != JsonToken.END_OBJECT) {
            throw new IOException("the stored JSON is not one " + name);
        }
        return value;
    }

    private @Nullable Object readValue(JsonParser in, Class<?> type) {
        return mapper.readerFor(type)
                .without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .readValue(in);
    }

    private Map<String, @Nullable Object> readMap(JsonParser in, @Nullable JsonToken token) throws IOException {
        if (token != JsonToken.START_OBJECT) {
            throw new IOException("the stored JSON is not a map");
        }
        SequencedMap<String, @Nullable Object> map = new LinkedHashMap<>();
        for (String key; (key = in.nextName()) != null; ) {
            map.put(key, read(in, in.nextToken()));
        }
        return Collections.unmodifiableSequencedMap(map);
    }

    private Class<?> typeOf(String name) throws IOException {
        Class<?> type = types.get(name);
        if (type == null) {
            throw new IOException("this codec does not know the stored type \"" + name + "\"; name its class: with(\""
                    + name + "\", …)");
        }
        return type;
    }
}
