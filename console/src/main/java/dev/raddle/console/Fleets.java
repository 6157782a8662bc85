package dev.raddle.console;

import dev.raddle.time.UserCode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The watched fleets. Reading one is a call to its server, so threads of their own do it, at most once a second. */
final class Fleets {

    private static final long SHORTEST_REST_MILLIS = 1_000;

    /** A fleet, as this JVM sees it. */
    interface Source {
        /** Returns whether the server has answered last. Does not block. */
        boolean isUp();

        /** Reads the fleet from its server. May block, and throw. */
        Row read(long now);
    }

    record InstanceRow(String id, long startedAt, long leaseUntilAt) {}

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

        Row with(boolean isUp, @Nullable String text) {
            return new Row(isUp, text, outages, lost, quarantineUntilAt, instances, groups);
        }
    }

    record Rows(Map<String, Row> fleets) {}

    record Summary(int count, int down) {}

    private static final Row UNREAD = new Row(false, null, 0, 0, null, Map.of(), Map.of());

    /** A fleet, and what was read last. */
    private static final class Reading {
        private final Source source;
        private final AtomicBoolean isReading = new AtomicBoolean();
        private volatile Row last = UNREAD;
        private long readAt; // used by the sampler's thread only

        Reading(Source source) {
            this.source = source;
        }

        Row lastRead(long now) {
            if (now - readAt >= SHORTEST_REST_MILLIS && isReading.compareAndSet(false, true)) {
                readAt = now;
                Thread.ofPlatform().daemon().name("raddle-console-fleet").start(() -> read(now));
            }
            return last.with(source.isUp(), last.problem);
        }

        private void read(long now) {
            try {
                last = source.read(now);
            } catch (RuntimeException failure) {
                last = last.with(false, Failures.cut(UserCode.textOf(failure)));
            } finally {
                isReading.set(false);
            }
        }
    }

    private final ConcurrentHashMap<String, Reading> readings = new ConcurrentHashMap<>();

    Console.Watch add(String name, Source source) {
        Reading added = new Reading(source);
        readings.put(name, added);
        return () -> readings.remove(name, added);
    }

    Rows rows(long now) {
        Map<String, Row> rows = new TreeMap<>();
        readings.forEach((name, reading) -> rows.put(name, reading.lastRead(now)));
        return new Rows(rows);
    }

    Summary summary() {
        int down = (int) readings.values().stream()
                .filter(reading -> !reading.source.isUp())
                .count();
        return new Summary(readings.size(), down);
    }
}
