package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.since;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.console.Finding.Until;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The watched fleets. Each {@linkplain Reading reading} is a call to its server. */
final class Fleets implements Subject {

    private static final Link LINK = Link.to("fleet");
    private static final Duration SHORTEST_REST = Duration.ofSeconds(1);

    /** A fleet, as this JVM sees it. */
    interface Source {
        /** Returns whether the server has answered last. Does not block. */
        boolean isUp();

        /** Reads the fleet from its server. May block, and throw. */
        Row read(long now);
    }

    /**
     * An instance.
     *
     * @param heardAt when it has extended its lease, if it is late to do so again; else null
     */
    record InstanceRow(
            String id,
            long startedAt,
            long leaseUntilAt,
            @Nullable Long heardAt) {}

    record HolderRow(String instance, int permits, long heldSinceAt) {}

    record GroupRow(
            @Nullable Integer limit, @Nullable String rate, int permits, int waiting, List<HolderRow> holders) {}

    record Row(
            boolean up,
            @Nullable String problem,
            long outages,
            long lost,
            @Nullable Long quarantineUntilAt,
            Map<String, InstanceRow> instances,
            Map<String, GroupRow> groups) {

        int permitsOf(String instance) {
            return groups.values().stream()
                    .flatMap(group -> group.holders.stream())
                    .filter(holder -> holder.instance.equals(instance))
                    .mapToInt(HolderRow::permits)
                    .sum();
        }

        Row with(boolean isUp, @Nullable String text) {
            return new Row(isUp, text, outages, lost, quarantineUntilAt, instances, groups);
        }
    }

    record Rows(Map<String, Row> fleets) {}

    record Summary(int count, int down) {}

    private static final Row UNREAD = new Row(false, null, 0, 0, null, Map.of(), Map.of());

    private record Watching(Source source, Reading<Row> reading) {
        Row row(long now) {
            Row last = reading.last(now);
            Reading.Problem problem = reading.problem(now);
            return (last == null ? UNREAD : last).with(source.isUp(), problem == null ? null : problem.text());
        }
    }

    private final ConcurrentHashMap<String, Watching> fleets = new ConcurrentHashMap<>();

    Console.Watch add(String name, Source source) {
        Watching added = new Watching(source, new Reading<>(SHORTEST_REST, source::read));
        fleets.put(name, added);
        return () -> fleets.remove(name, added);
    }

    Rows rows(long now) {
        Map<String, Row> rows = new TreeMap<>();
        fleets.forEach((name, fleet) -> rows.put(name, fleet.row(now)));
        return new Rows(rows);
    }

    @Override
    public Summary summary(long now) {
        int down = (int)
                fleets.values().stream().filter(fleet -> !fleet.source.isUp()).count();
        return new Summary(fleets.size(), down);
    }

    @Override
    public int watched() {
        return fleets.size();
    }

    @Override
    public void findWrong(long now, Findings found) {
        fleets.forEach((name, fleet) -> addTo(found, name(name, LINK), name, fleet.row(now), now));
    }

    /** Adds that the server of a fleet is away, and instances that are late to extend their lease. */
    private static void addTo(Findings found, Object itsName, String id, Row fleet, long now) {
        if (!fleet.up) {
            Draft draft = new Draft("down", Level.stuck, "fleet " + id, null, LINK);
            String problem = fleet.problem == null ? "." : ": " + fleet.problem;
            found.add(draft.say("Fleet {} is out of touch with its server{}", itsName, problem)
                    .done());
        }
        fleet.instances.forEach((instance, row) -> {
            if (row.heardAt != null) {
                Draft draft = new Draft("fleet", Level.slow, id + " " + instance, row.heardAt, LINK);
                draft.say("Instance {} of fleet {} was not heard of", name(instance, LINK), itsName);
                draft.say(" for {}. It holds ", since(row.heardAt));
                String permits = counted(fleet.permitsOf(instance), "permit, which comes", "permits, which come");
                String back = row.leaseUntilAt > now ? "{} back in {}." : "{} back, as its lease has ended.";
                draft.say(back, permits, new Until(row.leaseUntilAt));
                found.add(draft.done());
            }
        });
    }
}
