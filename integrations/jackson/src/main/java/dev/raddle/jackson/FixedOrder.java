package dev.raddle.jackson;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedCollection;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.type.CollectionType;
import tools.jackson.databind.type.MapType;

/**
 * Lets a mapper write maps and sets that have no order, such as {@code Map.of}, in one that is the same in each JVM.
 * Elements are ordered by their JSON.
 */
final class FixedOrder extends ValueSerializerModifier {

    private static final String JACKSON = "tools.jackson.databind.ser.";
    private static final long serialVersionUID = 1;

    private transient @Nullable JsonMapper mapper; // with this modifier; set once, before the mapper is used

    private FixedOrder() {}

    /** Returns a mapper like another one that writes in a fixed order. */
    static JsonMapper of(JsonMapper other) {
        FixedOrder order = new FixedOrder();
        JsonMapper ordered = other.rebuild()
                .addModule(new SimpleModule("raddle-fixed-order").setSerializerModifier(order))
                .build();
        order.mapper = ordered;
        return ordered;
    }

    @Override
    public ValueSerializer<?> modifyMapSerializer(
            SerializationConfig config, MapType type, BeanDescription.Supplier bean, ValueSerializer<?> serializer) {
        return isOfJackson(serializer) ? new Ordering(serializer) : serializer;
    }

    @Override
    public ValueSerializer<?> modifyCollectionSerializer(
            SerializationConfig config,
            CollectionType type,
            BeanDescription.Supplier bean,
            ValueSerializer<?> serializer) {
        return isOfJackson(serializer) ? new Ordering(serializer) : serializer;
    }

    /** Returns whether a serializer takes any map, or any collection. One of a user may need a class. */
    private static boolean isOfJackson(ValueSerializer<?> serializer) {
        return serializer.getClass().getName().startsWith(JACKSON);
    }

    /** Passes a map or a collection in a fixed order to the serializer for it. */
    private final class Ordering extends ValueSerializer<Object> {
        private final ValueSerializer<Object> target;

        @SuppressWarnings("unchecked") // it is called with what this one is called with
        Ordering(ValueSerializer<?> target) {
            this.target = (ValueSerializer<Object>) target;
        }

        @Override
        public void resolve(SerializationContext context) {
            target.resolve(context);
        }

        @Override
        public ValueSerializer<?> createContextual(SerializationContext context, @Nullable BeanProperty property) {
            return new Ordering(target.createContextual(context, property));
        }

        @Override
        public boolean isEmpty(SerializationContext context, Object value) {
            return target.isEmpty(context, value);
        }

        @Override
        public void serialize(Object value, JsonGenerator out, SerializationContext context) {
            target.serialize(inOrder(value), out, context);
        }

        @Override
        public void serializeWithType(
                Object value, JsonGenerator out, SerializationContext context, TypeSerializer type) {
            target.serializeWithType(inOrder(value), out, context, type);
        }
    }

    private Object inOrder(Object value) {
        if (value instanceof Map<?, ?> map && !(map instanceof SequencedMap)) {
            Map<@Nullable Object, @Nullable Object> ordered = new LinkedHashMap<>();
            sorted(map.keySet()).forEach(key -> ordered.put(key, map.get(key)));
            return ordered;
        }
        boolean isSet = value instanceof Set && !(value instanceof SequencedCollection) && !(value instanceof EnumSet);
        return isSet ? new LinkedHashSet<>(sorted((Set<?>) value)) : value;
    }

    private List<@Nullable Object> sorted(Collection<?> elements) {
        List<@Nullable Object> sorted = new ArrayList<>(elements);
        if (sorted.size() > 1) {
            sorted.sort(Comparator.nullsFirst(byJson(sorted)));
        }
        return sorted;
    }

    private Comparator<Object> byJson(List<@Nullable Object> elements) {
        IdentityHashMap<Object, String> texts = new IdentityHashMap<>();
        for (Object each : elements) {
            if (each != null) {
                texts.put(each, Objects.requireNonNull(mapper).writeValueAsString(each));
            }
        }
        return Comparator.comparing(texts::get);
    }

    @Override
    public String toString() {
        return "fixed order of maps and sets";
    }
}
