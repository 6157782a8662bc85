package dev.raddle.console;

import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.NamedTask;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The watched pools, and their tasks that are stuck. */
final class Pools {

    private static final int MOST_STUCK = 100; // of a pool
    private static final Pattern NAME_OF_OBJECT = Pattern.compile("@[0-9a-f]{4,}|\\$\\$Lambda");
    private static final long LATE_MILLIS = 60_000; // how late a report may be

    /**
     * A task that is stuck.
     *
     * @param waitsForResult whether it waits for the result of another task
     * @param queued the number of queued tasks of its pool; null if that is unknown
     */
    record StuckRow(
            String task,
            long ranSinceAt,
            String thread,
            String stack,
            boolean waitsForResult,
            @Nullable Long queued) {}

    /** Stuck tasks with equal stacks. */
    record Equal(String name, int count, String stack) {}

    record Row(
            String state,
            int threads,
            int core,
            int max,
            int largest,
            int active,
            long queued,
            @Nullable Integer capacity,
            long accepted,
            long completed,
            long rejected,
            long handedBack,
            long removed,
            @Nullable Long drainingSeenAt,
            List<StuckRow> stuck,
            List<Equal> tasksWait) {}

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
                Finding.Task none = new Finding.Task("", "", "", Finding.Link.to("pools"), null, 1, null, null);
                Stacks.Read stack = new Stacks.Read(none, event.stack(), false);
                StuckRow row = new StuckRow(
                        Failures.cut(nameOf(event.task(), stack)),
                        now - ranFor,
                        event.thread().getName(),
                        stack.text(),
                        stack.waitsForResult(),
                        null);
                long interval = before == null ? ranFor : before.interval;
                reports.put(event.task(), new Report(row, interval, now + 2 * interval + LATE_MILLIS));
                isEmpty = false;
            }
        }

        /** Returns the name of a task, or where it is if it has none but that of its object. */
        private static String nameOf(Runnable task, Stacks.Read stack) {
            String name = task instanceof NamedTask named ? UserCode.nameOf(named::name, task) : UserCode.textOf(task);
            for (StackTraceElement frame : stack.frames().reversed()) { // the outermost first
                if (NAME_OF_OBJECT.matcher(name).find() && !Stacks.isOfLibrary(frame)) {
                    return Stacks.placeOf(frame);
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

    Summary summary(long now) {
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

    /** Returns the stuck tasks of the pools that have some, the longest first. */
    Map<String, List<StuckRow>> stuckRows(long now) {
        Map<String, List<StuckRow>> all = new TreeMap<>();
        pools.all().forEach((name, pool) -> {
            ThreadPool.Stats stats = statsOf(pool);
            Long queued = stats == null ? null : stats.queued();
            List<StuckRow> rows = stuckOf(name, now).stream()
                    .map(row ->
                            new StuckRow(row.task, row.ranSinceAt, row.thread, row.stack, row.waitsForResult, queued))
                    .toList();
            if (!rows.isEmpty()) {
                all.put(name, rows);
            }
        });
        return all;
    }

    /** Returns the stacks that several tasks share. */
    private static List<Equal> equalOnes(List<StuckRow> stuck) {
        Map<String, Equal> equal = new LinkedHashMap<>();
        stuck.forEach(row -> equal.merge(
                row.stack,
                new Equal(row.task, 1, row.stack),
                (one, other) -> new Equal(one.name, one.count + 1, one.stack)));
        return equal.values().stream().filter(each -> each.count > 1).toList();
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
        if (stats == null) {
            return new Row("unreadable", 0, 0, 0, 0, 0, 0, null, 0, 0, 0, 0, 0, null, stuckOf(name, now), List.of());
        }
        boolean isDraining = stats.runState() != ThreadPool.RunState.RUNNING;
        if (isDraining) {
            drainingSeen.putIfAbsent(name, now);
        } else {
            drainingSeen.remove(name); // that was another one of this name
        }
        return new Row(
                stats.runState().name().toLowerCase(Locale.ROOT),
                stats.threads(),
                stats.coreThreads(),
                stats.maxThreads(),
                stats.largestThreads(),
                stats.active(),
                stats.queued(),
                capacityOf(pool),
                stats.accepted(),
                stats.completed(),
                stats.rejected(),
                stats.handedBack(),
                stats.removed(),
                isDraining ? drainingSeen.get(name) : null,
                stuckOf(name, now),
                equalOnes(stuckOf(name, now)));
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
