package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.since;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.NamedTask;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The watched pools, and their tasks that are stuck. */
final class Pools implements Subject {

    private static final int MOST_STUCK = 100; // of a pool
    private static final Pattern NAME_OF_OBJECT = Pattern.compile("@[0-9a-f]{4,}|\\$\\$Lambda");
    private static final long LATE_MILLIS = 60_000; // how late a report may be

    /**
     * A task that is stuck.
     *
     * @param waitsForResult whether it waits for the result of another task
     */
    record StuckRow(String task, long ranSinceAt, String thread, String stack, boolean waitsForResult) {}

    /**
     * A pool.
     *
     * @param stats its statistics; null if the queue is the user's and throws
     * @param capacity that of the queue; null if it is unbounded, or the user's
     */
    record Row(
            String state,
            @JsonUnwrapped ThreadPool.@Nullable Stats stats,
            @Nullable Long accepted,
            @Nullable Integer capacity,
            @Nullable Long drainingSeenAt,
            List<StuckRow> stuck) {}

    record Rows(List<String> order, Map<String, Row> rows) {}

    record Summary(long queued, int stuck) {}

    /**
     * Remembers the tasks of a pool that are stuck until they end. A task may end while it is reported, and then its
     * report comes last; so one that is not reported again is forgotten.
     */
    static final class StuckTasks implements PoolListener {

        /** A report, which is repeated at least every so many milliseconds. */
        private record Report(StuckRow row, long interval, long until) {}

        private final IdentityHashMap<Runnable, Report> reports = new IdentityHashMap<>(); // guarded by this
        private volatile boolean isEmpty = true; // whether there are no reports, so that the end of a task costs a read

        @Override
        public synchronized void stuck(Stuck event) {
            Report before = reports.get(event.task());
            if (reports.size() < MOST_STUCK || before != null) {
                long now = System.currentTimeMillis();
                long ranFor = event.ranFor().toMillis();
                Stack stack = new Stack(event.stack(), false);
                StuckRow row = new StuckRow(
                        Failures.cut(nameOf(event.task(), stack)),
                        now - ranFor,
                        event.thread().getName(),
                        stack.text(),
                        stack.waitsForResult());
                long interval = before == null ? ranFor : before.interval;
                reports.put(event.task(), new Report(row, interval, now + 2 * interval + LATE_MILLIS));
                isEmpty = false;
            }
        }

        /** Returns the name of a task, or where it is if it has none but that of its object. */
        private static String nameOf(Runnable task, Stack stack) {
            String name = task instanceof NamedTask named ? UserCode.nameOf(named::name, task) : UserCode.textOf(task);
            for (StackTraceElement frame : stack.frames().reversed()) { // the outermost first
                if (NAME_OF_OBJECT.matcher(name).find() && !Stack.isOfLibrary(frame)) {
                    return Stack.textOf(frame);
                }
            }
            return name;
        }

        @Override
        public void ended(Ended event) {
            if (!isEmpty) {
                remove(event.task());
            }
        }

        private synchronized void remove(Runnable task) {
            reports.remove(task);
            isEmpty = reports.isEmpty();
        }

        synchronized List<StuckRow> rows(long now) {
            reports.values().removeIf(report -> report.until < now);
            isEmpty = reports.isEmpty();
            return reports.values().stream()
                    .map(Report::row)
                    .sorted(Comparator.comparingLong(StuckRow::ranSinceAt))
                    .toList();
        }
    }

    final Watched<ThreadPool> pools = new Watched<>(ThreadPool::isTerminated);
    private final ConcurrentHashMap<String, StuckTasks> stuck = new ConcurrentHashMap<>();
    private final Map<String, Long> drainingSeen = new TreeMap<>(); // when first; used by the sampler's thread only

    PoolListener listener(String name) {
        return stuck.computeIfAbsent(name, created -> new StuckTasks());
    }

    @Override
    public Summary summary(long now) {
        long queued = 0;
        int stuckTasks = 0;
        Map<String, ThreadPool> all = pools.all();
        for (Map.Entry<String, ThreadPool> each : all.entrySet()) {
            ThreadPool.Stats stats = statsOf(each.getValue());
            queued += stats == null ? 0 : stats.queued();
            stuckTasks += stuckOf(each.getKey(), now).size();
        }
        return new Summary(queued, stuckTasks);
    }

    /** Returns the statistics of a pool, or null if the queue is the user's and throws. */
    private static ThreadPool.@Nullable Stats statsOf(ThreadPool pool) {
        try {
            return pool.stats();
        } catch (Throwable userCode) {
            return null;
        }
    }

    private List<StuckRow> stuckOf(String name, long now) {
        StuckTasks tasks = stuck.get(name);
        return tasks == null ? List.of() : tasks.rows(now);
    }

    @Override
    public int watched() {
        return pools.all().size();
    }

    @Override
    public void findWrong(long now, Findings found) {
        pools.all().forEach((name, pool) -> {
            List<StuckRow> rows = stuckOf(name, now);
            if (!rows.isEmpty()) {
                ThreadPool.Stats stats = statsOf(pool);
                found.add(ofStuck(name, rows, stats == null ? 0 : stats.queued()));
            }
        });
    }

    private static Finding ofStuck(String pool, List<StuckRow> stuck, long queued) {
        StuckRow longest = stuck.getFirst(); // sorted
        Map<String, Integer> equal = new HashMap<>();
        stuck.forEach(row -> equal.merge(row.stack, 1, Integer::sum));
        Map.Entry<String, Integer> most =
                equal.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
        Link link = Link.to("pools");
        Draft draft = new Draft("pool", Level.stuck, pool, longest.ranSinceAt, link);
        String tasks = counted(stuck.size(), "task is stuck", "tasks are stuck");
        draft.say("Pool {}: {}, {} for ", name(pool, link), tasks, name(longest.task, link));
        draft.say("{}; {} more are queued.", since(longest.ranSinceAt), queued);
        if (queued > 0 && stuck.stream().allMatch(StuckRow::waitsForResult)) {
            draft.say(" They wait for tasks that are queued here");
            draft.say(most.getValue() > 1 ? ", {} in the same place." : ".", most.getValue());
        }
        return draft.tasks(List.of(), most.getKey()).done();
    }

    Rows rows(long now) {
        Map<String, Row> rows = new TreeMap<>();
        Map<String, ThreadPool> all = pools.all();
        drainingSeen.keySet().retainAll(all.keySet());
        all.forEach((name, pool) -> rows.put(name, row(name, pool, now)));
        return new Rows(new ArrayList<>(rows.keySet()), rows);
    }

    private Row row(String name, ThreadPool pool, long now) {
        ThreadPool.Stats stats = statsOf(pool);
        List<StuckRow> stuckRows = stuckOf(name, now);
        if (stats == null) {
            return new Row("unreadable", null, null, null, null, stuckRows);
        }
        boolean isDraining = stats.runState() != ThreadPool.RunState.RUNNING;
        if (isDraining) {
            drainingSeen.putIfAbsent(name, now);
        } else {
            drainingSeen.remove(name); // that was another one of this name
        }
        String state = stats.runState().name().toLowerCase(Locale.ROOT);
        return new Row(state, stats, stats.accepted(), capacityOf(pool), drainingSeen.get(name), stuckRows);
    }

    /** Returns the capacity of the queue; null if it is unbounded, or the user's. */
    private static @Nullable Integer capacityOf(ThreadPool pool) {
        try {
            int capacity = pool.getQueueCapacity();
            return capacity == Integer.MAX_VALUE ? null : capacity;
        } catch (IllegalStateException usersQueue) {
            return null;
        }
    }
}
