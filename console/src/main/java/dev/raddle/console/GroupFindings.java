package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.numeral;
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
import java.util.Objects;
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
     *   limit       the limit was lowered in the last hour; the finding begins with that
     *   hang        the oldest running task has held its slots for as long as the oldest wait, or for ten seconds
     *   limit       otherwise: more tasks come than run
     *
     * Only the groups that have waited longest are looked at in this way, and of each only some tasks and a few stacks.
     */

    static final long LONG_WAIT = 2_000; // milliseconds
    private static final long HANG = 10_000;
    private static final int MOST_GROUPS = 14;
    private static final int MOST_AT_CAP = 50;
    private static final int MOST_TASKS = 1_000; // of a group
    private static final int MOST_STACKS = 20; // of a group
    private static final int SHOWN_TASKS = 5;
    private static final int SHOWN_HOLDERS = 3;
    private static final double MOST_OF_CAP = 0.6; // the share of one group that is told
    private static final int LONGEST_COUNT = 10_000;
    private static final Map<String, String> STOPS = Map.of("pause", "paused", "hold", "put on hold");
    private static final String UNLIMITED = Groups.limitText(Integer.MAX_VALUE);

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

    /** The groups that wait for the cap, or the rate, of one executor. */
    private static final class AtCap {
        private final Largest<Member> longest = new Largest<>(MOST_AT_CAP, Groups.SHORTEST_WAIT_FIRST);
        private Member lightest; // one of the least weight
        private int count;

        AtCap(Member member) {
            lightest = member;
        }

        void add(Member member) {
            longest.add(member);
            count++;
            if (member.state().weight() < lightest.state().weight()) {
                lightest = member;
            }
        }

        /** Returns the group that has waited longest, preferably not the largest holder or one of its class. */
        Member first(@Nullable Holder largest) {
            List<Member> members = longest.descending();
            return members.stream()
                    .filter(member -> largest == null || !CapHolders.contains(largest, member))
                    .findFirst()
                    .orElse(members.getFirst());
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
                atCap.computeIfAbsent(member.id().executor(), _ -> new AtCap(member))
                        .add(member);
            } else {
                late.add(member);
                all++;
            }
        }
        atCap.forEach((executor, waiting) -> found.add(ofCap(executor, waiting)));
        late.descending().forEach(member -> found.add(ofGroup(member)));
        found.addLesser(Math.max(0, all - MOST_GROUPS));
    }

    // The cap.

    private Finding ofCap(String executor, AtCap waiting) {
        Member lightest = waiting.lightest;
        boolean isRate = waiting.first(null).state().waitingFor() == WaitReason.GLOBAL_RATE;
        List<Holder> holders = isRate ? List.of() : groups.holders(executor);
        Holder largest = holders.isEmpty() ? null : holders.getFirst();
        Member first = waiting.first(largest);
        int weight = lightest.state().weight();
        Link heavy = largest != null && largest.share() >= MOST_OF_CAP && largest.weight() > weight
                ? largest.link() // none of a class of groups
                : null;
        String kind = isRate ? "global-rate" : heavy != null ? "weights" : "cap";
        Long since = groups.oldestAt(first, now);
        Object itsName = name(executor, Link.to("groups"));
        String heavyKey = heavy == null ? null : heavy.params().get("key");
        Changes.Row cause = isRate ? null : cause(executor, heavyKey, heavyKey != null ? "weight" : "limit");
        Draft draft = new Draft(kind, Level.slow, executor, begun(cause, since), first.link());
        if (isRate) {
            draft.say("The global rate of {} is used up: ", itsName);
        } else if (cause != null) {
            Draft begun = heavyKey == null
                    ? draft.say("The cap of {}", itsName)
                    : draft.say("The weight of {} at the cap of {}", name(heavyKey, heavy), itsName);
            addCause(begun, cause, since);
        } else {
            Groups.ExecutorRow row = groups.executorRows().get(executor);
            Integer cap = row == null ? null : row.cap();
            int taken = row == null ? 0 : row.running();
            draft.say("The cap of {} is full, with {} of {} slots taken: ", itsName, taken, cap == null ? 0 : cap);
        }
        String wait = counted(waiting.count, "group waits", "groups wait");
        draft.say("{} for it, {} for {}.", wait, first.nameAndLink(), since(since));
        for (Holder holder : holders.subList(0, Math.min(SHOWN_HOLDERS, holders.size()))) {
            String share = counted(holder.slots(), "slot") + " (" + Math.round(100 * holder.share()) + " %)";
            Integer similar = holder.groups();
            String holds = similar == null ? " {} holds {}{}." : " " + numeral(similar) + " groups like {} hold {}{}.";
            String itsWeight = heavy == null ? "" : ", with the weight " + numeral(holder.weight());
            draft.say(holds, name(holder.name(), holder.link()), share, itsWeight);
        }
        if (heavy != null) {
            draft.say(" The weight of {} is {}.", lightest.nameAndLink(), weight);
        }
        return (isRate ? draft : addHolders(draft, new Running(groups, refs).of(executor, now))).done();
    }

    /** Says how old the oldest holder of a cap is, and the youngest: while tasks wait, nothing has started since. */
    private Draft addHolders(Draft draft, List<Finding.Task> running) {
        Long last = running.isEmpty() ? null : running.getLast().sinceAt();
        if (last == null) {
            return draft;
        }
        Finding.Task oldest = running.getFirst();
        draft.say(" {} of {}", name(oldest.name(), oldest.link()), name(oldest.key(), oldest.link()));
        draft.say(" has held its slot for {}", since(oldest.sinceAt()));
        boolean isBusy = now - last < LONG_WAIT || running.size() == Running.MOST_READ_FOR_FINDINGS;
        return draft.say(isBusy ? "." : "; nothing has started for {}.", since(last));
    }

    // One group.

    private Finding ofGroup(Member member) {
        GroupStats.Breaker breaker = member.stats().breaker();
        if (breaker != null && member.isTripped()) {
            return ofBreaker(member, breaker);
        }
        return switch (member.state().waitingFor()) {
            case PAUSED -> {
                Draft draft = begin("paused", Level.stuck, member, cause(member, "pause"), " is paused: ");
                yield addWait(draft, member).say(".").done();
            }
            case HOLD -> {
                Duration left = member.stats().holdLeft();
                Until end = new Until(now + (left == null ? 0 : left.toMillis()));
                Draft draft = begin("hold", Level.slow, member, cause(member, "hold"), " is on hold: ");
                yield addWait(draft, member).say(". The hold ends in {}.", end).done();
            }
            case GROUP_RATE, GLOBAL_RATE -> ofRate(member);
            case FLEET_LIMIT -> {
                String why = explained(member).map(Explanation::toString).orElse("waits for permits of its fleet");
                Draft draft = begin("fleet-limit", Level.slow, member, null, " {}: ", why);
                yield addWait(draft, member).say(".").done();
            }
            case GROUP_LIMIT, BULKHEAD, GLOBAL_CAP, BREAKER, NOTHING -> ofSlots(member);
        };
    }

    private Finding ofBreaker(Member member, GroupStats.Breaker breaker) {
        Draft draft = begin("breaker", Level.slow, member, null, ": its breaker is {}", breaker.toString());
        if (breaker.nextProbe() != null) {
            Until probe = new Until(now + breaker.nextProbe().toMillis());
            draft.say("; the next probe may start in {}", probe);
        }
        if (member.stats().queuedCount() > 0) {
            addWait(draft.say("; "), member);
        }
        Changes.Row change = cause(member, "breaker");
        return (change == null ? draft : addChange(draft.say(". It"), change))
                .say(".")
                .done();
    }

    /** Begins with the change that is the cause; without one, with what holds now. */
    private Draft begin(
            String kind, Level level, Member member, Changes.@Nullable Row cause, String otherwise, Object... parts) {
        Long since = groups.oldestAt(member, now);
        Draft draft = new Draft(kind, level, member.id().toString(), begun(cause, since), member.link());
        if (cause == null) {
            return draft.say("Group {} of {}", member.nameAndLink(), member.id().executor())
                    .say(otherwise, parts);
        }
        String subject = STOPS.containsKey(cause.what()) ? "Group" : "The " + cause.what() + " of";
        return addCause(
                draft.say(
                        subject + " {} of {}", member.nameAndLink(), member.id().executor()),
                cause,
                since);
    }

    /** Returns since when something is wrong: since its cause, if that is earlier than the oldest wait. */
    private static @Nullable Long begun(Changes.@Nullable Row cause, @Nullable Long since) {
        return cause != null && (since == null || cause.at() < since) ? Long.valueOf(cause.at()) : since;
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

    private Finding ofRate(Member member) {
        Rate rate = member.stats().rate();
        String starts = rate == null ? "as many as the global rate allows" : periods(rate.toString());
        Draft draft = begin("rate", Level.slow, member, cause(member, "rate"), " may start {}: ", starts);
        addWait(draft, member);
        explained(member)
                .map(Explanation::nextStart)
                .ifPresent(next -> draft.say("; the next one starts in {}", new Until(now + next.toMillis())));
        return draft.say(".").done();
    }

    private static String periods(String rates) {
        return rates.replaceAll("PT(?=\\d)", "")
                .replaceAll("(?<=\\d)H", " h ")
                .replaceAll("(?<=\\d)M", " min ")
                .replaceAll("(?<=\\d)S", " s")
                .replaceAll(" (?=[ ,]|$)", "");
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
                return ofSelfWait(member, task, task.awaits().taskId(), running);
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
        Changes.Row cause = cause(member, "limit");
        boolean hangs = hangs(member, running);
        String kind = cause == null && hangs ? "hang" : "limit";
        Draft draft = begin(kind, hangs ? Level.stuck : Level.slow, member, cause, ": ");
        addWait(draft, member).say(" for a slot.");
        if (cause == null && !hangs) {
            String faster = groups.waitsGrow(member) ? ", and its tasks come faster than they end" : "";
            draft.say(" Its limit is {}{}.", member.stats().maxConcurrency(), faster);
        }
        addRunning(draft, member, running, hangs);
        return draft.done();
    }

    /** Returns whether the oldest running task has held its slots for longer than can be usual. */
    private static boolean hangs(Member member, List<TaskStats> running) {
        long longest = running.isEmpty() ? 0 : ranFor(running.getFirst());
        return longest >= HANG || (longest >= LONG_WAIT && longest >= member.waitedMillis());
    }

    private Finding ofSelfWait(Member member, TaskStats task, String awaited, List<TaskStats> running) {
        String text = " waits for itself: {} runs in it for {}";
        Object runs = since(refs.sinceAt(task, now));
        Draft draft = begin("self-wait", Level.stuck, member, null, text, nameOf(member, task), runs);
        draft.say(", and waits for {}, which is in the same group. ", name(awaited, member.link()));
        addWait(draft, member).say(".");
        for (TaskStats other : running.subList(0, Math.min(SHOWN_HOLDERS, running.size()))) {
            if (other != task) {
                draft.say(" {} holds {}", nameOf(member, other), counted(other.slots(), "slot"));
                draft.say(", for {}.", since(refs.sinceAt(other, now)));
            }
        }
        return draft.tasks(tasksOf(member, running), null).done();
    }

    private Finding ofCost(Member member, TaskStats next, int free, List<TaskStats> running) {
        String text = ": its next task {} needs ";
        Draft draft = begin("cost", Level.slow, member, null, text, nameOf(member, next));
        draft.say("{}, and {} free; ", counted(next.slots(), "slot"), counted(free, "is", "are"));
        if (!running.isEmpty()) {
            TaskStats holder = running.getFirst();
            String slots = counted(holder.slots(), "slot");
            draft.say("{} holds {}, for {}. ", nameOf(member, holder), slots, since(refs.sinceAt(holder, now)));
        }
        addWait(draft, member).say(".");
        return draft.tasks(tasksOf(member, running), null).done();
    }

    private Finding ofPriority(Member member, TaskStats oldest, List<TaskStats> running) {
        Draft draft = begin("priority", Level.slow, member, null, ": ");
        Object waited = since(groups.oldestAt(member, now));
        draft.say("{} waits with the priority {} for {}; ", nameOf(member, oldest), oldest.priority(), waited);
        boolean isShort = member.stats().queuedCount() <= LONGEST_COUNT; // counting takes the group's lock
        int before = isShort ? member.executor().explain(oldest.handle()).place() : LONGEST_COUNT;
        draft.say("{} before it.", counted(before, "task of higher priority is", "tasks of higher priority are"));
        long overtook = groups.startsSince(member, oldest);
        if (overtook > 0) {
            String later = counted(overtook, "task that came later has", "tasks that came later have");
            draft.say(" At least {} started.", later);
        }
        addRunning(draft, member, running, hangs(member, running));
        return draft.done();
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

    // Changes.

    private Changes.@Nullable Row cause(Member member, String what) {
        return cause(member.id().executor(), member.id().key(), what);
    }

    /** Returns the change of the last hour for which tasks wait, or null: not a limit that was raised. */
    private Changes.@Nullable Row cause(String executor, @Nullable String key, String what) {
        Changes.Row change = changes.latest(executor, key, what);
        return change != null && change.isRecent(now) && isRaised(change) == what.equals("weight") ? change : null;
    }

    private static boolean isRaised(Changes.Row change) {
        try {
            return !Objects.equals(change.before(), UNLIMITED)
                    && (Objects.equals(change.after(), UNLIMITED)
                            || Integer.parseInt(change.after()) > Integer.parseInt(change.before()));
        } catch (NumberFormatException notNumbers) {
            return false;
        }
    }

    /** Says how something was changed, by whom, and when. */
    private static Draft addChange(Draft draft, Changes.Row change) {
        String from = change.before() == null ? "" : " from " + change.before();
        String to = change.after() == null ? "" : " to " + change.after();
        String how = STOPS.getOrDefault(change.what(), "changed" + periods(from + to));
        return draft.say(" was {} by {} at {}", how, change.by(), new At(change.at()));
    }

    /** Begins a sentence with its cause, and says of what follows that it has been so since then, if it has. */
    private static Draft addCause(Draft draft, Changes.Row cause, @Nullable Long since) {
        return addChange(draft, cause).say(since != null && since >= cause.at() ? "; since then " : "; now ");
    }
}
