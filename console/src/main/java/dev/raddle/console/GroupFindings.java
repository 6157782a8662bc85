package dev.raddle.console;

import static dev.raddle.console.Finding.counted;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.group.Explanation;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskStats;
import dev.raddle.task.WaitReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What is wrong with the groups of a sample, and which of their tasks run for long. Of one moment. */
final class GroupFindings {

    /*
     * Overview.
     *
     * A group is a finding when one of its tasks has waited for two seconds, unless only the cap keeps it waiting: then
     * its executor is. Of groups the reason is that of the gate. A wait for slots of the group has one of these causes,
     * and the first that holds is said:
     *
     *   self-wait   a running task awaits one that waits in the same group
     *   cost        the next task needs more slots than are free
     *   priority    the oldest task has a lower priority than the next one
     *   limit       the limit was lowered in the last hour
     *   hang        the oldest running task has held its slots for as long as the oldest wait, or for ten seconds
     *   limit       otherwise: more tasks come than run
     *
     * Only the worst groups are looked at in this way, and of each only a hundred tasks and a few stacks.
     */

    static final long LONG_WAIT = 2_000; // milliseconds
    private static final long HANG = 10_000;
    private static final long RECENT = 3_600_000;
    private static final int MOST_GROUPS = 2 * Findings.MOST;
    private static final int MOST_TASKS = 1_000; // of a group
    private static final int MOST_STACKS = 20; // of a group
    private static final int SHOWN_TASKS = 5;
    private static final int MOST_BUSY = 500; // groups whose first task is read
    private static final int MOST_RUNNING = 20;
    private static final double MOST_OF_CAP = 0.6; // the share of one group that is told
    private static final int LONGEST_COUNT = 10_000;

    private final Groups groups;
    private final Changes changes;
    private final TaskRefs refs;
    private final long now;

    GroupFindings(Groups groups, Changes changes, TaskRefs refs, long now) {
        this.groups = groups;
        this.changes = changes;
        this.refs = refs;
        this.now = now;
    }

    /** Adds the findings, and returns the number of those that were not added. */
    int addTo(List<Finding> findings) {
        List<Groups.Member> late = new ArrayList<>();
        Map<String, List<Groups.Member>> atCap = new LinkedHashMap<>();
        for (Groups.Member member : groups.members()) {
            if (member.waitedMillis() < LONG_WAIT && !isPausedWithTasks(member)) {
                continue;
            }
            switch (member.state().waitingFor()) {
                case GLOBAL_CAP, GLOBAL_RATE ->
                    atCap.computeIfAbsent(member.id().executor(), _ -> new ArrayList<>())
                            .add(member);
                default -> late.add(member);
            }
        }
        Comparator<Groups.Member> longest =
                Comparator.comparingLong(Groups.Member::waitedMillis).reversed();
        atCap.values().forEach(waiting -> {
            waiting.sort(longest);
            findings.add(ofCap(waiting));
        });
        late.sort(longest);
        late.stream().limit(MOST_GROUPS).map(this::ofGroup).forEach(findings::add);
        return Math.max(0, late.size() - MOST_GROUPS);
    }

    private static boolean isPausedWithTasks(Groups.Member member) {
        return member.stats().paused() && member.stats().queuedCount() > 0;
    }

    // The cap.

    private Finding ofCap(List<Groups.Member> waiting) {
        Groups.Member first = waiting.getFirst();
        String executor = first.id().executor();
        Long since = groups.oldestAt(first, now);
        boolean isRate = first.state().waitingFor() == WaitReason.GLOBAL_RATE;
        Groups.ExecutorRow row = groups.executorRows().get(executor);
        List<Finding.Holder> holders = isRate ? List.of() : groups.holders(executor);
        Finding.Holder largest = holders.isEmpty() ? null : holders.getFirst();
        boolean isUneven = largest != null
                && largest.groups() == null
                && largest.share() >= MOST_OF_CAP
                && largest.weight() > first.state().weight();
        Draft draft = new Draft(isRate ? "global-rate" : isUneven ? "weights" : "cap", Level.slow, executor);
        draft.text(isRate ? "The global rate of " : "The cap of ").name(executor, Link.to("groups"));
        if (isRate) {
            draft.text(" is used up: ");
        } else {
            draft.text(" is full, with %,d of %,d slots taken: "
                    .formatted(row == null ? 0 : row.running(), row == null || row.cap() == null ? 0 : row.cap()));
        }
        String wait = waiting.size() == 1 ? "1 group waits" : "%,d groups wait".formatted(waiting.size());
        draft.text(wait + " for it, ")
                .name(first.id().key(), first.link())
                .text(" for ")
                .since(since)
                .text(".");
        for (Finding.Holder holder : holders.subList(0, Math.min(2, holders.size()))) {
            draft.text(holder.groups() == null ? " " : " %,d groups like ".formatted(holder.groups()));
            draft.name(holder.name(), holder.link());
            draft.text(" %s %s (%,.0f %%)%s."
                    .formatted(
                            holder.groups() == null ? "holds" : "hold",
                            counted(holder.slots(), "slot"),
                            100 * holder.share(),
                            isUneven ? ", with the weight %,d".formatted(holder.weight()) : ""));
        }
        if (isUneven) {
            draft.text(" The weight of ").name(first.id().key(), first.link());
            draft.text(" is %,d.".formatted(first.state().weight()));
        }
        addChange(draft, executor, null, isUneven ? "weight" : "limit");
        return draft.beganAt(since).link(first.link()).holders(holders).done();
    }

    // One group.

    private Finding ofGroup(Groups.Member member) {
        return switch (member.state().waitingFor()) {
            case PAUSED -> ofStop(member, "paused", "pause");
            case HOLD -> ofStop(member, "hold", "hold");
            case GROUP_RATE, GLOBAL_RATE -> ofRate(member);
            case FLEET_LIMIT -> ofFleet(member);
            case GROUP_LIMIT, BULKHEAD, GLOBAL_CAP, NOTHING -> ofSlots(member);
        };
    }

    private Draft begin(String kind, Level level, Groups.Member member) {
        Draft draft = new Draft(kind, level, member.id().toString());
        draft.beganAt(groups.oldestAt(member, now)).link(member.link());
        return draft.text("Group ")
                .name(member.id().key(), member.link())
                .text(" of " + member.id().executor());
    }

    /** Says how many tasks wait, and since when the oldest one does. */
    private Draft addWait(Draft draft, Groups.Member member) {
        int waiting = member.stats().queuedCount();
        draft.text(counted(waiting, "task") + (waiting == 1 ? " waits" : " wait"));
        return draft.text(waiting == 1 ? ", for " : ", the oldest for ").since(groups.oldestAt(member, now));
    }

    private Finding ofStop(Groups.Member member, String kind, String what) {
        Draft draft = begin(kind, kind.equals("paused") ? Level.stuck : Level.slow, member);
        if (kind.equals("paused")) {
            draft.text(" is paused: ");
        } else {
            long left = member.stats().holdLeft() == null
                    ? 0
                    : member.stats().holdLeft().toMillis();
            draft.text(" is on hold for another ").until(now + left).text(": ");
        }
        addWait(draft, member).text(".");
        addChange(draft, member.id().executor(), member.id().key(), what);
        return draft.done();
    }

    private Finding ofRate(Groups.Member member) {
        Draft draft = begin("rate", Level.slow, member);
        Optional<Explanation> why = member.executor().explainNext(member.id().key());
        draft.text(" may start " + periods(member.stats().rate()) + ": ");
        addWait(draft, member);
        why.map(Explanation::nextStart)
                .ifPresent(next -> draft.text("; the next one starts in ").until(now + next.toMillis()));
        draft.text(".");
        addChange(draft, member.id().executor(), member.id().key(), "rate");
        return draft.done();
    }

    private static String periods(@Nullable Object rate) {
        return rate == null
                ? "as many as the global rate allows"
                : rate.toString()
                        .replaceFirst("PT(?:(\\d+)H)?(?:(\\d+)M)?(?:([\\d.]+)S)?", "$1 h $2 min $3 s")
                        .replaceAll("(?<![\\d.]) (h|min|s)\\b", "")
                        .replaceAll(" +", " ");
    }

    private Finding ofFleet(Groups.Member member) {
        Draft draft = begin("fleet-limit", Level.slow, member);
        String why = member.executor()
                .explainNext(member.id().key())
                .map(Explanation::toString)
                .orElse("waits for permits of its fleet");
        draft.text(" " + why + ": ");
        return addWait(draft, member).text(".").done();
    }

    private Finding ofSlots(Groups.Member member) {
        GroupStats stats = member.stats();
        int most = Math.min(MOST_TASKS, stats.activeCount() + 1);
        List<TaskStats> running = new ArrayList<>();
        TaskStats next = null;
        for (TaskStats task : member.executor().tasks(member.id().key(), most)) {
            if (task.isWaiting()) {
                next = next == null ? task : next;
            } else {
                running.add(task);
            }
        }
        running.sort(Comparator.comparingLong(GroupFindings::ranFor).reversed());
        for (TaskStats task : running) {
            if (task.awaits() != null
                    && task.awaits().groupKey().equals(member.id().key())) {
                return ofSelfWait(member, task);
            }
        }
        TaskStats oldest = member.state().oldest();
        int free = stats.maxConcurrency() - stats.activeCount();
        Changes.Row change = changes.latest(member.id().executor(), member.id().key(), "limit");
        if (next != null && next.slots() > 1 && free > 0) {
            return ofCost(member, next, free, running);
        }
        if (next != null && oldest != null && oldest.priority() < next.priority()) {
            return ofPriority(member, oldest, running);
        }
        boolean wasLowered = change != null && change.key() != null && now - change.at() < RECENT && isLower(change);
        long longest = running.isEmpty() ? 0 : ranFor(running.getFirst());
        boolean hangs = longest >= HANG || (longest >= LONG_WAIT && longest >= member.waitedMillis());
        Draft draft = begin(!wasLowered && hangs ? "hang" : "limit", hangs ? Level.stuck : Level.slow, member);
        draft.text(": ");
        addWait(draft, member).text(" for a slot. ");
        if (wasLowered || !hangs) {
            draft.text("Its limit is %,d".formatted(stats.maxConcurrency()));
            draft.text(hangs ? "" : ", and its tasks come faster than they end").text(".");
        }
        addChange(draft, member.id().executor(), member.id().key(), "limit");
        addRunning(draft, member, running, hangs);
        return draft.done();
    }

    private static boolean isLower(Changes.Row change) {
        try {
            return change.after() != null
                    && (change.before() == null
                            || change.before().equals("unlimited")
                            || Integer.parseInt(change.after()) < Integer.parseInt(change.before()));
        } catch (NumberFormatException unlimited) {
            return false;
        }
    }

    private Finding ofSelfWait(Groups.Member member, TaskStats task) {
        Draft draft = begin("self-wait", Level.stuck, member);
        draft.text(" waits for itself: ")
                .name(task.handle().taskId(), member.link())
                .text(" runs in it for ");
        draft.since(refs.sinceAt(task, now)).text(", and waits for ");
        draft.name(task.awaits() == null ? "" : task.awaits().taskId(), member.link());
        draft.text(", which is in the same group. ");
        addWait(draft, member).text(".");
        return draft.tasks(List.of(taskOf(member, task)), null).done();
    }

    private Finding ofCost(Groups.Member member, TaskStats next, int free, List<TaskStats> running) {
        Draft draft = begin("cost", Level.slow, member);
        draft.text(": its next task ").name(next.handle().taskId(), member.link());
        draft.text(" needs %s, and %,d %s free; "
                .formatted(counted(next.slots(), "slot"), free, free == 1 ? "is" : "are"));
        if (!running.isEmpty()) {
            TaskStats holder = running.getFirst();
            draft.name(holder.handle().taskId(), member.link());
            draft.text(" holds " + counted(holder.slots(), "slot") + ", for ").since(refs.sinceAt(holder, now));
            draft.text(". ");
        }
        addWait(draft, member).text(".");
        return draft.tasks(tasksOf(member, running), null).done();
    }

    private Finding ofPriority(Groups.Member member, TaskStats oldest, List<TaskStats> running) {
        Draft draft = begin("priority", Level.slow, member);
        draft.text(": ").name(oldest.handle().taskId(), member.link()).text(" waits with the priority ");
        draft.text("%,d for ".formatted(oldest.priority())).since(groups.oldestAt(member, now));
        boolean isShort = member.stats().queuedCount() <= LONGEST_COUNT; // counting takes the group's lock
        int before = isShort ? member.executor().explain(oldest.handle()).place() : LONGEST_COUNT;
        draft.text(
                "; %s of higher priority %s before it.".formatted(counted(before, "task"), before == 1 ? "is" : "are"));
        long overtook = groups.startsSince(member, oldest);
        if (overtook > 0) {
            draft.text(" At least %s that came later %s started."
                    .formatted(counted(overtook, "task"), overtook == 1 ? "has" : "have"));
        }
        return draft.tasks(tasksOf(member, running), null).done();
    }

    /** Says which tasks hold the slots, and where they are. */
    private void addRunning(Draft draft, Groups.Member member, List<TaskStats> running, boolean hangs) {
        if (running.isEmpty()) {
            return;
        }
        if (hangs) {
            TaskStats longest = running.getFirst();
            draft.text(" ").name(longest.handle().taskId(), member.link()).text(" has held its slot for ");
            draft.since(refs.sinceAt(longest, now));
        }
        List<List<Stacks.Read>> stacks = Stacks.merged(read(member, running));
        List<Stacks.Read> equal = stacks.isEmpty() ? List.of() : stacks.getFirst();
        if (hangs && !equal.isEmpty()) {
            Stacks.Read first = equal.getFirst();
            draft.text(equal.size() == 1 ? ", in " : "; %,d tasks are in ".formatted(equal.size()));
            draft.text(Stacks.placeOf(first.place()));
            draft.text(first.waitsForResult() ? ", and wait for results of other tasks" : "");
        }
        draft.text(hangs ? "." : "");
        draft.tasks(
                tasksOf(member, running), equal.size() > 1 ? equal.getFirst().text() : null);
    }

    private List<Stacks.Read> read(Groups.Member member, List<TaskStats> running) {
        List<Stacks.Read> stacks = new ArrayList<>();
        for (TaskStats task : running.subList(0, Math.min(MOST_STACKS, running.size()))) {
            if (task.thread() != null) {
                stacks.add(Stacks.read(taskOf(member, task), task.thread()));
            }
        }
        return stacks;
    }

    private List<Finding.Task> tasksOf(Groups.Member member, List<TaskStats> running) {
        return running.stream()
                .limit(SHOWN_TASKS)
                .map(task -> taskOf(member, task))
                .toList();
    }

    private Finding.Task taskOf(Groups.Member member, TaskStats task) {
        return new Finding.Task(
                Failures.cut(task.handle().taskId()),
                member.id().executor(),
                member.id().key(),
                member.link(),
                refs.sinceAt(task, now),
                task.slots(),
                null,
                null);
    }

    private static long ranFor(TaskStats task) {
        return task.since() == null ? 0 : task.since().toMillis();
    }

    /** Says when and by whom a limit was changed in the last hour. */
    private void addChange(Draft draft, String executor, @Nullable String key, String what) {
        Changes.Row change = changes.latest(executor, key, what);
        if (change != null && now - change.at() < RECENT) {
            draft.text(" It was changed at ").at(change.at()).text(" by " + change.by());
            draft.text(change.before() == null ? "" : ", from " + change.before());
            draft.text(change.after() == null ? "" : " to " + change.after()).text(".");
        }
    }

    // What runs, over all groups.

    /** Returns the tasks that have run for longest, those with equal stacks as one, and adds what they say. */
    List<Finding.Task> running(Consumer<Finding> findings) {
        List<Stacks.Read> stacks = new ArrayList<>();
        groups.members().stream()
                .filter(member -> member.stats().activeCount() > 0)
                .sorted(Comparator.comparingLong(Groups.Member::waitedMillis).reversed())
                .limit(MOST_BUSY)
                .map(member ->
                        Map.entry(member, member.executor().tasks(member.id().key(), 1)))
                .filter(each ->
                        !each.getValue().isEmpty() && ranFor(each.getValue().getFirst()) >= LONG_WAIT / 2)
                .sorted(Comparator.comparingLong((Map.Entry<Groups.Member, List<TaskStats>> each) ->
                                ranFor(each.getValue().getFirst()))
                        .reversed())
                .limit(MOST_RUNNING)
                .forEach(each -> {
                    Groups.Member member = each.getKey();
                    int most = Math.min(SHOWN_TASKS, member.stats().activeCount());
                    List<TaskStats> tasks = member.executor().tasks(member.id().key(), most).stream()
                            .filter(task -> !task.isWaiting())
                            .toList();
                    stacks.addAll(read(member, tasks));
                });
        List<List<Stacks.Read>> merged = Stacks.merged(stacks);
        merged.stream()
                .filter(equal -> equal.size() > 1 && equal.getFirst().waitsForLock())
                .forEach(equal -> findings.accept(ofLock(equal, stacks)));
        return merged.stream()
                .map(GroupFindings::asOne)
                .sorted(Comparator.comparingLong(
                        (Finding.Task task) -> task.sinceAt() == null ? Long.MAX_VALUE : task.sinceAt()))
                .limit(MOST_RUNNING)
                .toList();
    }

    private static Finding.Task asOne(List<Stacks.Read> equal) {
        Finding.Task task = longest(equal).task();
        Integer same = equal.size() == 1 ? null : equal.size();
        String stack = equal.getFirst().text();
        return new Finding.Task(
                task.name(), task.executor(), task.group(), task.link(), task.sinceAt(), task.slots(), same, stack);
    }

    private static Stacks.Read longest(List<Stacks.Read> equal) {
        return equal.stream()
                .min(Comparator.comparingLong(read -> read.task().sinceAt() == null
                        ? Long.MAX_VALUE
                        : read.task().sinceAt()))
                .orElseThrow();
    }

    /** Describes tasks that wait for one lock. The JVM does not say who holds it; who is inside the method may. */
    private static Finding ofLock(List<Stacks.Read> equal, List<Stacks.Read> all) {
        StackTraceElement place = equal.getFirst().place();
        Finding.Task first = longest(equal).task();
        long among = equal.stream().map(read -> read.task().link()).distinct().count();
        Draft draft = new Draft("lock", Level.slow, Stacks.placeOf(place));
        draft.text(counted(equal.size(), "task") + " of " + counted(among, "group") + " wait for a lock in ");
        draft.text(Stacks.placeOf(place) + ", ")
                .name(first.name(), first.link())
                .text(" of ");
        draft.name(first.group(), first.link())
                .text(" for ")
                .since(first.sinceAt())
                .text(".");
        if (place != null) {
            all.stream()
                    .filter(read -> !read.waitsForLock() && read.isInside(place))
                    .findFirst()
                    .map(Stacks.Read::task)
                    .ifPresent(owner -> draft.text(" ")
                            .name(owner.name(), owner.link())
                            .text(" of ")
                            .name(owner.group(), owner.link())
                            .text(" is inside the same method, for ")
                            .since(owner.sinceAt())
                            .text(", and may hold it."));
        }
        List<Finding.Task> tasks =
                equal.stream().map(Stacks.Read::task).limit(SHOWN_TASKS).toList();
        return draft.beganAt(first.sinceAt())
                .link(first.link())
                .tasks(tasks, equal.getFirst().text())
                .done();
    }
}
