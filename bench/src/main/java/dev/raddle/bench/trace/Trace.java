package dev.raddle.bench.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Prints how many methods and classes a call passes, for calls of Raddle and of their counterparts in the JDK.
 *
 * <p>Each call runs once untraced, so that class initialisation is not counted, and then several times; the row is
 * that of the median, by the number of entries, and shows the range. The entries of all threads are counted, until
 * none has followed for some time. Locks, parking, {@code ForkJoinPool} and the subpackages of {@code
 * java.util.concurrent} are not counted; constructors and lambda bodies are. With an argument, only calls whose names
 * contain it are traced, and their entries are printed, too.
 */
public final class Trace {

    private static final int CALLS = 11;
    private static final long QUIET_MILLIS = 30;

    private record Traced(Summary summary, Map<Long, List<TraceAgent.Method>> threads) {}

    private Trace() {}

    /**
     * Traces the calls.
     *
     * @param arguments a part of the names of the calls to trace and to list; none for the table of all calls
     * @throws Throwable if a call fails
     */
    public static void main(String... arguments) throws Throwable {
        String part = arguments.length == 0 ? "" : arguments[0].toLowerCase(Locale.ROOT);
        System.out.println("| call | entries (range) | classes | switches of class | up and down one chain |");
        System.out.println("|---|---|---|---|---|");
        List<Traced> listed = new ArrayList<>();
        try (TracedCalls calls = new TracedCalls()) {
            for (TracedCalls.Named call : calls.all()) {
                if (call.name().toLowerCase(Locale.ROOT).contains(part)) {
                    listed.add(printRow(call));
                }
            }
        }
        if (!part.isEmpty()) {
            listed.forEach(Trace::list);
        }
    }

    private static Traced printRow(TracedCalls.Named call) throws Throwable {
        List<Traced> traced = new ArrayList<>();
        record(call);
        for (int i = 0; i < CALLS; i++) {
            Map<Long, List<TraceAgent.Method>> threads = Summary.byThread(record(call), call.library());
            traced.add(new Traced(Summary.of(threads.values()), threads));
        }
        traced.sort(Comparator.comparingInt(each -> each.summary.entries()));
        Summary median = traced.get(CALLS / 2).summary;
        System.out.printf(
                "| %s | %d (%d to %d) | %d | %d | %d |%n",
                call.name(),
                median.entries(),
                traced.getFirst().summary.entries(),
                traced.getLast().summary.entries(),
                median.classes(),
                median.switches(),
                median.chainSwitches());
        return traced.get(CALLS / 2);
    }

    /** Prepares a call, runs it, and returns its method entries. */
    private static long[] record(TracedCalls.Named call) throws Throwable {
        TracedCalls.Call prepared = call.preparation().prepare();
        Thread.sleep(QUIET_MILLIS); // until other threads have finished the preparation
        MethodEntries.start();
        prepared.run();
        int before;
        do {
            before = MethodEntries.count();
            Thread.sleep(QUIET_MILLIS);
        } while (MethodEntries.count() > before);
        return MethodEntries.stop();
    }

    private static void list(Traced traced) {
        System.out.println();
        traced.threads.forEach((thread, methods) -> {
            System.out.println("thread " + thread);
            methods.forEach(method -> System.out.println("  " + method));
        });
    }
}
