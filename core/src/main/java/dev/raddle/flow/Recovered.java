package dev.raddle.flow;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What is recorded of a run, computed from the {@linkplain Entry entries} of its journal. */
final class Recovered {

    @Nullable
    Instant begun; // the moment from which the timeout of the run counts; null if no try has begun

    final Map<String, Entry.NodeEnded> nodes = new LinkedHashMap<>(); // in the order in which the ends took effect
    final Map<String, Entry.AttemptFailed> attempts = new HashMap<>(); // the latest, of nodes that have not ended
    final Map<String, Entry.AttemptBegan> begunAttempts = new LinkedHashMap<>(); // the latest that have not ended
    final Map<String, Instant> deadlines = new HashMap<>(); // of nodes that have not ended
    final Map<String, Instant> sleeps = new LinkedHashMap<>(); // of nodes that have not ended
    final Map<String, Entry.SignalReceived> signals = new HashMap<>();

    /**
     * The results of the elements of each {@code map} that has not succeeded, by their positions; and the values of
     * nodes in subflows with a compensation that has failed for good.
     */
    final Map<String, Map<Integer, @Nullable Object>> elements = new HashMap<>();

    Entry.@Nullable Compensating compensating; // null unless the run was compensating its nodes

    /** The number of failed attempts to compensate a node, 0 after the last one; by the path of a node of a subflow. */
    final Map<String, Integer> undoAttempts = new LinkedHashMap<>();

    final Set<String> compensated = new HashSet<>(); // they are among the nodes, too

    @Nullable
    FlowStatus ended; // null if the latest try has not ended

    /**
     * Computes the state of a run.
     *
     * @param entries all entries of the run, in the order in which they were recorded
     * @throws IllegalArgumentException if an entry contradicts an earlier one, so that some are missing
     */
    Recovered(List<? extends Entry> entries) {
        entries.forEach(this::apply);
        sort();
    }

    /*
     * Applies the next entry. Uses instanceof instead of a pattern switch: the first pattern switch in a JVM takes
     * longer to bootstrap than thousands of entries to apply.
     */
    void apply(Entry entry) {
        if (entry instanceof Entry.NodeEnded end) {
            end(end);
        } else if (entry instanceof Entry.ElementEnded element) {
            elements.computeIfAbsent(element.id(), _ -> new TreeMap<>()).put(element.index(), element.value());
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
        } else {
            throw new IllegalArgumentException("no meaning is known of " + entry);
        }
    }

    /** Returns whether the try has records of a node that has not ended. */
    boolean hasBegun(String id) {
        return attempts.containsKey(id)
                || begunAttempts.containsKey(id)
                || deadlines.containsKey(id)
                || sleeps.containsKey(id)
                || elements.containsKey(id);
    }

    /** Returns the nodes that have ended, and those that have begun. */
    Set<String> ids() {
        Set<String> ids = new LinkedHashSet<>(nodes.keySet());
        List.of(attempts, begunAttempts, deadlines, sleeps, elements).forEach(each -> ids.addAll(each.keySet()));
        return ids;
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
        undoAttempts.keySet().forEach(path -> elements.remove(path.substring(0, Math.max(0, path.lastIndexOf('/')))));
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
}
