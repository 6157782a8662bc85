package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.since;

import dev.raddle.console.Finding.At;
import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Holder;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.console.Finding.Until;
import dev.raddle.console.Groups.Member;
import dev.raddle.group.Explanation;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskStats;
import dev.raddle.task.Rate;
import dev.raddle.task.WaitReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is wrong with the groups of a sample. Of one moment. */
final class GroupFindings {

    /*
     * Overview.
     *
     * A group is a finding when one of its tasks has waited for two seconds, unless only the cap keeps it waiting: then
     * its executor is. A group whose breaker is not closed is one, too, since its tasks need not wait: they are
     * rejected. Of groups the reason is that of the gate. A wait for slots of the group has one of these causes,
     * and the first that holds is said:
     *
     *   self-wait   a running task awaits one that waits in the same group
     *   cost        the next task needs more slots than are free
     *   priority    the oldest task has a lower priority than the next one
     *   limit       the limit was lowered in the last hour
     *   hang        the oldest running task has held its slots for as long as the oldest wait, or for ten seconds
     *   limit       otherwise: more tasks come than run
     *
     * Only the groups that have waited longest are looked at in this way, and of each only some tasks and a few stacks.
     */

    static final long LONG_WAIT = 2_000; // milliseconds
    private static final long HANG = 10_000;
    private static final int MOST_GROUPS = 14;
    private static final int MOST_TASKS = 1_000; // of a group
    private static final int MOST_STACKS = 20; // of a group
    private static final int SHOWN_TASKS = 5;
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

    /** The groups that wait for the cap, or the rate, of one executor: their number, and the one that waits longest. */
    private record AtCap(Member first, int count) {
        AtCap plus(AtCap other) {
            boolean isFirst = first.waitedMillis() >= other.first.waitedMillis();
            return new AtCap(isFirst ? first : other.first, count + other.count);
        }
    }

    void addTo(Findings found) {
        Largest<Member> late = new Largest<>(MOST_GROUPS, Groups.SHORTEST_WAIT_FIRST);
        Map<String, AtCap> atCap = new LinkedHashMap<>();
        int all = 0;
        for (Member member : groups.members()) {
            boolean isStopped = member.stats().paused() && member.stats().queuedCount() > 0;
            if (member.waitedMillis() < LONG_WAIT && !isStopped && !member.isTripped()) {
                continue;
            }
            WaitReason reason =
                    member.isTripped() ? WaitReason.BREAKER : member.state().waitingFor();
            if (reason == WaitReason.GLOBAL_CAP || reason == WaitReason.GLOBAL_RATE) {
                atCap.merge(member.id().executor(), new AtCap(member, 1), AtCap::plus);
            } else {
                late.add(member);
                all++;
            }
        }
        atCap.values().forEach(waiting -> found.add(ofCap(waiting.first, waiting.count)));
        late.descending().forEach(member -> found.add(ofGroup(member)));
        found.addLesser(Math.max(0, all - MOST_GROUPS));
    }

    // The cap.

    private Finding ofCap(Member first, int waiting) {
        String executor = first.id().executor();
        boolean isRate = first.state().waitingFor() == WaitReason.GLOBAL_RATE;
        List<Holder> holders = isRate ? List.of() : groups.holders(executor);
        Holder largest = holders.isEmpty() ? null : holders.getFirst();
        int weight = first.state().weight();
        boolean isUneven = largest != null
                && largest.groups() == null
                && largest.share() >= MOST_OF_CAP
                && largest.weight() > weight;
        String kind = isRate ? "global-rate" : isUneven ? "weights" : "cap";
        Long since = groups.oldestAt(first, now);
        Draft draft = new Draft(kind, Level.slow, executor, since, first.link());
        Object itsName = name(executor, Link.to("groups"));
        if (isRate) {
            draft.say("The global rate of {} is used up: ", itsName);
        } else {
            Groups.ExecutorRow row = groups.executorRows().get(executor);
            Integer cap = row == null ? null : row.cap();
            int taken = row == null ? 0 : row.running();
            draft.say("The cap of {} is full, with {} of {} slots taken: ", itsName, taken, cap == null ? 0 : cap);
        }
        String wait = counted(waiting, "group waits", "groups wait");
        draft.say("{} for it, {} for {}.", wait, first.nameAndLink(), since(since));
        for (Holder holder : holders.subList(0, Math.min(2, holders.size()))) {
            String share = "%s (%,.0f %%)".formatted(counted(holder.slots(), "slot"), 100 * holder.share());
            Object itsKey = name(holder.name(), holder.link());
            if (holder.groups() != null) {
                draft.say(" {} groups like {} hold {}.", holder.groups(), itsKey, share);
            } else if (isUneven) {
                draft.say(" {} holds {}, with the weight {}.", itsKey, share, holder.weight());
            } else {
                draft.say(" {} holds {}.", itsKey, share);
            }
        }
        if (isUneven) {
            draft.say(" The weight of {} is {}.", first.nameAndLink(), weight);
        }
        addChange(draft, executor, null, isUneven ? "weight" : "limit");
        return draft.holders(holders).done();
    }

    // One group.

    private Finding ofGroup(Member member) {
        GroupStats.Breaker breaker = member.stats().breaker();
        if (breaker != null && member.isTripped()) {
            return ofBreaker(member, breaker);
        }
        return switch (member.state().waitingFor()) {
            case PAUSED -> {
                Draft draft = begin("paused", Level.stuck, member).say(" is paused: ");
                yield withChange(addWait(draft, member), member, "pause");
            }
            case HOLD -> {
                Duration left = member.stats().holdLeft();
                Until end = new Until(now + (left == null ? 0 : left.toMillis()));
                Draft draft = begin("hold", Level.slow, member).say(" is on hold for another {}: ", end);
                yield withChange(addWait(draft, member), member, "hold");
            }
            case GROUP_RATE, GLOBAL_RATE -> ofRate(member);
            case FLEET_LIMIT -> {
                String why = explained(member).map(Explanation::toString).orElse("waits for permits of its fleet");
                Draft draft = begin("fleet-limit", Level.slow, member).say(" {}: ", why);
                yield addWait(draft, member).say(".").done();
            }
            case GROUP_LIMIT, BULKHEAD, GLOBAL_CAP, BREAKER, NOTHING -> ofSlots(member);
        };
    }

    private Finding ofBreaker(Member member, GroupStats.Breaker breaker) {
        Draft draft = begin("breaker", Level.slow, member).say(": its breaker is {}", breaker.toString());
        if (breaker.nextProbe() != null) {
            Until probe = new Until(now + breaker.nextProbe().toMillis());
            draft.say("; the next probe may start in {}", probe);
        }
        if (member.stats().queuedCount() > 0) {
            addWait(draft.say("; "), member);
        }
        return withChange(draft, member, "breaker");
    }

    private Draft begin(String kind, Level level, Member member) {
        String id = member.id().toString();
        return new Draft(kind, level, id, groups.oldestAt(member, now), member.link())
                .say("Group {} of {}", member.nameAndLink(), member.id().executor());
    }

    private static Optional<Explanation> explained(Member member) {
        return member.executor().explainNext(member.id().key());
    }

    /** Says how many tasks wait, and since when the oldest one does. */
    private Draft addWait(Draft draft, Member member) {
        int waiting = member.stats().queuedCount();
        String text = waiting == 1 ? "{}, for {}" : "{}, the oldest for {}";
        return draft.say(text, counted(waiting, "task waits", "tasks wait"), since(groups.oldestAt(member, now)));
    }

    private Finding withChange(Draft draft, Member member, String what) {
        addChange(draft.say("."), member.id().executor(), member.id().key(), what);
        return draft.done();
    }

    private Finding ofRate(Member member) {
        Draft draft = begin("rate", Level.slow, member)
                .say(" may start {}: ", periods(member.stats().rate()));
        addWait(draft, member);
        explained(member)
                .map(Explanation::nextStart)
                .ifPresent(next -> draft.say("; the next one starts in {}", new Until(now + next.toMillis())));
        return withChange(draft, member, "rate");
    }

    private static String periods(@Nullable Rate rate) {
        return rate == null
                ? "as many as the global rate allows"
                : rate.toString()
                        .replaceFirst("PT(?:(\\d+)H)?(?:(\\d+)M)?(?:([\\d.]+)S)?", "$1 h $2 min $3 s")
                        .replaceAll("(?<![\\d.]) (h|min|s)\\b", "")
                        .replaceAll(" +", " ");
    }

    private Finding ofSlots(Member member) {
        GroupStats stats = member.stats();
        int most = Math.min(MOST_TASKS, stats.activeCount() + 1);
        List<TaskStats> running = new ArrayList<>();
        TaskStats next = null;
        for (TaskStats task : member.executor().tasks(member.id().key(), most)) {
            if (!task.isWaiting()) {
                running.add(task);
            } else if (next == null) {
                next = task;
            }
        }
        running.sort(Comparator.comparingLong(GroupFindings::ranFor).reversed());
        for (TaskStats task : running) {
            if (task.awaits() != null
                    && task.awaits().groupKey().equals(member.id().key())) {
                return ofSelfWait(member, task, task.awaits().taskId());
            }
        }
        TaskStats oldest = member.state().oldest();
        int free = stats.maxConcurrency() - stats.activeCount();
        if (next != null && next.slots() > 1 && free > 0) {
            return ofCost(member, next, free, running);
        }
        return next != null && oldest != null && oldest.priority() < next.priority()
                ? ofPriority(member, oldest, running)
                : ofLimit(member, running);
    }

    private Finding ofLimit(Member member, List<TaskStats> running) {
        Changes.Row change = changes.latest(member.id().executor(), member.id().key(), "limit");
        boolean wasLowered = change != null && change.key() != null && change.isRecent(now) && isLower(change);
        long longest = running.isEmpty() ? 0 : ranFor(running.getFirst());
        boolean hangs = longest >= HANG || (longest >= LONG_WAIT && longest >= member.waitedMillis());
        Draft draft = begin(!wasLowered && hangs ? "hang" : "limit", hangs ? Level.stuck : Level.slow, member);
        addWait(draft.say(": "), member).say(" for a slot.");
        if (wasLowered || !hangs) {
            String faster = hangs ? "." : ", and its tasks come faster than they end.";
            draft.say(" Its limit is {}{}", member.stats().maxConcurrency(), faster);
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

    private Finding ofSelfWait(Member member, TaskStats task, String awaited) {
        Draft draft = begin("self-wait", Level.stuck, member);
        draft.say(" waits for itself: {} runs in it for {}", nameOf(member, task), since(refs.sinceAt(task, now)));
        draft.say(", and waits for {}, which is in the same group. ", name(awaited, member.link()));
        return addWait(draft, member)
                .say(".")
                .tasks(tasksOf(member, List.of(task)), null)
                .done();
    }

    private Finding ofCost(Member member, TaskStats next, int free, List<TaskStats> running) {
        Draft draft = begin("cost", Level.slow, member).say(": its next task {} needs ", nameOf(member, next));
        draft.say("{}, and {} free; ", counted(next.slots(), "slot"), counted(free, "is", "are"));
        if (!running.isEmpty()) {
            TaskStats holder = running.getFirst();
            String slots = counted(holder.slots(), "slot");
            draft.say("{} holds {}, for {}. ", nameOf(member, holder), slots, since(refs.sinceAt(holder, now)));
        }
        return addWait(draft, member)
                .say(".")
                .tasks(tasksOf(member, running), null)
                .done();
    }

    private Finding ofPriority(Member member, TaskStats oldest, List<TaskStats> running) {
        Draft draft = begin("priority", Level.slow, member);
        Object waited = since(groups.oldestAt(member, now));
        draft.say(": {} waits with the priority {} for {}; ", nameOf(member, oldest), oldest.priority(), waited);
        boolean isShort = member.stats().queuedCount() <= LONGEST_COUNT; // counting takes the group's lock
        int before = isShort ? member.executor().explain(oldest.handle()).place() : LONGEST_COUNT;
        draft.say("{} before it.", counted(before, "task of higher priority is", "tasks of higher priority are"));
        long overtook = groups.startsSince(member, oldest);
        if (overtook > 0) {
            draft.say(
                    " At least {} started.",
                    counted(overtook, "task that came later has", "tasks that came later have"));
        }
        return draft.tasks(tasksOf(member, running), null).done();
    }

    /** Says which tasks hold the slots, and where they are. */
    private void addRunning(Draft draft, Member member, List<TaskStats> running, boolean hangs) {
        Map<Stack, Integer> stacks = new HashMap<>();
        for (TaskStats task : running.subList(0, Math.min(MOST_STACKS, running.size()))) {
            if (task.thread() != null) {
                stacks.merge(Stack.of(task.thread()), 1, Integer::sum);
            }
        }
        Map.Entry<Stack, Integer> most =
                stacks.entrySet().stream().max(Map.Entry.comparingByValue()).orElse(null);
        if (hangs && !running.isEmpty()) {
            TaskStats longest = running.getFirst();
            draft.say(" {} has held its slot for {}", nameOf(member, longest), since(refs.sinceAt(longest, now)));
            if (most != null) {
                draft.say(most.getValue() == 1 ? ", in " : "; {} tasks are in ", most.getValue());
                String results = most.getKey().waitsForResult() ? ", and wait for results of other tasks" : "";
                draft.say("{}{}", most.getKey().placeText(), results);
            }
            draft.say(".");
        }
        String shared =
                most == null || most.getValue() == 1 ? null : most.getKey().text();
        draft.tasks(tasksOf(member, running), shared);
    }

    private static Object nameOf(Member member, TaskStats task) {
        return name(task.handle().taskId(), member.link());
    }

    private List<Finding.Task> tasksOf(Member member, List<TaskStats> running) {
        return running.stream()
                .limit(SHOWN_TASKS)
                .map(task -> refs.rowOf(task, member.id(), now))
                .toList();
    }

    private static long ranFor(TaskStats task) {
        return task.since() == null ? 0 : task.since().toMillis();
    }

    /** Says when and by whom a limit was changed in the last hour. */
    private void addChange(Draft draft, String executor, @Nullable String key, String what) {
        Changes.Row change = changes.latest(executor, key, what);
        if (change != null && change.isRecent(now)) {
            String from = change.before() == null ? "" : ", from " + change.before();
            String to = change.after() == null ? "" : " to " + change.after();
            draft.say(" It was changed at {} by {}.", new At(change.at()), change.by() + from + to);
        }
    }
}
