package dev.raddle.cli.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A process with all that it started, which end together. */
public final class ProcessTree {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);
    private static final Duration AFTER_KILL = Duration.ofSeconds(5);

    /** How often a process may be found replacing its program before it counts as one that hides its environment. */
    private static final int MOST_UNREADABLE = 30;

    /** How often in a row the table must show no member before there is none. */
    private static final int CLEAN_READS = 2;

    /*
     * Overview.
     *
     * A process is a member of the tree if one of these holds; each finds what others do not:
     *
     *   - it is the root, or was a member before
     *   - its parent is a member                 until the parent ends
     *   - it is in a session of the tree         also an orphan; until it calls setsid
     *   - its environment has the tree's token   also an orphan in a session of its own; unless it has cleared it
     *
     * A session is the tree's if the root was started as its leader or if its leader is a member: a process gets into a session
     * by its birth only, so all others in it are members too.
     *
     * Ending a tree has three steps: every member gets SIGTERM, every member gets time, the rest gets SIGKILL. No step rests on
     * a list of members that was complete once, because a member may start others at any time:
     *
     *   - Signals go to process groups. The kernel delivers a signal to a whole group in one step with respect to fork: a
     *     process either exists and gets it, or its parent gets it before the fork. So a shell cannot go on with its next
     *     command when its present one ends.
     *   - The table is read until it shows no member, twice in a row. Each reading signals what it finds. One reading alone could
     *     miss a child that is born at a number that has been passed, of a parent that ends before it is reached.
     *
     * A signal to a group misses a member that leaves the group (setsid, setpgid) after the table was read and before the signal
     * is sent. So a member that was signalled by its group is doubtful until the next reading. If that shows it in the same group,
     * it was there before and after the signal, and has received it. If not, it counts as one that was never signalled, and is
     * signalled in its new group. A member in a group that is not signalled as a whole is signalled by its number, which
     * misses nothing.
     *
     * A process that begins after SIGTERM, and whose parent has received that and lives, belongs to the way in which its parent
     * ends. It is left alone as long as its parent lives, at most for the grace.
     *
     * The operating system tells no process but a parent that another has ended. For grandchildren there is nothing but to
     * look again and again, so this is the one place that does; the wait ends early when kill() comes.
     */
    private final long root;
    private final long rootStart;
    private final boolean ownSession;
    private final @Nullable String token;
    private final Supplier<Collection<ProcessTable.Entry>> table;
    private final @Nullable Posix posix;
    private final Set<Id> known = new HashSet<>(); // only the thread that ends the tree
    private final Set<Id> told = new HashSet<>(); // only the thread that ends the tree; those that were sent SIGTERM
    private final Map<Id, Long> doubtful = new HashMap<>(); // only the thread that ends the tree; by this group
    private final Map<Id, Integer> unreadable = new HashMap<>(); // only the thread that ends the tree
    private final Set<Long> sessions = new HashSet<>(); // only the thread that ends the tree
    private boolean interrupted; // only the thread that ends the tree
    private final AtomicBoolean ending = new AtomicBoolean();
    private final CountDownLatch killed = new CountDownLatch(1);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** What names a process for good. */
    private record Id(long pid, long start) {
        static Id of(ProcessTable.Entry entry) {
            return new Id(entry.pid(), entry.start());
        }
    }

    /** Members in the order of signals: parents before their children. */
    private record Found(List<ProcessTable.Entry> members, boolean settled) {}

    private ProcessTree(
            long root, boolean ownSession, @Nullable String token, ProcessTable table, @Nullable Posix posix) {
        this(root, table.startOf(root), ownSession, token, table::read, posix);
    }

    private ProcessTree(
            long root,
            long rootStart,
            boolean ownSession,
            @Nullable String token,
            Supplier<Collection<ProcessTable.Entry>> table,
            @Nullable Posix posix) {
        this.root = root;
        this.rootStart = rootStart;
        this.ownSession = ownSession;
        this.token = token;
        this.table = table;
        this.posix = posix;
    }

    /** The tree of a process that was started for a task. */
    static ProcessTree of(Child child) {
        return new ProcessTree(child.pid(), child.ownSession(), child.token(), ProcessTable.YOUNGER, Posix.get());
    }

    /** The same where it is known only by what a table shows and a JDK can do. */
    static ProcessTree of(Child child, ProcessTable table) {
        return new ProcessTree(child.pid(), child.ownSession(), child.token(), table, null);
    }

    /** The same where readings of {@link ProcessTable#ALL} come from elsewhere. */
    static ProcessTree of(Child child, Supplier<Collection<ProcessTable.Entry>> readings) {
        return new ProcessTree(
                child.pid(),
                ProcessTable.ALL.startOf(child.pid()),
                child.ownSession(),
                child.token(),
                readings,
                Posix.get());
    }

    /** The tree of a process of which nothing more is known. */
    static ProcessTree of(ProcessHandle process) {
        return new ProcessTree(process.pid(), false, null, ProcessTable.ALL, Posix.get());
    }

    /** The tree of a process that runs, of another run. */
    static ProcessTree of(ProcessHandle process, String token) {
        return new ProcessTree(process.pid(), Children.isOfOwnSession(token), token, ProcessTable.ALL, Posix.get());
    }

    /** What is left of a tree of another run. */
    static ProcessTree of(String token) {
        return new ProcessTree(-1, Children.isOfOwnSession(token), token, ProcessTable.ALL, Posix.get());
    }

    /** Ends the tree and waits until it has ended. Any thread may call this; the first decides how long the grace is. */
    public void terminate(Duration grace) {
        if (ending.compareAndSet(false, true)) {
            try {
                end(grace);
            } finally {
                ended.complete(null);
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
        ended.join();
    }

    /** Runs an action when no signal is sent to the tree any more: at once, or when it has ended if that was demanded. */
    @SuppressWarnings("FutureReturnValueIgnored") // what the action does is the end of it
    void whenSettled(Runnable action) {
        if (ending.compareAndSet(false, true)) {
            ended.complete(null);
        }
        ended.whenComplete((ignored, error) -> action.run());
    }

    /** Whether it has been told to end. */
    boolean isEnding() {
        return ending.get();
    }

    /** Takes the rest of its grace from a tree that is being ended, or will be. Does not wait. */
    public void kill() {
        killed.countDown();
    }

    private void end(Duration grace) {
        if (!repeat(grace, true)) {
            repeat(AFTER_KILL, false);
        }
    }

    /**
     * Signals what it finds until there is nothing, or until a time is over.
     *
     * @param gentle whether the signal is SIGTERM, and the time may be cut short
     * @return whether there is nothing
     */
    private boolean repeat(Duration time, boolean gentle) {
        long start = System.nanoTime();
        long pause = FIRST_PAUSE.toNanos();
        int clean = 0;
        while (true) {
            Found found = find();
            if (gentle) {
                terminate(found.members);
            } else {
                signal(found.members, Posix.SIGKILL, found.members);
            }
            clean = found.members.isEmpty() && found.settled ? clean + 1 : 0;
            if (clean == CLEAN_READS) {
                return true;
            }
            long left = time.toNanos() - (System.nanoTime() - start);
            if (clean == 0 && (left <= 0 || (gentle && killed.getCount() == 0))) {
                return false;
            }
            if (clean == 0) {
                pause(Math.min(left, pause), gentle);
                pause = Math.min(2 * pause, LONGEST_PAUSE.toNanos());
            }
        }
    }

    private Found find() {
        Collection<ProcessTable.Entry> all = table.get();
        Map<Long, ProcessTable.Entry> members = new LinkedHashMap<>();
        ProcessTable.Entry leader = null;
        for (ProcessTable.Entry entry : all) {
            if (entry.pid() == root) {
                leader = entry;
            }
        }
        if (leader == null || leader.start() == rootStart) {
            if (leader != null) {
                members.put(root, leader);
            }
            if (ownSession && root > 0) {
                sessions.add(root);
            }
        } else {
            sessions.remove(root); // another process has the number now, so no member can have that session
        }
        boolean settled = addTo(members, all);
        members.values().forEach(member -> known.add(Id.of(member)));
        return new Found(new ArrayList<>(members.values()), settled);
    }

    /** Adds members until there are no more, and returns whether every process could be judged. */
    private boolean addTo(Map<Long, ProcessTable.Entry> members, Collection<ProcessTable.Entry> all) {
        boolean settled = true;
        int before;
        do {
            before = members.size();
            settled = true;
            for (ProcessTable.Entry entry : all) {
                if (members.containsKey(entry.pid())) {
                    continue;
                }
                if (isMember(entry, members)) {
                    members.put(entry.pid(), entry);
                    if (ownSession || members.containsKey(entry.session())) {
                        sessions.add(entry.session());
                    }
                } else {
                    settled &= entry.settled() || entry.start() < rootStart || isHidden(entry);
                }
            }
        } while (members.size() > before);
        return settled;
    }

    /** Whether the environment of a process has been unreadable for so long that it will stay so. */
    private boolean isHidden(ProcessTable.Entry entry) {
        return unreadable.merge(Id.of(entry), 1, Integer::sum) > MOST_UNREADABLE;
    }

    private boolean isMember(ProcessTable.Entry entry, Map<Long, ProcessTable.Entry> members) {
        return entry.pid() != ProcessHandle.current().pid()
                && (members.containsKey(entry.parent())
                        || sessions.contains(entry.session())
                        || (token != null && entry.has(token))
                        || known.contains(Id.of(entry)));
    }

    /** Sends SIGTERM to those that are to get it now. */
    private void terminate(List<ProcessTable.Entry> members) {
        Map<Long, ProcessTable.Entry> byNumber = new HashMap<>();
        members.forEach(member -> byNumber.put(member.pid(), member));
        members.forEach(this::resolveDoubt);
        Set<Id> toldBefore = new HashSet<>(told);
        List<ProcessTable.Entry> due = new ArrayList<>();
        for (ProcessTable.Entry member : members) {
            if (!isOfAnothersEnd(member, byNumber, toldBefore) && told.add(Id.of(member))) {
                due.add(member);
            }
        }
        Set<Long> groups = signal(due, Posix.SIGTERM, members);
        signal(due, Posix.SIGCONT, members); // one that is stopped could not end
        for (ProcessTable.Entry member : due) {
            if (groups.contains(member.group())) {
                doubtful.put(Id.of(member), member.group());
            }
        }
    }

    /** Decides whether the last signal to its group has reached a member: not if it has left the group. */
    private void resolveDoubt(ProcessTable.Entry member) {
        Long group = doubtful.remove(Id.of(member));
        if (group != null && group != member.group()) {
            told.remove(Id.of(member));
        }
    }

    /** Whether one from which a process descends received SIGTERM before and lives. */
    private static boolean isOfAnothersEnd(
            ProcessTable.Entry member, Map<Long, ProcessTable.Entry> byNumber, Set<Id> toldBefore) {
        ProcessTable.Entry ancestor = byNumber.get(member.parent());
        for (int i = 0;
                ancestor != null && i < byNumber.size();
                i++) { // bounded: numbers may have been reused meanwhile
            if (toldBefore.contains(Id.of(ancestor))) {
                return true;
            }
            ancestor = byNumber.get(ancestor.parent());
        }
        return false;
    }

    /**
     * Sends a signal to processes: to a whole group at once if all its members are to get it.
     *
     * @return the groups that were signalled as a whole
     */
    private Set<Long> signal(List<ProcessTable.Entry> processes, int signal, List<ProcessTable.Entry> members) {
        Set<Long> groups = new LinkedHashSet<>();
        List<ProcessTable.Entry> single = new ArrayList<>();
        Set<Long> apart = new HashSet<>();
        Set<Id> wanted = new HashSet<>();
        processes.forEach(process -> wanted.add(Id.of(process)));
        for (ProcessTable.Entry member : members) {
            if (!wanted.contains(Id.of(member)) || !sessions.contains(member.session())) {
                apart.add(member.group());
            }
        }
        for (ProcessTable.Entry process : processes) {
            if (posix == null || process.group() <= 1 || apart.contains(process.group())) {
                single.add(process);
            } else if (groups.add(process.group())) {
                posix.kill(-process.group(), signal);
            }
        }
        single.forEach(process -> signal(process, signal));
        return groups;
    }

    private void signal(ProcessTable.Entry process, int signal) {
        if (posix != null) {
            posix.kill(process.pid(), signal);
        } else if (signal == Posix.SIGTERM) {
            ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroy);
        } else if (signal == Posix.SIGKILL) {
            ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private void pause(long nanos, boolean patient) {
        try {
            if (patient) {
                killed.await(nanos, TimeUnit.NANOSECONDS);
            } else {
                TimeUnit.NANOSECONDS.sleep(nanos);
            }
        } catch (InterruptedException e) {
            interrupted = true; // set again at the end: until then it would end every pause
            killed.countDown();
        }
    }
}
