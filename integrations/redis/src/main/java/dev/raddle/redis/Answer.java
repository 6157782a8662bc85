package dev.raddle.redis;

import dev.raddle.group.PermitStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to a call, checked. */
final class Answer {

    private static final int HEADER = 9;

    /** Permits that were granted. Their fencing numbers end with {@code fence}. */
    record Grant(String group, int permits, long fence, boolean isOfRate) {}

    /** What the server knows of this instance in a group. */
    record Known(String group, int permits, int tickets, long fence, boolean isOfRate) {}

    /** The limits of a group, and the position of this instance in its queue. */
    record Group(String group, int limit, int tickets, boolean isContended, boolean hasRate, int position) {}

    final String state;
    final String incarnation;
    final long quarantineMillis;
    final long longestLease;
    final long dueMicros; // -1: nothing is due
    final long behindMicros;
    final String missingKeys; // because of which nothing is granted; empty: none
    final String evictionPolicy; // empty: unknown
    final List<Grant> grants = new ArrayList<>();
    final List<Known> known = new ArrayList<>();
    final List<Group> groups = new ArrayList<>();
    final Map<String, List<PermitStatus.Holding>> holders = new HashMap<>();
    boolean isSync;

    @Nullable
    Map<String, String> settings;

    Answer(@Nullable List<Object> raw) {
        if (raw == null || raw.size() != HEADER + 1 || !(raw.get(HEADER) instanceof List<?> results)) {
            throw new FleetException("the answer of the script is malformed");
        }
        try {
            state = text(raw, 0);
            incarnation = text(raw, 1);
            quarantineMillis = number(raw, 2);
            longestLease = number(raw, 3);
            dueMicros = number(raw, 4);
            behindMicros = number(raw, 5);
            number(raw, 6);
            missingKeys = text(raw, 7);
            evictionPolicy = text(raw, 8);
            results.forEach(this::addResult);
        } catch (ClassCastException | NumberFormatException | IndexOutOfBoundsException malformed) {
            throw new FleetException("the answer of the script is malformed: " + malformed.getMessage(), malformed);
        }
        if (!List.of("ok", "new", "lost", "old").contains(state)) {
            throw new FleetException("the answer of the script is malformed: state \"" + state + "\"");
        }
    }

    /** Adds a result: the common kinds are one text with blanks, which names of groups do not contain. */
    private void addResult(Object result) {
        add(result instanceof String text ? List.of(text.split(" ", -1)) : (List<?>) result);
    }

    private void add(List<?> entry) {
        switch (text(entry, 0)) {
            case "g" -> grants.add(new Grant(text(entry, 1), count(entry, 2), number(entry, 3), flag(entry, 4)));
            case "i" ->
                groups.add(new Group(
                        text(entry, 1),
                        count(entry, 2),
                        count(entry, 3),
                        flag(entry, 4),
                        flag(entry, 5),
                        count(entry, 6)));
            case "s" ->
                known.add(
                        new Known(text(entry, 1), count(entry, 2), count(entry, 3), number(entry, 4), flag(entry, 5)));
            case "h" -> holders.put(text(entry, 1), holdings(entry));
            case "v" -> settings = pairs(entry);
            case "e" -> isSync = true;
            default -> throw new NumberFormatException("unknown result " + entry.get(0));
        }
    }

    private static List<PermitStatus.Holding> holdings(List<?> entry) {
        List<PermitStatus.Holding> found = new ArrayList<>();
        for (int i = 2; i + 2 < entry.size(); i += 3) {
            found.add(new PermitStatus.Holding(
                    text(entry, i), count(entry, i + 1), Duration.ofMillis(number(entry, i + 2))));
        }
        found.sort(Comparator.comparingInt(PermitStatus.Holding::permits).reversed());
        return found;
    }

    private static Map<String, String> pairs(List<?> entry) {
        Map<String, String> found = new HashMap<>();
        for (int i = 1; i + 1 < entry.size(); i += 2) {
            found.put(text(entry, i), text(entry, i + 1));
        }
        return found;
    }

    private static String text(List<?> list, int index) {
        return (String) list.get(index);
    }

    private static long number(List<?> list, int index) {
        return Long.parseLong(text(list, index));
    }

    private static int count(List<?> list, int index) {
        int count = Integer.parseInt(text(list, index));
        if (count < 0) {
            throw new NumberFormatException("negative count " + count);
        }
        return count;
    }

    private static boolean flag(List<?> list, int index) {
        return text(list, index).equals("1");
    }
}
