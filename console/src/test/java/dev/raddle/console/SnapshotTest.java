package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

class SnapshotTest {

    private static final String[] NAMES = {"a", "b", "c", "", "at", "<script>", "\u202e\uD83D\uDE00", "x/y~1"};

    @RepeatedTest(50)
    void a_state_and_the_patches_after_it_are_the_latest_state_also_for_a_client_that_misses_some(
            RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        JsonNode[] clients = new JsonNode[4];
        Snapshot[] sent = new Snapshot[clients.length];
        Snapshot latest = null;
        ObjectNode state = object(random, 3);
        for (int round = 0; round < 40; round++) {
            state = random.nextInt(5) == 0 ? object(random, 3) : changed(random, state);
            state.put("at", round);
            latest = new Snapshot(state.deepCopy(), latest);
            for (int i = 0; i < clients.length; i++) {
                if (random.nextInt(i + 1) == 0 || round == 39) {
                    clients[i] = received(clients[i], latest.eventSince(sent[i]));
                    sent[i] = latest;
                }
            }
        }
        ObjectNode expected = state;
        assertThat(clients).allSatisfy(client -> {
            ObjectNode withoutTime = ((ObjectNode) client).deepCopy();
            withoutTime.put("at", 39); // the time alone is not sent
            assertThat(withoutTime).isEqualTo(expected);
        });
    }

    @Test
    void a_change_of_nothing_but_the_time_is_not_sent() {
        Snapshot first = new Snapshot(Json.object(Map.of("a", 1, "at", 1)), null);
        Snapshot second = new Snapshot(Json.object(Map.of("a", 1, "at", 2)), first);
        Snapshot third = new Snapshot(Json.object(Map.of("a", 2, "at", 3)), second);

        assertThat(second.eventSince(first)).isEmpty();
        assertThat(text(third.eventSince(second)))
                .startsWith("event: patch\ndata: {")
                .contains("\"a\":2", "\"at\":3");
        assertThat(text(third.eventSince(first))).contains("\"a\":2");
    }

    @Test
    void clients_that_follow_share_the_bytes() {
        Snapshot first = new Snapshot(Json.object(Map.of("a", 1)), null);
        Snapshot second = new Snapshot(Json.object(Map.of("a", 2)), first);

        assertThat(first.eventSince(null)).isSameAs(first.eventSince(null));
        assertThat(second.eventSince(first)).isSameAs(second.eventSince(first));
    }

    @Test
    void an_event_is_one_line_whatever_is_in_it() {
        byte[] event = new Snapshot(Json.object(Map.of("k", "a\nb\r\n\nevent: patch\u2028")), null).eventSince(null);

        assertThat(text(event).split("\n")).hasSize(2);
        assertThat(text(event)).endsWith("}\n\n");
    }

    private static String text(byte[] event) {
        return new String(event, StandardCharsets.UTF_8);
    }

    private static JsonNode received(JsonNode client, byte[] event) {
        if (event.length == 0) {
            return client;
        }
        String[] lines = text(event).split("\n");
        JsonNode data = Json.read(lines[1].substring("data: ".length()));
        return lines[0].equals("event: state") ? data : RawClient.applied(client, data);
    }

    private static ObjectNode object(Random random, int depth) {
        ObjectNode object = Json.object(Map.of());
        for (int i = random.nextInt(4); i >= 0; i--) {
            put(random, object, depth);
        }
        return object;
    }

    private static ObjectNode changed(Random random, ObjectNode before) {
        ObjectNode changed = before.deepCopy();
        ObjectNode inside = changed;
        for (JsonNode each : changed) {
            inside = each instanceof ObjectNode object && random.nextBoolean() ? object : inside;
        }
        switch (random.nextInt(3)) {
            case 0 -> inside.remove(NAMES[random.nextInt(NAMES.length)]);
            case 1 -> put(random, inside, 2);
            default -> {}
        }
        return changed;
    }

    private static void put(Random random, ObjectNode object, int depth) {
        String name = NAMES[random.nextInt(NAMES.length)];
        switch (random.nextInt(depth > 0 ? 6 : 4)) {
            case 0 -> object.put(name, random.nextInt(3));
            case 1 -> object.put(name, "text " + random.nextInt(3) + "\uD83D\uDE00</script>");
            case 2 -> object.put(name, random.nextBoolean());
            case 3 -> object.putArray(name).add(random.nextInt(2)).addNull();
            default -> object.set(name, object(random, depth - 1));
        }
    }
}
