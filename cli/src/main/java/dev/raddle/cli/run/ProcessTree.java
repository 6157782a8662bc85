package dev.raddle.cli.run;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A process with all that it started, which end together. */
public final class ProcessTree {
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Optional<ProcessHandle> SELF = Optional.of(ProcessHandle.current());
    private static final Duration AFTER_KILL = Duration.ofSeconds(2);

    /*
     * Overview.
     *
     * Ending a tree has three steps: everybody gets SIGTERM, everybody gets time, who is left gets SIGKILL. Members are
     * remembered from before the first signal, because a process whose parent has died no longer shows as its descendant.
     * Parents are signalled before their children, so that a shell does not go on with its next command when the present
     * one dies.
     *
     * The operating system tells nobody but a parent that a process has ended. For grandchildren there is nothing but to
     * look again and again, so this is the one place that does; the wait ends early when kill() comes.
     */
    private final ProcessHandle root;
    private final Set<ProcessHandle> members = new LinkedHashSet<>(); // only the thread that ends the tree
    private final AtomicBoolean ending = new AtomicBoolean();
    private final CountDownLatch killed = new CountDownLatch(1);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    public ProcessTree(ProcessHandle root) {
        this.root = root;
    }

    /** Ends the tree and waits until it has ended. Any thread may call this; the first decides how long the grace is. */
    public void terminate(Duration grace) {
        if (ending.compareAndSet(false, true)) {
            try {
                end(grace);
            } finally {
                ended.complete(null);
            }
        }
        ended.join();
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
        addAndTerminate(withDescendants(Set.of(root)));
        addAndTerminate(withDescendants(members)); // those that were born while the others were signalled
        if (!awaitEnd(grace, true)) {
            members.addAll(withDescendants(members));
            members.forEach(ProcessHandle::destroyForcibly);
            awaitEnd(AFTER_KILL, false);
        }
    }

    private void addAndTerminate(Set<ProcessHandle> found) {
        for (ProcessHandle process : found) {
            if (members.add(process)) {
                process.destroy();
            }
        }
    }

    private static Set<ProcessHandle> withDescendants(Set<ProcessHandle> processes) {
        Set<ProcessHandle> found = new LinkedHashSet<>();
        for (ProcessHandle process : processes) {
            if (lives(process)) {
                found.add(process);
                process.descendants().forEach(found::add);
            }
        }
        return found;
    }

    /** Whether every member ended in time, before somebody lost patience. */
    private boolean awaitEnd(Duration time, boolean patient) {
        long start = System.nanoTime();
        while (members.stream().anyMatch(ProcessTree::lives)) {
            long left = time.toNanos() - (System.nanoTime() - start);
            if (left <= 0 || (patient && killed.getCount() == 0)) {
                return false;
            }
            pause(Math.min(left, LOOK.toNanos()), patient);
        }
        return true;
    }

    private void pause(long nanos, boolean patient) {
        try {
            if (patient) {
                killed.await(nanos, TimeUnit.NANOSECONDS);
            } else {
                TimeUnit.NANOSECONDS.sleep(nanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            killed.countDown();
        }
    }

    /**
     * Whether it can still do something. A process that has ended stays in the process table until its parent asks how;
     * where an orphan's new parent never asks, it stays for good, and shows by having no command line.
     */
    private static boolean lives(ProcessHandle process) {
        return process.isAlive()
                && (process.info().commandLine().isPresent() || process.parent().equals(SELF));
    }
}
