package dev.raddle.flow;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a journal knows of a run, computed from its {@linkplain Entry entries}. Immutable. A journal need not interpret
 * its entries: it returns {@link #of} of them.
 *
 * @param begun the moment from which the timeout of the run counts, or null if no try has begun
 * @param nodes the nodes whose ends are recorded, by their ids, in the order in which the ends took effect
 * @param attempts the latest failed attempt of each node that has not ended and has one
 * @param begunAttempts the latest attempt of each node that has begun and not ended, as far as that was recorded
 * @param deadlines the moments at which nodes that have not ended time out
 * @param sleeps the moments at which nodes that have not ended stop sleeping
 * @param signals the signals that were received
 * @param elements the results of the elements of each {@code map} that has not succeeded, by their positions; and the
 *     values of nodes in subflows with a compensation that has failed for good
 * @param compensating the status of a run that was compensating its nodes, or null
 * @param undoAttempts the number of failed attempts to compensate a node, 0 after the last one; of a node of a subflow
 *     the key is its path
 * @param compensated the nodes that were compensated; they are among {@code nodes}, too
 * @param ended the status of the run, or null if the latest try has not ended
 */
public record Recovered(
        @Nullable Instant begun,
        Map<String, Entry.NodeEnded> nodes,
        Map<String, Entry.AttemptFailed> attempts,
        Map<String, Entry.AttemptBegan> begunAttempts,
        Map<String, Instant> deadlines,
        Map<String, Instant> sleeps,
        Map<String, Entry.SignalReceived> signals,
        Map<String, Map<Integer, @Nullable Object>> elements,
        Entry.@Nullable Compensating compensating,
        Map<String, Integer> undoAttempts,
        Set<String> compensated,
        @Nullable FlowStatus ended) {

    private static final Recovered NOTHING = of(List.of());

    /**
     * Returns the state of a run of which nothing is recorded.
     *
     * @return the same object at every call
     */
    public static Recovered nothing() {
        return NOTHING;
    }

    /**
     * Computes the state of a run.
     *
     * @param entries all entries of the run, in the order in which they were recorded
     * @return the state after the last of them
     * @throws IllegalArgumentException if an entry contradicts an earlier one, so that some are missing
     */
    public static Recovered of(Iterable<? extends Entry> entries) {
        Replay replay = new Replay();
        for (Entry entry : entries) {
            replay.add(entry);
        }
        return replay.result();
    }

    /** Returns the state after other entries. */
    Recovered after(List<? extends Entry> entries) {
        Replay replay = new Replay();
        replay.load(this);
        entries.forEach(replay::add);
        return replay.result();
    }

    /** Applies entries, one after the other. */
    private static final class Replay {
        private @Nullable Instant begun;
        private final Map<String, Entry.NodeEnded> nodes = new LinkedHashMap<>();
        private final Map<String, Entry.AttemptFailed> attempts = new LinkedHashMap<>();
        private final Map<String, Entry.AttemptBegan> begunAttempts = new LinkedHashMap<>();
        private final Map<String, Instant> deadlines = new LinkedHashMap<>();
        private final Map<String, Instant> sleeps = new LinkedHashMap<>();
        private final Map<String, Entry.SignalReceived> signals = new LinkedHashMap<>();
        private final Map<String, Map<Integer, @Nullable Object>> elements = new LinkedHashMap<>();
        private Entry.@Nullable Compensating compensating;
        private final Map<String, Integer> undoAttempts = new LinkedHashMap<>();
        private final Set<String> compensated = new LinkedHashSet<>();
        private @Nullable FlowStatus ended;

        void load(Recovered from) {
            begun = from.begun;
            nodes.putAll(from.nodes);
            attempts.putAll(from.attempts);
            begunAttempts.putAll(from.begunAttempts);
            deadlines.putAll(from.deadlines);
            sleeps.putAll(from.sleeps);
            signals.putAll(from.signals);
            from.elements.forEach((id, values) -> elements.put(id, new TreeMap<>(values)));
            compensating = from.compensating;
            undoAttempts.putAll(from.undoAttempts);
            compensated.addAll(from.compensated);
            ended = from.ended;
        }

        /*
         * Uses instanceof instead of a pattern switch: the first pattern switch in a JVM takes longer to bootstrap than
         * thousands of entries to apply.
         */
        void add(Entry entry) {
            if (entry instanceof Entry.NodeEnded end) {
                end(end);
            } else if (entry instanceof Entry.ElementEnded element) {
                elementsOf(element.id()).put(element.index(), element.value());
                begunAttempts.remove(element.id()); // the map has advanced
            } else if (entry instanceof Entry.MapEnded map) {
                end(new Entry.NodeEnded(
                        map.id(), NodeState.SUCCESS, ValueSource.ACTION, listOf(map), 1, null, map.number(), map.at()));
            } else if (entry instanceof Entry.AttemptFailed failed) {
                attempts.put(failed.id(), failed);
                begunAttempts.remove(failed.id());
            } else if (entry instanceof Entry.AttemptBegan attempt) {
                begunAttempts.put(attempt.id(), attempt);
            } else if (entry instanceof Entry.DeadlineSet limit) {
                deadlines.put(limit.id(), limit.until());
            } else if (entry instanceof Entry.SleepUntil sleep) {
                sleeps.put(sleep.id(), sleep.until());
            } else if (entry instanceof Entry.SignalReceived signal) {
                signals.putIfAbsent(signal.id(), signal);
            } else if (entry instanceof Entry.Begun begin) {
                begin(begin);
            } else if (entry instanceof Entry.Compensating stopped) {
                compensating = stopped;
            } else if (entry instanceof Entry.CompensationAttemptFailed failed) {
                undoAttempts.put(failed.id(), failed.isLast() ? 0 : failed.attempt());
            } else if (entry instanceof Entry.Compensated done) {
                compensated.add(done.id());
            } else if (entry instanceof Entry.RunEnded end) {
                ended = end.status();
            }
        }

        private Map<Integer, @Nullable Object> elementsOf(String id) {
            Map<Integer, @Nullable Object> known = elements.get(id);
            if (known == null) {
                known = new TreeMap<>();
                elements.put(id, known);
            }
            return known;
        }

        private void begin(Entry.Begun begin) {
            begun = begin.at();
            nodes.values().removeIf(end -> !end.isSuccess());
            sort();
            nodes.replaceAll((id, end) -> end.ofEarlierTry());
            attempts.clear();
            begunAttempts.clear();
            deadlines.clear();
            sleeps.clear();
            forget(compensated);
            forget(begin.again());
            compensating = null;
            undoAttempts
                    .keySet()
                    .forEach(path -> elements.remove(path.substring(0, Math.max(0, path.lastIndexOf('/')))));
            undoAttempts.clear();
            compensated.clear();
            ended = null;
        }

        /** Sorts the ends by their numbers. Those of earlier tries keep their order, and are the first. */
        private void sort() {
            List<Entry.NodeEnded> ends = new ArrayList<>(nodes.values());
            ends.sort(Comparator.comparingLong(Entry.NodeEnded::number));
            nodes.clear();
            ends.forEach(end -> nodes.put(end.id(), end));
        }

        private void forget(Iterable<String> ids) {
            for (String id : ids) {
                nodes.remove(id);
                elements.remove(id);
                signals.keySet().removeIf(path -> path.equals(id) || path.startsWith(id + "/")); // or in a subflow
            }
        }

        private void end(Entry.NodeEnded end) {
            String id = end.id();
            nodes.put(id, end);
            attempts.remove(id);
            begunAttempts.remove(id);
            deadlines.remove(id);
            sleeps.remove(id);
            if (end.isSuccess() && end.via() == ValueSource.ACTION) { // a fallback leaves what is not undone
                undoAttempts.keySet().removeIf(path -> path.startsWith(id + "/"));
            }
            if (end.isSuccess() && undoAttempts.keySet().stream().noneMatch(path -> path.startsWith(id + "/"))) {
                elements.remove(id);
            }
        }

        private List<@Nullable Object> listOf(Entry.MapEnded map) {
            Map<Integer, @Nullable Object> found = elements.getOrDefault(map.id(), Map.of());
            List<@Nullable Object> values = new ArrayList<>(map.size());
            for (int index = 0; index < map.size(); index++) {
                if (!found.containsKey(index)) {
                    throw new IllegalArgumentException("node \"" + map.id() + "\" is recorded as ended, and element "
                            + index + " of " + map.size() + " is not; the journal has lost entries");
                }
                values.add(found.get(index));
            }
            return Collections.unmodifiableList(values);
        }

        Recovered result() {
            sort();
            Map<String, Map<Integer, @Nullable Object>> copies = new LinkedHashMap<>();
            elements.forEach((id, values) -> copies.put(id, Collections.unmodifiableMap(values)));
            return new Recovered(
                    begun,
                    Collections.unmodifiableMap(nodes),
                    Collections.unmodifiableMap(attempts),
                    Collections.unmodifiableMap(begunAttempts),
                    Collections.unmodifiableMap(deadlines),
                    Collections.unmodifiableMap(sleeps),
                    Collections.unmodifiableMap(signals),
                    Collections.unmodifiableMap(copies),
                    compensating,
                    Collections.unmodifiableMap(undoAttempts),
                    Collections.unmodifiableSet(compensated),
                    ended);
        }
    }
}
