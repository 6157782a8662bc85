package dev.raddle.console;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.Explanation;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupState;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskStats;
import dev.raddle.task.Rate;
import dev.raddle.task.WaitReason;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The groups of the watched executors. Except for the executors, only the sampler's thread uses it. */
final class Groups implements Subject {

    /*
     * Overview.
     *
     * A sample reads all groups, in one pass. All of those that have something to do are kept, and so many of the idle
     * ones that the memory is bounded. Everything that a view asks for is computed from the sample, or by a bounded
     * number of calls; none of these takes a time in proportion to the number of groups or tasks.
     *
     * While no client looks, a sample is taken once a second, or less often if there are many groups. Of it only the
     * totals are kept, and the numbers of the groups whose tasks have waited longest.
     */

    private static final int MOST_HISTORIES = 1_000;
    private static final int MOST_WITHOUT_CLIENT = 40; // histories
    private static final int LARGEST_PAGE = 200;
    private static final int MOST_IDLE = 20_000; // of an executor
    private static final int MOST_RANKED = 1_000; // groups whose places at the cap are counted
    private static final int MOST_CHANGES = 50;
    private static final int MOST_OVERTAKEN = 100;
    private static final int MOST_HOLDERS = 10_000; // groups that are read for those of a cap
    private static final long STANDS_OUT = 1_000; // milliseconds of waiting

    record Id(String executor, String key) {
        /** Returns a text that no other group has, whatever the characters of its key. */
        @Override
        public String toString() {
            return executor.length() + ":" + executor + ":" + key;
        }
    }

    record Member(Id id, GroupExecutor executor, GroupState state) {
        GroupStats stats() {
            return state.stats();
        }

        boolean isIdle() {
            GroupStats stats = stats();
            return stats.activeCount() + stats.queuedCount() == 0
                    && !stats.paused()
                    && stats.holdLeft() == null
                    && !isTripped();
        }

        /** Returns whether its circuit breaker keeps tasks from starting. */
        boolean isTripped() {
            GroupStats.Breaker breaker = stats().breaker();
            return breaker != null && breaker.state() != CircuitBreaker.State.CLOSED;
        }

        /** Returns for how many milliseconds its oldest task has waited; 0 if that is unknown, or none waits. */
        long waitedMillis() {
            TaskStats oldest = state.oldest();
            return oldest == null || oldest.since() == null ? 0 : oldest.since().toMillis();
        }

        Finding.Link link() {
            return Finding.Link.ofGroup(id.executor, id.key);
        }

        /** Returns a part of a sentence. */
        Object nameAndLink() {
            return Finding.name(id.key, link());
        }
    }

    static final Comparator<Member> SHORTEST_WAIT_FIRST = Comparator.comparingLong(Member::waitedMillis);

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
            @Nullable String breaker,
            @Nullable String why,
            @Nullable List<Integer> spark,
            int weight,
            @Nullable Double share,
            @Nullable List<Finding.Holder> holders) {}

    record ExecutorRow(
            int running, int waiting, int groups, @Nullable Integer cap) {}

    /** A page of the list. Groups that are unread are idle, and too many to be kept. */
    record Page(
            int total,
            List<String> order,
            Map<String, Row> rows,
            Map<String, ExecutorRow> executors,
            @Nullable Integer unread) {}

    /**
     * A task of a group.
     *
     * @param place the number of tasks before it; null if it runs
     * @param priority the priority with which it waits; null if that is 0
     * @param slots the number of slots that it waits for; null if that is 1
     */
    record TaskRow(
            String name,
            @Nullable Long sinceAt,
            @Nullable String thread,
            @Nullable Integer place,
            @Nullable String why,
            @Nullable Integer priority,
            @Nullable Integer slots) {}

    record Order(List<String> running, List<String> waiting) {}

    /**
     * One group.
     *
     * @param finding what is wrong with it
     * @param tasks the number of its tasks that run; each takes as many slots as it costs
     */
    record Detail(
            @Nullable Row row,
            @Nullable Finding finding,
            int tasks,
            Map<String, TaskRow> running,
            Map<String, TaskRow> waiting,
            Order order,
            Failures.Rows failures,
            History.@Nullable Series series,
            History.@Nullable Both history,
            List<Changes.Row> changes) {}

    record Summary(int waiting) {}

    final Watched<GroupExecutor> executors = new Watched<>(
            executor -> executor.isShutdown() && executor.shutdownReport().isPresent());
    private final Function<String, @Nullable Activity> activities;
    private final Failures failures;
    private final TaskRefs refs;
    private final Changes changes;
    private Map<String, GroupExecutor> sampled = Map.of();
    private List<Member> members = List.of();
    private Map<String, ExecutorRow> executorRows = Map.of();
    private Map<String, List<Finding.Holder>> holders = new HashMap<>(); // of caps; of this sample, by executor
    private int unread; // groups of this sample that were not kept
    private Map<Id, History> histories = Map.of();
    private Map<String, History> totals = new HashMap<>(); // by executor
    private final History total = new History(History.SHORT);
    private Map<Id, Limits> limits = new HashMap<>(); // of the groups with a history
    private long second; // the last one in the histories

    /** A task that waits, and the starts of its group when that was seen first. */
    private record Overtaken(String task, long starts) {}

    private final Map<Id, Overtaken> overtaken = new HashMap<>();

    /** What a resolver decides. A difference counts when it is seen twice: the listener may be notified in between. */
    private record Limits(
            int limit,
            @Nullable String rate,
            int weight,
            @Nullable Limits next) {
        boolean equalsNow(Limits now) {
            return limit == now.limit && weight == now.weight && Objects.equals(rate, now.rate);
        }
    }

    Groups(Function<String, @Nullable Activity> activities, Failures failures, TaskRefs refs, Changes changes) {
        this.activities = activities;
        this.failures = failures;
        this.refs = refs;
        this.changes = changes;
    }

    /** Reads all groups, and once a second also adds to their histories. */
    void sample(long now) {
        read();
        if (now / 1_000 != second) {
            second = now / 1_000;
            addToHistories(now, true);
        }
    }

    /** Adds to the histories while no client looks. */
    void sampleWithoutClient(long now) {
        read();
        second = now / 1_000;
        addToHistories(now, false);
        members = List.of(); // they reference executors
        sampled = Map.of();
    }

    private void read() {
        List<Member> read = new ArrayList<>();
        Map<String, ExecutorRow> rows = new TreeMap<>();
        unread = 0;
        sampled = executors.all();
        sampled.forEach((name, executor) -> rows.put(name, read(name, executor, read)));
        members = read;
        executorRows = rows;
        holders = new HashMap<>();
    }

    private ExecutorRow read(String name, GroupExecutor executor, List<Member> read) {
        int running = 0;
        int waiting = 0;
        int idle = 0;
        int groups = 0;
        for (GroupState state : (Iterable<GroupState>) executor.groups()::iterator) {
            Member member = new Member(new Id(name, state.stats().groupKey()), executor, state);
            running += state.stats().activeCount();
            waiting += state.stats().queuedCount();
            idle += member.isIdle() ? 1 : 0;
            groups++;
            if (!member.isIdle() || idle <= MOST_IDLE) {
                read.add(member);
            }
        }
        unread += Math.max(0, idle - MOST_IDLE);
        return new ExecutorRow(running, waiting, groups, nullIfUnlimited(executor.globalMaxInFlight()));
    }

    /** There is a bounded number of histories, and none of groups that have gone. */
    private void addToHistories(long now, boolean isLookedAt) {
        int size = isLookedAt ? History.LONG : History.SHORT;
        Map<Id, History> kept = new HashMap<>();
        Map<Id, Limits> limitsNow = new HashMap<>();
        for (Member member : chosen(isLookedAt)) {
            History known = histories.get(member.id);
            History history = known == null ? new History(size) : known;
            history.resize(size);
            long starts = isLookedAt ? counted(member, counts -> counts.starts.sum(), 0L) : -1;
            history.add(second, member.stats().activeCount(), member.stats().queuedCount(), starts);
            kept.put(member.id, history);
            limitsNow.put(member.id, compared(member, limits.get(member.id), now));
        }
        histories = kept;
        limits = limitsNow;
        addToTotals();
    }

    /** Returns the groups to have a history: those that have waited longest, those that have one, and busy ones. */
    private Collection<Member> chosen(boolean isLookedAt) {
        int most = isLookedAt ? MOST_HISTORIES : MOST_WITHOUT_CLIENT;
        Largest<Member> waited = new Largest<>(most, SHORTEST_WAIT_FIRST);
        members.stream().filter(member -> member.waitedMillis() >= STANDS_OUT).forEach(waited::add);
        Map<Id, Member> chosen = new LinkedHashMap<>();
        waited.descending().forEach(member -> chosen.put(member.id, member));
        Stream<Member> known = members.stream().filter(member -> histories.containsKey(member.id));
        Stream<Member> busy = members.stream().filter(member -> isLookedAt && !member.isIdle());
        Stream.concat(known, busy)
                .takeWhile(_ -> chosen.size() < most)
                .forEach(member -> chosen.putIfAbsent(member.id, member));
        return chosen.values();
    }

    private void addToTotals() {
        Map<String, History> kept = new HashMap<>();
        long starts = 0;
        int running = 0;
        int waiting = 0;
        for (Map.Entry<String, ExecutorRow> each : executorRows.entrySet()) {
            ExecutorRow row = each.getValue();
            Activity activity = activities.apply(each.getKey());
            History known = totals.get(each.getKey());
            History history = known == null ? new History(History.SHORT) : known;
            history.add(second, row.running, row.waiting, activity == null ? -1 : activity.starts());
            kept.put(each.getKey(), history);
            starts += activity == null ? 0 : activity.starts();
            running += row.running;
            waiting += row.waiting;
        }
        totals = kept;
        total.add(second, running, waiting, starts);
    }

    /** Adds a change if the limits differ from those before without any that was notified. */
    private Limits compared(Member member, @Nullable Limits before, long now) {
        GroupStats stats = member.stats();
        String rate = stats.rate() == null ? null : stats.rate().toString();
        Limits current = new Limits(stats.maxConcurrency(), rate, member.state.weight(), null);
        boolean isKnown = stats.maxConcurrency() > 0; // else they are being looked up
        if (before == null || !isKnown || before.equalsNow(current)) {
            return before == null || isKnown ? current : before;
        }
        if (before.next == null || !before.next.equalsNow(current)) {
            return new Limits(before.limit, before.rate, before.weight, current);
        }
        addResolved(member, "limit", limitText(before.limit), limitText(current.limit), now);
        addResolved(member, "rate", before.rate, rate, now);
        addResolved(member, "weight", Integer.toString(before.weight), Integer.toString(current.weight), now);
        return current;
    }

    private void addResolved(Member member, String what, @Nullable String from, @Nullable String to, long now) {
        Changes.Row last = changes.latest(member.id.executor, member.id.key, what);
        boolean isNotified = last != null && Objects.equals(last.after(), to);
        boolean isAdaptive = what.equals("limit") && member.stats().limitChange() != null;
        if (!Objects.equals(from, to) && !isNotified && !isAdaptive && isCounted(member.id)) {
            changes.addResolved(member.id.executor, member.id.key, what, from, to, now);
        }
    }

    static String limitText(int limit) {
        return limit == Integer.MAX_VALUE ? "unlimited" : Integer.toString(limit);
    }

    @Override
    public int watched() {
        return executorRows.size();
    }

    @Override
    public void findWrong(long now, Findings found) {
        new GroupFindings(this, changes, refs, now).addTo(found);
        new Running(this, refs).findLocks(now, found);
        for (String name : sampled.keySet()) {
            Activity activity = activities.apply(name);
            Finding slower = activity == null ? null : activity.runTimes.slower(name, now);
            if (slower != null) {
                found.add(slower);
            }
        }
    }

    /** Returns how many tasks of a group have started since its oldest waiting task was first passed to this method. */
    long startsSince(Member member, TaskStats oldest) {
        String task = refs.nameOf(oldest);
        long starts = counted(member, counts -> counts.starts.sum(), 0L);
        Overtaken known = overtaken.get(member.id);
        if (known == null || !known.task.equals(task) || starts < known.starts) {
            if (overtaken.size() >= MOST_OVERTAKEN) {
                overtaken.clear();
            }
            known = new Overtaken(task, starts);
            overtaken.put(member.id, known);
        }
        return starts - known.starts;
    }

    boolean waitsGrow(Member member) {
        History history = histories.get(member.id);
        return history != null && history.waitsGrow();
    }

    List<Member> members() {
        return members;
    }

    Map<String, ExecutorRow> executorRows() {
        return executorRows;
    }

    History.Both total() {
        return total.both(true);
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

    @Override
    public Summary summary(long now) {
        return new Summary(
                executorRows.values().stream().mapToInt(ExecutorRow::waiting).sum());
    }

    // The list of groups.

    /** Returns a page of the groups in the order of the view, of which only those up to its end are sorted. */
    Page page(View view, long now) {
        String sort = view.text("sort");
        int size = view.number("size", 50, 1, LARGEST_PAGE);
        long asked = view.number("page", 0, 0, Integer.MAX_VALUE);
        Comparator<Ranked> byKey = Comparator.comparing(each -> each.member.id.key);
        Comparator<Ranked> order = Comparator.comparingLong(Ranked::rank)
                .thenComparing(sort.equals("-key") ? byKey.reversed() : byKey)
                .thenComparing(each -> each.member.id.executor);
        Largest<Ranked> best = new Largest<>((int) Math.min(members.size(), (asked + 1) * size), order.reversed());
        int total = 0;
        for (Member member : members) {
            if (view.admits(member.id.key, member.id.executor)
                    && (!view.isSet("stopped") || isStopped(member.stats()))) {
                best.add(new Ranked(member, rank(sort, member, now)));
                total++;
            }
        }
        long first = Math.min(Math.max(0, total - 1) / size, asked) * size;
        Map<String, Row> rows = new LinkedHashMap<>();
        best.descending().stream()
                .skip(first)
                .limit(size)
                .forEach(each -> rows.put(each.member.id.toString(), row(each.member, now)));
        return new Page(total, List.copyOf(rows.keySet()), rows, executorRows, unread == 0 ? null : unread);
    }

    private static boolean isStopped(GroupStats stats) {
        return stats.paused()
                || stats.holdLeft() != null
                || (stats.breaker() != null && stats.breaker().state() != CircuitBreaker.State.CLOSED)
                || stats.queuedCount() > 0
                || stats.activeCount() >= stats.maxConcurrency();
    }

    /** Returns a number by which groups are sorted, the lowest first; a minus sign before the word reverses it. */
    private long rank(String sort, Member member, long now) {
        if (sort.startsWith("-")) {
            return -rank(sort.substring(1), member, now);
        }
        return switch (sort) {
            case "", "oldest" -> member.stats().queuedCount() == 0 ? Long.MAX_VALUE : now - member.waitedMillis();
            case "waiting" -> -member.stats().queuedCount();
            case "running" -> -member.stats().activeCount();
            case "rejected" -> -counted(member, counts -> counts.rejected.sum(), 0L);
            case "failed" -> -counted(member, counts -> counts.failed.sum(), 0L);
            case "starts" -> {
                History history = histories.get(member.id);
                Integer starts = history == null ? null : history.startsPerSecond();
                yield starts == null ? 1 : -starts;
            }
            case "rate" -> {
                Rate rate = member.stats().rate();
                yield rate == null
                        ? Long.MAX_VALUE
                        : rate.period().dividedBy(rate.count()).toNanos();
            }
            case "limit" -> member.stats().maxConcurrency();
            case "weight" -> -member.state.weight();
            case "share" -> -Math.round(1e6 * shareOr0(member));
            default -> 0; // by key
        };
    }

    /** Returns when the oldest waiting task was submitted. */
    @Nullable
    Long oldestAt(Member member, long now) {
        TaskStats oldest = member.state.oldest();
        return oldest == null ? null : refs.sinceAt(oldest, now);
    }

    /** Returns the share of a group in the slot-time of its executor in the last minute, or 0 if that is unknown. */
    private double shareOr0(Member member) {
        History own = histories.get(member.id);
        History all = totals.get(member.id.executor);
        long sum = all == null ? 0 : all.slotTime();
        return own == null || sum == 0 ? 0 : Math.min(1, (double) own.slotTime() / sum);
    }

    // Who holds a cap.

    /** Returns those that hold most slots of the cap of an executor; of groups with similar keys their class. */
    List<Finding.Holder> holders(String executor) {
        return holders.computeIfAbsent(executor, name -> {
            ExecutorRow row = executorRows.get(name);
            Stream<Member> running = members.stream()
                    .filter(member -> member.stats().activeCount() > 0 && member.id.executor.equals(name))
                    .limit(MOST_HOLDERS);
            return row == null ? List.of() : CapHolders.of(running, row.running);
        });
    }

    /** Returns why the next task of a group waits. Counts no groups if there are many of them. */
    private @Nullable String why(Member member) {
        if (member.stats().queuedCount() == 0) {
            return null;
        }
        ExecutorRow row = executorRows.get(member.id.executor);
        boolean isLarge = row != null && row.groups > MOST_RANKED;
        return isLarge && member.state.waitingFor() == WaitReason.GLOBAL_CAP
                ? "waits for a slot of the global cap"
                : member.executor
                        .explainNext(member.id.key)
                        .map(Explanation::toString)
                        .orElse(null);
    }

    private Row row(Member member, long now) {
        GroupStats stats = member.stats();
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
                stats.breaker() == null ? null : stats.breaker().state().toString(),
                why(member),
                history == null ? null : history.spark(),
                member.state.weight(),
                shareOr0(member) == 0 ? null : Math.round(100 * shareOr0(member)) / 100.0,
                member.state.waitingFor() == WaitReason.GLOBAL_CAP ? holders(member.id.executor) : null);
    }

    private static @Nullable Integer nullIfUnlimited(int number) {
        return number == Integer.MAX_VALUE ? null : number;
    }

    /** Returns a moment to a second, so that it is the same in each sample. */
    private static long toSeconds(long at) {
        return (at + 999) / 1_000 * 1_000;
    }

    // One group.

    Detail detail(View view, long now, Function<Finding.Link, @Nullable Finding> findings) {
        Id id = new Id(view.text("executor"), view.text("key"));
        GroupExecutor executor = sampled.get(id.executor);
        List<TaskStats> tasks = executor == null ? List.of() : TaskRefs.tasks(executor, id.key);
        Map<String, TaskRow> running = new LinkedHashMap<>();
        Map<String, TaskRow> waiting = new LinkedHashMap<>();
        Row row = rowOf(id, now);
        for (TaskStats task : tasks) {
            String name = task.handle().taskId();
            Long sinceAt = refs.sinceAt(task, now);
            if (task.isWaiting()) {
                if (waiting.size() < TaskRefs.MOST_WAITING && executor != null) {
                    String why = why(row, executor, task, waiting.size());
                    Integer priority = task.priority() == 0 ? null : task.priority();
                    Integer slots = task.slots() == 1 ? null : task.slots();
                    TaskRow waits = new TaskRow(name, sinceAt, null, waiting.size(), why, priority, slots);
                    waiting.put(refs.nameOf(task), waits);
                }
            } else if (running.size() < TaskRefs.MOST_RUNNING) {
                String thread = threadName(task.thread(), id.key);
                running.put(refs.nameOf(task), new TaskRow(name, sinceAt, thread, null, null, null, null));
            }
        }
        History history = histories.get(id);
        return new Detail(
                row,
                findings.apply(Finding.Link.ofGroup(id.executor, id.key)),
                (int) tasks.stream().filter(task -> !task.isWaiting()).count(),
                running,
                waiting,
                new Order(List.copyOf(running.keySet()), List.copyOf(waiting.keySet())),
                failures.ofOwner(id.executor, id.key),
                history == null ? null : history.series(isCounted(id)),
                history == null ? null : history.both(isCounted(id)),
                changes.latest(MOST_CHANGES, change -> change.isOf(id.executor, id.key)));
    }

    /** Returns why a task waits, like the first one if counting the groups before it would take long. */
    private String why(@Nullable Row row, GroupExecutor executor, TaskStats task, int place) {
        ExecutorRow all = row == null || row.holders == null ? null : executorRows.get(row.executor);
        return all != null && all.groups > MOST_RANKED
                ? "waits for the global cap or those before it, " + place + " before it"
                : executor.explain(task.handle()).toString();
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
