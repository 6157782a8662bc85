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
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A process and its descendants, which are ended together. */
public final class ProcessTree {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
    private static final Duration MAX_PAUSE = Duration.ofMillis(50);
    private static final Duration AFTER_KILL = Duration.ofSeconds(5);

    /** The number of readings without an environment after which a process counts as one that hides it. */
    private static final int MAX_UNREADABLE = 30;

    /** The number of consecutive readings without a member after which the tree counts as ended. */
    private static final int CLEAN_READS = 2;

    /*
     * Overview.
     *
     * A process is a member of the tree if one of these conditions holds; each finds processes that the others miss:
     *
     *     - it is the root, or was a member before
     *     - its parent is a member                 until the parent ends
     *     - it is in a session of the tree         also an orphan; until it calls setsid
     *     - its environment has the tree's token   also an orphan in a session of its own; unless it has cleared it
     *
     * A session belongs to the tree if the root was started as its leader or if its leader is a member: a process gets
     * into an existing session only at its birth, so all others in it are members too.
     *
     * Ending a tree has three steps: every member gets SIGTERM, every member gets time, the rest gets SIGKILL. No step
     * relies on a complete list of members, because a member may start others at any time:
     *
     * - Signals go to process groups. The kernel delivers a signal to a whole group atomically with respect to fork: a
     *   process either exists and gets it, or its parent gets it before the fork. So a shell cannot continue with
     *   its next command when its current one ends.
     * - The table is read until it shows no member, twice in a row. A single reading could miss a child that is started
     *   with a process id that has already been passed, by a parent that ends before its own id is reached.
     *
     * A signal to a group misses a member that leaves the group (setsid, setpgid) after the table was read and before
     * the signal is sent. So a member that was signalled by its group is doubtful until the next reading. If that shows
     * it in the same group, it was there before and after the signal, and has received it. If not, it counts as one
     * that was never signalled, and is signalled in its new group. A member in a group that is not signalled as a whole
     * is signalled by its process id, which misses nothing.
     *
     * A process that begins after SIGTERM, and whose parent has received that and lives, belongs to its parent's
     * orderly termination. It is not signalled as long as its parent lives, at most for the grace period.
     *
     * The operating system notifies only a parent of the end of a process. For grandchildren the only way is polling,
     * so this is the one place that polls; kill() ends the wait early.
     */
    private final long root;
    private final LongSupplier startOfRoot;
    private long rootStart = -1; // only the thread that ends the tree
    private final boolean ownSession;
    private final @Nullable String token;
    private final Supplier<Collection<ProcessTable.Entry>> table;
    private final @Nullable Posix posix;
    private final Set<Id> known = new HashSet<>(); // only the thread that ends the tree
    private final Set<Id> signalled = new HashSet<>(); // only the thread that ends the tree; received SIGTERM
    private final Map<Id, Long> doubtful = new HashMap<>(); // only the thread that ends the tree; by signalled group
    private final Map<Id, Integer> unreadable = new HashMap<>(); // only the thread that ends the tree
    private final Set<Long> sessions = new HashSet<>(); // only the thread that ends the tree
    private boolean interrupted; // only the thread that ends the tree
    private final AtomicBoolean ending = new AtomicBoolean();
    private final CountDownLatch killed = new CountDownLatch(1);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** Identifies a process uniquely. */
    private record Id(long pid, long start) {
        static Id of(ProcessTable.Entry entry) {
            return new Id(entry.pid(), entry.start());
        }
    }

    /** Members in the order of signals: parents before their children. */
    private record Members(List<ProcessTable.Entry> members, boolean settled) {}

    private ProcessTree(
            long root, boolean ownSession, @Nullable String token, ProcessTable table, @Nullable Posix posix) {
        this(root, known(table.startOf(root)), ownSession, token, table::read, posix);
    }

    private static LongSupplier known(long start) {
        return () -> start;
    }

    private ProcessTree(
            long root,
            LongSupplier startOfRoot,
            boolean ownSession,
            @Nullable String token,
            Supplier<Collection<ProcessTable.Entry>> table,
            @Nullable Posix posix) {
        this.root = root;
        this.startOfRoot = startOfRoot;
        this.ownSession = ownSession;
        this.token = token;
        this.table = table;
        this.posix = posix;
    }

    /** Returns the tree of a process that was started for a task. */
    static ProcessTree of(ChildProcess child) {
        return of(child, ProcessTable.YOUNGER, Posix.get());
    }

    /** Returns the tree of a process, with only a table and the functions of the JDK. */
    static ProcessTree of(ChildProcess child, ProcessTable table) {
        return of(child, table, null);
    }

    /**
     * Returns the tree of a process. The start of the process is read only when the tree is ended, if the process id
     * is not reused before: it is released when no signal follows, see {@link #whenSettled}.
     */
    private static ProcessTree of(ChildProcess child, ProcessTable table, @Nullable Posix posix) {
        LongSupplier start = child.reserved() ? () -> table.startOf(child.pid()) : known(table.startOf(child.pid()));
        return new ProcessTree(child.pid(), start, child.ownSession(), child.token(), table::read, posix);
    }

    /** Returns the tree of a process, with a source of readings instead of {@link ProcessTable#ALL}. */
    static ProcessTree of(ChildProcess child, Supplier<Collection<ProcessTable.Entry>> readings) {
        return new ProcessTree(
                child.pid(),
                known(ProcessTable.ALL.startOf(child.pid())),
                child.ownSession(),
                child.token(),
                readings,
                Posix.get());
    }

    /** Returns the tree of a process without a token. */
    static ProcessTree of(ProcessHandle process) {
        return new ProcessTree(process.pid(), false, null, ProcessTable.ALL, Posix.get());
    }

    /** Returns the tree of a running process of another run. */
    static ProcessTree of(ProcessHandle process, String token) {
        return new ProcessTree(process.pid(), ProcessStarter.leadsSession(token), token, ProcessTable.ALL, Posix.get());
    }

    /** Returns the remaining processes of a tree of another run. */
    static ProcessTree of(String token) {
        return new ProcessTree(-1, ProcessStarter.leadsSession(token), token, ProcessTable.ALL, Posix.get());
    }

    /** Ends the tree and waits until it has ended. Any thread may call this; the grace of the first call applies. */
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

    /** Runs an action when no further signal is sent to the tree: at once, or after its end if it is being ended. */
    @SuppressWarnings("FutureReturnValueIgnored") // the result of the action is not needed
    void whenSettled(Runnable action) {
        if (ending.compareAndSet(false, true)) {
            ended.complete(null);
        }
        ended.whenComplete((ignored, error) -> action.run());
    }

    /** Returns whether its end has been requested. */
    boolean isEnding() {
        return ending.get();
    }

    /** Ends the grace period of a tree that is being ended, or will be. Does not wait. */
    public void kill() {
        killed.countDown();
    }

    private void end(Duration grace) {
        rootStart = startOfRoot.getAsLong();
        if (!signalUntilGone(grace, true)) {
            signalUntilGone(AFTER_KILL, false);
        }
    }

    /**
     * Signals the members until there are none, or until a time is over.
     *
     * @param graceful whether the signal is SIGTERM, and the time may be cut short
     * @return whether there are no members
     */
    private boolean signalUntilGone(Duration time, boolean graceful) {
        long start = System.nanoTime();
        long pause = FIRST_PAUSE.toNanos();
        int clean = 0;
        while (true) {
            Members found = findMembers();
            if (graceful) {
                terminate(found.members);
            } else {
                signal(found.members, Posix.SIGKILL, found.members);
            }
            clean = found.members.isEmpty() && found.settled ? clean + 1 : 0;
            if (clean == CLEAN_READS) {
                return true;
            }
            long left = time.toNanos() - (System.nanoTime() - start);
            if (clean == 0 && (left <= 0 || (graceful && killed.getCount() == 0))) {
                return false;
            }
            if (clean == 0) {
                pause(Math.min(left, pause), graceful);
                pause = Math.min(2 * pause, MAX_PAUSE.toNanos());
            }
        }
    }

    private Members findMembers() {
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
            sessions.remove(root); // another process has the process id now, so no member can have that session
        }
        boolean settled = addTo(members, all);
        members.values().forEach(member -> known.add(Id.of(member)));
        return new Members(new ArrayList<>(members.values()), settled);
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
                    settled &= entry.settled() || entry.start() < rootStart || countUnreadable(entry);
                }
            }
        } while (members.size() > before);
        return settled;
    }

    /** Counts a reading without an environment, and returns whether there were so many that it will stay unreadable. */
    private boolean countUnreadable(ProcessTable.Entry entry) {
        return unreadable.merge(Id.of(entry), 1, Integer::sum) > MAX_UNREADABLE;
    }

    private boolean isMember(ProcessTable.Entry entry, Map<Long, ProcessTable.Entry> members) {
        return entry.pid() != ProcessHandle.current().pid()
                && (members.containsKey(entry.parent())
                        || sessions.contains(entry.session())
                        || (token != null && entry.has(token))
                        || known.contains(Id.of(entry)));
    }

    /** Sends SIGTERM to members that have not received it. */
    private void terminate(List<ProcessTable.Entry> members) {
        Map<Long, ProcessTable.Entry> byPid = new HashMap<>();
        members.forEach(member -> byPid.put(member.pid(), member));
        members.forEach(this::resolveDoubt);
        Set<Id> signalledBefore = new HashSet<>(signalled);
        List<ProcessTable.Entry> due = new ArrayList<>();
        for (ProcessTable.Entry member : members) {
            if (!hasTerminatedAncestor(member, byPid, signalledBefore) && signalled.add(Id.of(member))) {
                due.add(member);
            }
        }
        Set<Long> groups = signal(due, Posix.SIGTERM, members);
        signal(due, Posix.SIGCONT, members); // a stopped process could not end
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
            signalled.remove(Id.of(member));
        }
    }

    /** Returns whether an ancestor of the process received SIGTERM before and lives. */
    private static boolean hasTerminatedAncestor(
            ProcessTable.Entry member, Map<Long, ProcessTable.Entry> byPid, Set<Id> signalledBefore) {
        ProcessTable.Entry ancestor = byPid.get(member.parent());
        for (int i = 0; ancestor != null && i < byPid.size(); i++) { // bounded: process ids may have been reused
            if (signalledBefore.contains(Id.of(ancestor))) {
                return true;
            }
            ancestor = byPid.get(ancestor.parent());
        }
        return false;
    }

    /**
     * Sends a signal to processes: to a whole group at once if all its members are to receive it.
     *
     * @return the groups that were signalled as a whole
     */
    private Set<Long> signal(List<ProcessTable.Entry> processes, int signal, List<ProcessTable.Entry> members) {
        Set<Long> groups = new LinkedHashSet<>();
        List<ProcessTable.Entry> single = new ArrayList<>();
        Set<Long> excludedGroups = new HashSet<>();
        Set<Id> targets = new HashSet<>();
        processes.forEach(process -> targets.add(Id.of(process)));
        for (ProcessTable.Entry member : members) {
            if (!targets.contains(Id.of(member)) || !sessions.contains(member.session())) {
                excludedGroups.add(member.group());
            }
        }
        for (ProcessTable.Entry process : processes) {
            if (posix == null || process.group() <= 1 || excludedGroups.contains(process.group())) {
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

    private void pause(long nanos, boolean graceful) {
        try {
            if (graceful) {
                killed.await(nanos, TimeUnit.NANOSECONDS);
            } else {
                TimeUnit.NANOSECONDS.sleep(nanos);
            }
        } catch (InterruptedException e) {
            interrupted = true; // restored at the end: until then it would end every pause
            killed.countDown();
        }
    }
}
