package dev.raddle.bench.trace;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The counts of one call.
 *
 * @param entries the number of method entries, on all threads
 * @param classes the number of distinct classes
 * @param switches how often a thread entered a method of another class than that of its previous entry
 * @param chainSwitches how often one of the two classes of a switch is a superclass of the other
 */
record Summary(int entries, int classes, int switches, int chainSwitches) {

    static Summary of(Collection<List<TraceAgent.Method>> threads) {
        int switches = 0;
        int chainSwitches = 0;
        for (List<TraceAgent.Method> thread : threads) {
            for (int i = 1; i < thread.size(); i++) {
                String from = thread.get(i - 1).owner();
                String to = thread.get(i).owner();
                switches += from.equals(to) ? 0 : 1;
                chainSwitches += TraceAgent.isSuperclass(from, to) || TraceAgent.isSuperclass(to, from) ? 1 : 0;
            }
        }
        int entries = threads.stream().mapToInt(List::size).sum();
        long classes = threads.stream()
                .flatMap(List::stream)
                .map(TraceAgent.Method::owner)
                .distinct()
                .count();
        return new Summary(entries, (int) classes, switches, chainSwitches);
    }

    /**
     * Returns the methods that each thread entered, in order, without those of other libraries. A recursion counts as
     * one entry.
     */
    static Map<Long, List<TraceAgent.Method>> byThread(long[] log, Library library) {
        Map<Long, List<TraceAgent.Method>> threads = new LinkedHashMap<>();
        for (long entry : log) {
            TraceAgent.Method method = TraceAgent.method((int) entry);
            if (Library.of(method.owner()) == library) {
                List<TraceAgent.Method> entered = threads.computeIfAbsent(entry >>> 32, id -> new ArrayList<>());
                if (!method.isRecursive() || entered.isEmpty() || entered.getLast() != method) {
                    entered.add(method);
                }
            }
        }
        return threads;
    }
}
