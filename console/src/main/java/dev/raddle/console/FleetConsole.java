package dev.raddle.console;

import dev.raddle.redis.FleetStats;
import dev.raddle.redis.FleetStatus;
import dev.raddle.redis.RedisFleet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Shows fleets in a console, for programs that have {@code raddle-redis}: instances, leases, and who holds what. */
public final class FleetConsole {

    private FleetConsole() {}

    /**
     * Watches the fleet of which this JVM is an instance. While a browser looks at it, its server is called once a
     * second.
     *
     * @param console the console
     * @param name the name to show
     * @param fleet the fleet, which is referenced until the result is closed
     * @return what ends this
     */
    public static Console.Watch watch(Console console, String name, RedisFleet fleet) {
        Objects.requireNonNull(fleet, "fleet");
        return console.fleets.add(Objects.requireNonNull(name, "name"), new Source(fleet));
    }

    private record Source(RedisFleet fleet) implements Fleets.Source {
        @Override
        public boolean isUp() {
            return fleet.stats().backendUp();
        }

        @Override
        public Fleets.Row read(long now) {
            return row(fleet.stats(), fleet.status(), fleet.options().lease().toMillis(), now);
        }
    }

    private static Fleets.Row row(FleetStats stats, FleetStatus status, long lease, long now) {
        Map<String, Fleets.InstanceRow> instances = new TreeMap<>();
        for (FleetStatus.Instance each : status.instances()) {
            long startedAt = toSeconds(now - each.age().toMillis());
            instances.put(
                    each.name(),
                    new Fleets.InstanceRow(
                            each.id(),
                            startedAt,
                            now + each.left().toMillis(),
                            heardAt(each.left().toMillis(), lease, now)));
        }
        Map<String, Fleets.GroupRow> groups = new TreeMap<>();
        status.keys().forEach(key -> groups.put(key.key(), groupRow(key, now)));
        return new Fleets.Row(
                stats.backendUp(),
                null,
                stats.outages(),
                stats.lost(),
                status.quarantine().isZero() ? null : now + status.quarantine().toMillis(),
                instances,
                groups);
    }

    /**
     * Returns when an instance has extended its lease, which it does in the first half of it; null if it is not late.
     */
    private static @Nullable Long heardAt(long left, long lease, long now) {
        return left < lease / 2 ? toSeconds(now - (lease - left)) : null;
    }

    private static Fleets.GroupRow groupRow(FleetStatus.Key key, long now) {
        List<Fleets.HolderRow> holders = key.holders().stream()
                .map(holding -> new Fleets.HolderRow(
                        holding.instance(),
                        holding.permits(),
                        toSeconds(now - holding.held().toMillis())))
                .toList();
        return new Fleets.GroupRow(
                key.limit() == 0 ? null : key.limit(),
                key.rate() == null ? null : key.rate().toString(),
                key.permits(),
                key.waiting(),
                holders);
    }

    /** Returns a moment to a second, so that it is mostly the same at each reading. */
    private static long toSeconds(long at) {
        return (at + 500) / 1_000 * 1_000;
    }
}
