package dev.raddle.console;

import dev.raddle.group.Explanation;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskStats;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The groups of the watched executors. Except for the executors, only the sampler's thread uses it. */
final class Groups {

    private static final int MOST_HISTORIES = 1_000;
    private static final int LARGEST_PAGE = 200;

    private record Id(String executor, String key) {
        /** Returns a text that no other group has, whatever the characters of its key. */
        @Override
        public String toString() {
            return executor.length() + ":" + executor + ":" + key;
        }
    }

    private record Member(Id id, GroupExecutor executor, GroupStats stats) {}

    private record Ranked(Member member, long rank) {}

    record Row(
            String executor,
            String key,
            @Nullable Integer limit,
            int running,
            int waiting,
            @Nullable Integer capacity,
            @Nullable Long oldestAt,
            @Nullable String rate,
            @Nullable Integer startsPerSecond,
            @Nullable Long rejected,
            @Nullable Long failed,
            boolean paused,
            @Nullable Long holdUntilAt,
            @Nullable String why,
            @Nullable List<Integer> spark) {}

    record ExecutorRow(
            int running,
            int waiting,
            int groups,
            @Nullable Integer cap,
            @Nullable Integer capUsed) {}

    record Page(int total, List<String> order, Map<String, Row> rows, Map<String, ExecutorRow> executors) {}

    record TaskRow(
            String name,
            @Nullable Long sinceAt,
            @Nullable String thread,
            @Nullable Integer place,
            @Nullable String why) {}

    record Order(List<String> running, List<String> waiting) {}

    /**
     * One group.
     *
     * @param tasks the number of its tasks that run; each takes as many slots as it costs
     */
    record Detail(
            @Nullable Row row,
            int tasks,
            Map<String, TaskRow> running,
            Map<String, TaskRow> waiting,
            Order order,
            Failures.Rows failures,
            History.@Nullable Series series) {}

    record Summary(int waiting) {}

    final Watched<GroupExecutor> executors = new Watched<>(
            executor -> executor.isShutdown() && executor.shutdownReport().isPresent());
    private final Function<String, @Nullable Activity> activities;
    private final Failures failures;
    private final TaskRefs refs;
    private Map<String, GroupExecutor> sampled = Map.of();
    private List<Member> members = List.of();
    private Map<Id, History> histories = Map.of();
    private long second; // the last one in the histories

    Groups(Function<String, @Nullable Activity> activities, Failures failures, TaskRefs refs) {
        this.activities = activities;
        this.failures = failures;
        this.refs = refs;
    }

    /** Reads all groups, and once a second also adds to their histories. */
    void sample(long now) {
        List<Member> read = new ArrayList<>();
        sampled = executors.all();
        sampled.forEach((name, executor) -> {
            for (String key : executor.activeGroupKeys()) {
                executor.groupStats(key).ifPresent(stats -> read.add(new Member(new Id(name, key), executor, stats)));
            }
        });
        members = read;
        if (now / 1_000 != second) {
            second = now / 1_000;
            addToHistories();
        }
    }

    /** There are at most MOST_HISTORIES, and none of groups that have gone, so that their memory is bounded. */
    private void addToHistories() {
        Map<Id, History> kept = new HashMap<>();
        int room = MOST_HISTORIES - histories.size();
        for (Member member : members) {
            long starts = counted(member, counts -> counts.starts.sum(), 0L);
            History history = histories.get(member.id);
            if (history == null && room > 0 && member.stats.activeCount() + member.stats.queuedCount() > 0) {
                history = new History(starts);
                room--;
            }
            if (history != null) {
                history.add(second, member.stats.activeCount(), member.stats.queuedCount(), starts);
                kept.put(member.id, history);
            }
        }
        histories = kept;
    }

    private <T> T counted(Member member, Function<Activity.Counts, T> count, T otherwise) {
        Activity activity = activities.apply(member.id.executor);
        Activity.Counts counts = activity == null ? null : activity.get(member.id.key);
        return counts == null ? otherwise : count.apply(counts);
    }

    /** Returns a count of a group; null if its executor has no listener of this console. */
    private @Nullable Long countOrNull(Member member, Function<Activity.Counts, Long> count) {
        return isCounted(member.id) ? counted(member, count, 0L) : null;
    }

    private boolean isCounted(Id id) {
        return activities.apply(id.executor) != null;
    }

    Summary summary() {
        return new Summary(
                members.stream().mapToInt(member -> member.stats.queuedCount()).sum());
    }

    // The list of groups.

    Page page(View view, long now) {
        List<Ranked> ranked = new ArrayList<>();
        for (Member member : members) {
            if (view.admits(member.id.key, member.id.executor) && (!view.isSet("stopped") || isStopped(member.stats))) {
                ranked.add(new Ranked(member, rank(view.text("sort"), member, now)));
            }
        }
        ranked.sort(Comparator.comparingLong(Ranked::rank)
                .thenComparing(each -> each.member.id.key)
                .thenComparing(each -> each.member.id.executor));
        int size = view.number("size", 50, 1, LARGEST_PAGE);
        long last = Math.max(0, ranked.size() - 1) / size;
        long first = Math.min(last, view.number("page", 0, 0, Integer.MAX_VALUE)) * size;
        Map<String, Row> rows = new LinkedHashMap<>();
        ranked.stream()
                .skip(first)
                .limit(size)
                .forEach(each -> rows.put(each.member.id.toString(), row(each.member, now)));
        return new Page(ranked.size(), List.copyOf(rows.keySet()), rows, executorRows());
    }

    private static boolean isStopped(GroupStats stats) {
        return stats.paused()
                || stats.holdLeft() != null
                || stats.queuedCount() > 0
                || stats.activeCount() >= stats.maxConcurrency();
    }

    /** Returns a number by which groups are sorted, the lowest first. */
    private long rank(String sort, Member member, long now) {
        return switch (sort) {
            case "", "oldest" -> {
                Long oldest = oldestAt(member, now);
                yield oldest == null ? Long.MAX_VALUE : oldest;
            }
            case "waiting" -> -member.stats.queuedCount();
            case "running" -> -member.stats.activeCount();
            case "rejected" -> -counted(member, counts -> counts.rejected.sum(), 0L);
            default -> 0; // by key
        };
    }

    /** Returns when the first waiting task was submitted. */
    private @Nullable Long oldestAt(Member member, long now) {
        if (member.stats.queuedCount() == 0) {
            return null;
        }
        for (TaskStats task : member.executor.tasks(member.id.key, member.stats.activeCount() + 1)) {
            if (task.isWaiting()) {
                return refs.sinceAt(task, now);
            }
        }
        return null;
    }

    private Row row(Member member, long now) {
        GroupStats stats = member.stats;
        History history = histories.get(member.id);
        return new Row(
                member.id.executor,
                member.id.key,
                nullIfUnlimited(stats.maxConcurrency()),
                stats.activeCount(),
                stats.queuedCount(),
                nullIfUnlimited(stats.queueCapacity()),
                oldestAt(member, now),
                stats.rate() == null ? null : stats.rate().toString(),
                history == null || !isCounted(member.id) ? null : history.startsPerSecond(),
                countOrNull(member, counts -> counts.rejected.sum()),
                countOrNull(member, counts -> counts.failed.sum()),
                stats.paused(),
                stats.holdLeft() == null
                        ? null
                        : toSeconds(now + stats.holdLeft().toMillis()),
                stats.queuedCount() == 0
                        ? null
                        : member.executor
                                .explainNext(member.id.key)
                                .map(Explanation::toString)
                                .orElse(null),
                history == null ? null : history.spark());
    }

    private static @Nullable Integer nullIfUnlimited(int number) {
        return number == Integer.MAX_VALUE ? null : number;
    }

    /** Returns a moment to a second, so that it is the same in each sample. */
    private static long toSeconds(long at) {
        return (at + 999) / 1_000 * 1_000;
    }

    private Map<String, ExecutorRow> executorRows() {
        Map<String, ExecutorRow> rows = new TreeMap<>();
        sampled.forEach((name, executor) -> {
            GroupExecutorStats stats = executor.stats();
            Integer cap = nullIfUnlimited(stats.globalInFlightMax());
            rows.put(
                    name,
                    new ExecutorRow(
                            stats.totalActiveCount(),
                            stats.totalQueuedCount(),
                            stats.activeGroupCount(),
                            cap,
                            cap == null ? null : stats.globalInFlightUsed()));
        });
        return rows;
    }

    // One group.

    Detail detail(View view, long now) {
        Id id = new Id(view.text("executor"), view.text("key"));
        GroupExecutor executor = sampled.get(id.executor);
        List<TaskStats> tasks = executor == null ? List.of() : TaskRefs.tasks(executor, id.key);
        Map<String, TaskRow> running = new LinkedHashMap<>();
        Map<String, TaskRow> waiting = new LinkedHashMap<>();
        for (TaskStats task : tasks) {
            String name = task.handle().taskId();
            Long sinceAt = refs.sinceAt(task, now);
            if (task.isWaiting()) {
                if (waiting.size() < TaskRefs.MOST_WAITING && executor != null) {
                    String why = executor.explain(task.handle()).toString();
                    waiting.put(refs.nameOf(task), new TaskRow(name, sinceAt, null, waiting.size(), why));
                }
            } else if (running.size() < TaskRefs.MOST_RUNNING) {
                String thread = threadName(task.thread(), id.key);
                running.put(refs.nameOf(task), new TaskRow(name, sinceAt, thread, null, null));
            }
        }
        History history = histories.get(id);
        return new Detail(
                rowOf(id, now),
                (int) tasks.stream().filter(task -> !task.isWaiting()).count(),
                running,
                waiting,
                new Order(List.copyOf(running.keySet()), List.copyOf(waiting.keySet())),
                failures.ofOwner(id.executor, id.key),
                history == null ? null : history.series(isCounted(id)));
    }

    private @Nullable Row rowOf(Id id, long now) {
        for (Member member : members) {
            if (member.id.equals(id)) {
                return row(member, now);
            }
        }
        return null;
    }

    /** Returns the name of a thread, or its number if its name says no more than that it runs a task of this group. */
    private static @Nullable String threadName(@Nullable Thread thread, String key) {
        if (thread == null) {
            return null;
        }
        String name = thread.getName();
        return name.isEmpty() || name.equals(key) ? "thread " + thread.threadId() : name;
    }
}
