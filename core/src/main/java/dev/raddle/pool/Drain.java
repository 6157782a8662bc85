package dev.raddle.pool;

import dev.raddle.pool.ShutdownReport.HandedBack;
import dev.raddle.pool.ShutdownReport.Interrupted;
import dev.raddle.pool.ShutdownReport.StillRunning;
import dev.raddle.pool.Worker.Doing;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One graceful stop of a pool: waits, interrupts, waits again, and accounts for every task. */
final class Drain {

    /** A task that is about to be interrupted, with what it was made of, which it forgets when it is done. */
    private record Told(Doing doing, Object given) {}

    private final ThreadPool pool;
    private final Crew crew;
    private final TimeSource time;
    private boolean interrupted; // whether the caller was

    Drain(ThreadPool pool, Crew crew, TimeSource time) {
        this.pool = pool;
        this.crew = crew;
        this.time = time;
    }

    ShutdownReport run(Duration grace, Duration lastWait) {
        long begin = time.nanoTime();
        long completedBefore = crew.roster.account().completed();
        shutDown();
        boolean isOver = await(grace);
        long middle = time.nanoTime();
        List<Told> told = new ArrayList<>();
        List<HandedBack> left = List.of();
        if (!isOver) {
            List<Runnable> tasks = pool.stop(doing -> told.add(new Told(doing, PooledTask.given(doing.someTask()))));
            left = tasks.stream()
                    .map(task -> new HandedBack(task, PooledTask.given(task)))
                    .toList();
            pool.cancelIfWanted(tasks);
            awaitAfterStop(lastWait);
        }
        long end = time.nanoTime();
        boolean terminated;
        Roster.Account account;
        List<StillRunning> stillRunning;
        do {
            terminated = pool.isTerminated(); // before the account: then nothing runs there
            account = crew.roster.account();
            stillRunning = look(account.running(), begin, end);
        } while (stillRunning.size() < account.running().size()); // a task has ended meanwhile: no other begins
        List<Doing> running = account.running();
        List<Interrupted> ended = new ArrayList<>();
        for (Told task : told) {
            if (running.stream().noneMatch(task.doing::isSameTask)) {
                ended.add(new Interrupted(task.doing.someTask(), task.given));
            }
        }
        ShutdownReport report = new ShutdownReport(
                pool.name(),
                terminated,
                completedBefore,
                account.completed() - completedBefore - ended.size(),
                ended,
                left,
                stillRunning,
                pool.stats().removed() + crew.handedBack.sum() - left.size(),
                Duration.ofNanos(middle - begin),
                Duration.ofNanos(end - middle));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return report;
    }

    private void shutDown() {
        try {
            pool.shutdown();
        } catch (Throwable failure) {
            Reporter.report(failure); // terminated() has thrown, and the pool has ended all the same
        }
    }

    /** Waits until the pool has ended; a caller that is interrupted waits no longer for what is not interrupted itself. */
    private boolean await(Duration length) {
        try {
            return crew.terminated.await(Deadline.after(time, length));
        } catch (InterruptedException calledOff) {
            interrupted = true;
            return false;
        }
    }

    private void awaitAfterStop(Duration length) {
        Deadline deadline = Deadline.after(time, length);
        while (true) {
            try {
                crew.terminated.await(deadline);
                return;
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
    }

    /** Reads the stacks of tasks. One that has ended when its stack has been read is left out: the stack may be another's. */
    private List<StillRunning> look(List<Doing> running, long begin, long now) {
        List<StillRunning> looks = new ArrayList<>();
        for (Doing doing : running) {
            StillRunning look = stillRunning(doing, begin, now);
            if (doing.worker().inHand().isSameTask(doing)) {
                looks.add(look);
            }
        }
        return looks;
    }

    private StillRunning stillRunning(Doing doing, long begin, long now) {
        Worker worker = doing.worker();
        boolean knowsTheStart = pool.looksAtTheClock() && worker.doing().isRunning();
        return new StillRunning(
                worker.thread().getName(),
                PooledTask.given(doing.someTask()),
                Duration.ofNanos(now - (knowsTheStart ? worker.startedAt : begin)),
                List.of(worker.thread().getStackTrace()));
    }
}
