package dev.raddle.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class JacksonCodecTest {

    record Item(String name, int count, BigDecimal price) {}

    record Order(long id, List<Item> items, Map<Colour, Set<String>> tags, Instant at, String note) {}

    enum Colour {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "verde";
            }
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    sealed interface Shape {}

    record Circle(double radius) implements Shape {}

    private static final Order ORDER = new Order(
            17,
            List.of(new Item("pen", 2, new BigDecimal("1.10")), new Item("ink", 1, new BigDecimal("1e30"))),
            Map.of(Colour.GREEN, Set.of("a")),
            Instant.parse("2026-11-25T10:11:12.123456789Z"),
            null);

    private final JacksonCodec codec = JacksonCodec.of(Order.class, Item.class, Colour.class, Shape.class);

    private void isKept(Object value) throws IOException {
        Object decoded = codec.decode(codec.encode(value));
        assertThat(decoded).as(text(value)).isEqualTo(value);
        assertThat(codec.encode(decoded)).isEqualTo(codec.encode(value));
    }

    private String text(Object value) throws IOException {
        return new String(codec.encode(value), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void values_are_read_as_they_were() throws IOException {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("order", ORDER);
        map.put("none", null);
        map.put("more", List.of(Map.of("deep", 1L)));
        List<Object> values = Arrays.asList(
                "text \u0000 \uD83D\uDE00",
                "",
                true,
                1,
                Integer.MIN_VALUE,
                1L,
                Long.MAX_VALUE,
                1.0,
                -0.0,
                1e300,
                Double.NaN,
                Double.NEGATIVE_INFINITY,
                BigInteger.TWO.pow(100),
                new BigDecimal("0.10"),
                new BigDecimal("123456789012345678901234567890.1234567890"),
                new UUID(1, 2),
                Instant.MAX,
                LocalDate.of(2026, 11, 25),
                Duration.ofNanos(1_000_000_001),
                ORDER,
                Colour.RED,
                Colour.GREEN,
                new Circle(2),
                new JsonMapper().readTree("{\"Order\": [1, null]}"),
                List.of(),
                map,
                Map.of());
        for (Object value : values) {
            isKept(value);
        }
        isKept(values);
        isKept(Arrays.asList(null, values, null));
        assertThat((byte[]) codec.decode(codec.encode(new byte[] {1, -1}))).containsExactly(1, -1);
    }

    @Test
    void what_is_stored_is_plain_json_with_names_of_types() throws IOException {
        assertThat(text(List.of("a", 1, new Item("pen", 2, BigDecimal.ONE))))
                .isEqualTo("[\"a\",1,{\"Item\":{\"name\":\"pen\",\"count\":2,\"price\":1}}]");
        assertThat(text(Map.of("a", 1L))).isEqualTo("{\"Map\":{\"a\":{\"Long\":1}}}");
    }

    @Test
    void types_that_are_not_named_are_neither_written_nor_read() throws IOException {
        assertThatThrownBy(() -> codec.encode(new StringBuilder()))
                .isInstanceOf(IOException.class)
                .hasMessage("this codec does not know java.lang.StringBuilder; name it:"
                        + " JacksonCodec.of(StringBuilder.class)");
        assertThatThrownBy(() -> codec.encode(Map.of(1, 2))).hasMessageContaining("keys of a map must be strings");
        assertThatThrownBy(() -> codec.decode(bytes("{\"java.lang.StringBuilder\":{}}")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("does not know the stored type \"java.lang.StringBuilder\"");
    }

    @Test
    void damaged_bytes_are_refused() {
        for (String damaged : List.of(
                "",
                "null",
                "[1",
                "1 2",
                "{}",
                "{\"Map\":[]}",
                "{\"Item\":1}",
                "{\"Long\":1,\"a\":2}",
                "99999999999",
                "{\"Item\":null}",
                "\"a",
                "{\"Map\":{\"a\"")) {
            assertThatThrownBy(() -> codec.decode(bytes(damaged))).as(damaged).isInstanceOf(IOException.class);
        }
    }

    @Test
    void a_record_may_grow_and_a_type_may_be_renamed() throws IOException {
        assertThat(codec.decode(bytes("{\"Item\":{\"name\":\"pen\",\"count\":1,\"gone\":[1]}}")))
                .isEqualTo(new Item("pen", 1, null));
        assertThat(codec.with("Position", Item.class).decode(bytes("{\"Position\":{\"count\":1}}")))
                .isEqualTo(new Item(null, 1, null));
        assertThatThrownBy(() -> codec.with("Item", String.class))
                .hasMessageContaining("the name \"Item\" is that of " + Item.class.getName());
        assertThatThrownBy(() -> codec.with("Map", String.class)).hasMessageContaining("is that of maps");
    }

    @Test
    void a_run_in_a_file_goes_on_with_its_records(@TempDir Path directory) throws Exception {
        FlowBuilder<Order> f = FlowPlan.define("checkout", Order.class);
        boolean[] works = new boolean[1];
        Node<List<Item>> packed = f.node("pack", c -> c.param().items());
        Node<Integer> counted = f.node("count", packed, items -> {
            if (!works[0]) {
                throw new IllegalStateException("not yet");
            }
            return items.stream().mapToInt(Item::count).sum();
        });
        FlowPlan<Order, Integer> plan = f.returning(counted);
        for (int run = 0; run < 2; run++) {
            works[0] = run == 1;
            try (FileJournal journal = FileJournal.open(directory.resolve("order-17.journal"), codec)) {
                var result = plan.run(ORDER, RunOptions.defaults().withJournal(journal));
                assertThat(result.node("count").value()).isEqualTo(run == 0 ? null : 3);
            }
        }
    }

    @Test
    void equal_maps_without_an_order_have_the_same_encoding() throws Exception {
        Map<String, Integer> one = new HashMap<>(4);
        Map<String, Integer> other = new HashMap<>(1 << 12); // iterates in another order
        for (int i = 0; i < 100; i++) {
            one.put("key " + i, i);
            other.put("key " + i, i);
        }
        assertThat(List.copyOf(one.keySet())).isNotEqualTo(List.copyOf(other.keySet()));

        JacksonCodec codec = JacksonCodec.of();

        assertThat(codec.encode(one)).isEqualTo(codec.encode(other)).isEqualTo(codec.encode(Map.copyOf(one)));
    }

    record Text(String text) {}

    record Words(
            Map<String, Integer> counts, Set<String> words, Set<Text> texts, List<Set<Set<Text>>> nested, Object any) {}

    /** Returns a set with the same elements in an order that depends on the capacity. */
    private static <T> Set<T> hashed(int capacity, List<T> elements) {
        Set<T> set = new HashSet<>(capacity);
        set.addAll(elements);
        return set;
    }

    private static Words words(int capacity) {
        List<String> all = IntStream.range(0, 20).mapToObj(i -> "word " + i).toList();
        List<Text> texts = all.stream().map(Text::new).toList();
        Map<String, Integer> counts = new HashMap<>(capacity);
        all.forEach(word -> counts.put(word, word.length()));
        List<Set<Text>> sets = List.of(hashed(capacity, texts), hashed(capacity, texts.subList(0, 10)));
        return new Words(
                counts,
                hashed(capacity, all),
                hashed(capacity, texts),
                List.of(hashed(capacity, sets)),
                Map.of("b", hashed(capacity, all)));
    }

    @Test
    void equal_maps_and_sets_inside_a_record_have_the_same_encoding() throws Exception {
        Words one = words(4);
        Words other = words(1 << 12);
        assertThat(List.copyOf(one.words())).isNotEqualTo(List.copyOf(other.words()));
        assertThat(one).isEqualTo(other);

        for (JacksonCodec each : List.of(
                JacksonCodec.of(Words.class), JacksonCodec.of(Words.class).withMapper(new JsonMapper()))) {
            assertThat(new String(each.encode(one), StandardCharsets.UTF_8))
                    .isEqualTo(new String(each.encode(other), StandardCharsets.UTF_8));
        }
    }

    record Amounts(Set<BigDecimal> all) {
        /** Returns a set with its own order, as another JVM may have it. */
        static Amounts of(String... amounts) {
            List<BigDecimal> all = Stream.of(amounts).map(BigDecimal::new).toList();
            return new Amounts(new AbstractSet<>() {
                @Override
                public Iterator<BigDecimal> iterator() {
                    return all.iterator();
                }

                @Override
                public int size() {
                    return all.size();
                }
            });
        }
    }

    @Test
    void elements_that_their_class_does_not_order_have_the_same_order() throws Exception {
        JacksonCodec codec = JacksonCodec.of(Amounts.class);

        assertThat(codec.encode(Amounts.of("1.0", "1.00"))).isEqualTo(codec.encode(Amounts.of("1.00", "1.0")));
    }

    record Ordered(Map<String, Integer> map, Set<String> set, EnumMap<Colour, Integer> colours, EnumSet<Colour> some) {}

    @Test
    void maps_and_sets_that_have_an_order_keep_it() throws Exception {
        Map<String, Integer> map = new LinkedHashMap<>();
        map.put("b", 1);
        map.put("a", 2);
        Ordered value = new Ordered(
                map,
                new LinkedHashSet<>(List.of("z", "y")),
                new EnumMap<>(Map.of(Colour.GREEN, 1, Colour.RED, 2)),
                EnumSet.allOf(Colour.class));

        JacksonCodec codec = JacksonCodec.of(Ordered.class);

        assertThat(new String(codec.encode(value), StandardCharsets.UTF_8))
                .isEqualTo("{\"Ordered\":{\"map\":{\"b\":1,\"a\":2},\"set\":[\"z\",\"y\"],"
                        + "\"colours\":{\"RED\":2,\"verde\":1},\"some\":[\"RED\",\"verde\"]}}");
        assertThat(codec.decode(codec.encode(value))).isEqualTo(value);
    }
}
