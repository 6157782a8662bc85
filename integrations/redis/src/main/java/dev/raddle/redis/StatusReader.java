package dev.raddle.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads the answer of the script's status. */
final class StatusReader {

    private static final int PARTS = 6;

    private final long now; // ms
    private final long quarantineEnd;
    private final List<FleetStatus.Instance> instances = new ArrayList<>();
    private final Map<String, String> names = new LinkedHashMap<>(); // of instances, by id
    private final Map<String, List<FleetStatus.Holding>> holders = new LinkedHashMap<>(); // by group
    private final Map<String, Integer> waiting = new LinkedHashMap<>(); // by group
    private final Map<String, String> used;
    private final Map<String, String> settings;

    private StatusReader(List<Object> answer) {
        now = Long.parseLong((String) answer.get(0));
        quarantineEnd = Long.parseLong((String) answer.get(1));
        readInstances((List<?>) answer.get(2));
        used = pairs((List<?>) answer.get(3));
        readHolders(pairs((List<?>) answer.get(4)));
        settings = pairs((List<?>) answer.get(5));
    }

    static FleetStatus read(List<Object> answer) {
        try {
            if (answer.size() != PARTS) {
                throw new FleetException("the status has " + answer.size() + " parts, not " + PARTS);
            }
            return new StatusReader(answer).status();
        } catch (ClassCastException | IllegalArgumentException | IndexOutOfBoundsException malformed) {
            throw new FleetException("the status is malformed: " + malformed.getMessage(), malformed);
        }
    }

    private void readInstances(List<?> list) {
        for (int i = 0; i + 2 < list.size(); i += 3) {
            String id = (String) list.get(i);
            long left = (long) Double.parseDouble((String) list.get(i + 1)) - now;
            String[] parts = ((String) list.get(i + 2)).split(" ", 3);
            String name = parts.length == 3 ? parts[2] : id;
            long age = parts.length == 3 ? now - Long.parseLong(parts[1]) : 0;
            names.put(id, name);
            instances.add(new FleetStatus.Instance(name, id, Duration.ofMillis(age), Duration.ofMillis(left)));
        }
        instances.sort(Comparator.comparing(FleetStatus.Instance::name).thenComparing(FleetStatus.Instance::id));
    }

    private void readHolders(Map<String, String> held) {
        held.forEach((field, value) -> {
            int bar = field.indexOf('|');
            String id = field.substring(0, bar);
            String group = field.substring(bar + 1);
            String[] parts = value.split(" ", -1);
            int permits = Integer.parseInt(parts[0]);
            if (permits > 0) {
                Duration time = Duration.ofMillis(now - Long.parseLong(parts[1]));
                holders.computeIfAbsent(group, key -> new ArrayList<>())
                        .add(new FleetStatus.Holding(names.getOrDefault(id, id), permits, time));
            }
            waiting.merge(group, Integer.parseInt(parts[2]), Integer::sum);
        });
    }

    private FleetStatus status() {
        TreeSet<String> groups = new TreeSet<>(used.keySet());
        groups.remove("*");
        groups.addAll(waiting.keySet());
        settings.keySet().stream()
                .filter(field -> field.startsWith("l:") || field.startsWith("r:"))
                .forEach(field -> groups.add(field.substring(2)));
        List<FleetStatus.Key> keys = groups.stream().map(this::key).toList();
        return new FleetStatus(
                instances,
                keys,
                count(settings.get("?")),
                count(settings.get("*")),
                count(used.get("*")),
                Duration.ofMillis(Math.max(0, quarantineEnd - now)));
    }

    private FleetStatus.Key key(String group) {
        List<FleetStatus.Holding> of = holders.getOrDefault(group, new ArrayList<>());
        of.sort(Comparator.comparingInt(FleetStatus.Holding::permits).reversed());
        return new FleetStatus.Key(
                GroupNames.keyOf(group),
                count(settings.getOrDefault("l:" + group, settings.getOrDefault("?", "0"))),
                Rates.read(settings.get(settings.containsKey("r:" + group) ? "r:" + group : "?r")),
                count(used.get(group)),
                of,
                waiting.getOrDefault(group, 0));
    }

    private static int count(@Nullable String text) {
        return text == null ? 0 : Integer.parseInt(text);
    }

    private static Map<String, String> pairs(List<?> list) {
        Map<String, String> found = new LinkedHashMap<>();
        for (int i = 0; i + 1 < list.size(); i += 2) {
            found.put((String) list.get(i), (String) list.get(i + 1));
        }
        return found;
    }
}
