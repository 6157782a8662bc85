package dev.raddle.checks;

import dev.raddle.checks.SoakTask.Kind;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;

/**
 * One of the threads that use the executor of a soak.
 *
 * <p>Before a driver waits it releases everything that other drivers could wait for: tasks that wait for it, groups
 * that it has paused. So no two drivers wait for each other, and a task that does not end in time was lost by the
 * executor.
 */
final class SoakDriver implements Runnable {

    private static final int MOST_OUTSTANDING = 96;

    private record Submitted(SoakTask task, TaskHandle<Integer> handle) {}

    private final Soak soak;
    private final GroupExecutor executor;
    private final int number;
    private final long operations;
    private final Random random;
    private final ArrayDeque<Submitted> outstanding = new ArrayDeque<>();
    private final ArrayDeque<SoakTask> waiting = new ArrayDeque<>(); // until this driver opens their latches
    private final List<SoakKey> own = new ArrayList<>(); // keys whose limits only this driver changes
    private final Set<SoakKey> paused = new HashSet<>();
    private int tasks;

    SoakDriver(Soak soak, GroupExecutor executor, int number, long operations, long seed) {
        this.soak = soak;
        this.executor = executor;
        this.number = number;
        this.operations = operations;
        this.random = new Random(seed);
        for (int i = number; i < soak.keys().size(); i += Soak.DRIVERS) {
            own.add(soak.keys().get(i));
        }
    }

    @Override
    public void run() {
        try {
            for (long performed = 0; performed < operations && !soak.isBroken(); performed++) {
                operate();
                soak.countPerformed();
                settle();
            }
        } catch (IllegalStateException shutDown) {
            if (!soak.isShuttingDown()) {
                throw shutDown;
            }
        }
        releaseAll();
        while (!outstanding.isEmpty() && !soak.isBroken()) {
            end(outstanding.poll());
        }
    }

    private void operate() {
        int dice = random.nextInt(1000);
        if (dice < 700) {
            submit();
        } else if (dice < 800) {
            complete();
        } else if (dice < 880) {
            cancel();
        } else if (dice < 895) {
            tryCall();
        } else if (dice < 900) {
            call();
        } else if (dice < 910) {
            evict(false);
        } else if (dice < 915) {
            evict(true);
        } else if (dice < 940) {
            changeLimit();
        } else if (dice < 960) {
            pause();
        } else if (dice < 990) {
            resume();
        } else {
            read();
        }
    }

    private void submit() {
        SoakKey key = anyKey();
        int cost = soak.limitsChange() || random.nextInt(8) > 0 ? 1 : 1 + random.nextInt(3);
        int priority = random.nextInt(10) == 0 ? random.nextInt(3) - 1 : 0;
        Duration timeout = random.nextInt(20) == 0 ? Duration.ofNanos(random.nextInt(2_000_000)) : null;
        SoakTask task = newTask(key, kind(), cost, priority == 0);
        String id = "task";
        outstanding.add(new Submitted(
                task,
                cost == 1 && priority == 0 && timeout == null
                        ? executor.submit(key.name, id, task)
                        : executor.submit(key.name, spec(id, task, priority, cost, timeout))));
        soak.countSubmitted();
        if (task.kind == Kind.WAITS) {
            waiting.add(task);
        }
    }

    private static <T> TaskSpec<T> spec(String id, Callable<T> task, int priority, int cost, Duration timeout) {
        TaskSpec<T> spec = TaskSpec.named(id, task).priority(priority).cost(cost);
        return timeout == null ? spec : spec.queueTimeout(timeout);
    }

    private Kind kind() {
        int dice = random.nextInt(100);
        if (dice < 60) {
            return Kind.RETURNS;
        } else if (dice < 75) {
            return Kind.YIELDS;
        } else if (dice < 92) {
            return Kind.WAITS;
        }
        return dice < 96 ? Kind.THROWS : Kind.THROWS_ERROR;
    }

    private void complete() {
        if (!waiting.isEmpty()) {
            waiting.poll().latch.countDown();
        }
    }

    private void cancel() {
        if (!outstanding.isEmpty()) {
            Submitted any = random.nextBoolean() ? outstanding.peekLast() : outstanding.peekFirst();
            any.task.cancel(any.handle, random.nextBoolean());
        }
    }

    private void tryCall() {
        SoakTask task = newTask(anyKey(), Kind.RETURNS, 1, true);
        Duration longest = Duration.ofNanos(random.nextInt(4) * 100_000L);
        callHere(task, () -> executor.tryCall(task.key.name, longest, task));
    }

    private void call() {
        releaseAll();
        SoakTask task = newTask(anyKey(), Kind.RETURNS, 1, true);
        callHere(task, () -> Optional.of(executor.call(task.key.name, task)));
    }

    private void callHere(SoakTask task, Callable<Optional<Integer>> calling) {
        String key = task.key.name;
        GroupResult<Integer> result;
        try {
            result = calling.call()
                    .map(value -> GroupResult.success(key, "call", value, 0, 0))
                    .orElseGet(() -> GroupResult.rejected(key, "call"));
        } catch (RejectedTaskException full) {
            result = GroupResult.rejected(key, "call");
        } catch (CancellationException | InterruptedException stopped) {
            result = GroupResult.cancelled(key, "call", stopped, 0, 0);
        } catch (IllegalStateException shutDown) {
            throw shutDown;
        } catch (Exception failure) {
            throw new AssertionError(failure);
        } finally {
            Thread.interrupted(); // a late interrupt of the call
        }
        soak.countSubmitted();
        soak.countEnd(task.end(result));
    }

    private void evict(boolean stop) {
        SoakKey key = soak.limitsChange() ? ownKey() : anyKey();
        Runnable action = stop ? () -> executor.shutdownGroup(key.name) : () -> executor.evictGroup(key.name);
        key.evict(stop, () -> key.bound.change(key.limit, action));
        paused.remove(key);
    }

    private void changeLimit() {
        SoakKey key = ownKey();
        if (!soak.limitsChange()) {
            executor.setWeight(key.name, 1 + random.nextInt(3));
        } else if (number == 0 && soak.hasCap() && random.nextInt(4) == 0) {
            int cap = 1 + random.nextInt(6);
            soak.cap().change(cap, () -> executor.setGlobalMaxInFlight(cap));
        } else {
            int limit = 1 + random.nextInt(5);
            key.bound.change(limit, () -> executor.setMaxConcurrency(key.name, limit));
        }
    }

    private void pause() {
        SoakKey key = ownKey();
        key.pause(() -> executor.pauseGroup(key.name));
        paused.add(key);
    }

    private void resume() {
        if (!paused.isEmpty()) {
            SoakKey key = paused.iterator().next();
            paused.remove(key);
            key.resume(() -> executor.resumeGroup(key.name));
        }
    }

    private void read() {
        executor.stats();
        executor.groupStats(anyKey().name);
        if (!outstanding.isEmpty()) {
            executor.explain(outstanding.peekLast().handle);
        }
    }

    /** Records tasks that have ended, and waits for the oldest if there are too many. */
    private void settle() {
        while (!outstanding.isEmpty() && outstanding.peek().handle.isDone()) {
            end(outstanding.poll());
        }
        if (outstanding.size() >= MOST_OUTSTANDING) {
            releaseAll();
            end(outstanding.poll());
        }
    }

    private void releaseAll() {
        while (!waiting.isEmpty()) {
            complete();
        }
        while (!paused.isEmpty()) {
            resume();
        }
    }

    private void end(Submitted submitted) {
        GroupResult<Integer> result = submitted.handle.join(soak.patience().toMillis(), TimeUnit.MILLISECONDS);
        if (!submitted.handle.isDone()) {
            soak.reportLost(submitted.task + " has not ended, " + executor.explain(submitted.handle));
            return;
        }
        soak.countEnd(submitted.task.end(result));
    }

    private SoakTask newTask(SoakKey key, Kind kind, int cost, boolean ordered) {
        int slots = Math.min(cost, Math.min(key.limit, soak.fixedCap()));
        boolean inOrder = ordered && !soak.limitsChange() && key.limit == 1;
        return new SoakTask(soak, key, kind, slots, inOrder, number, ++tasks);
    }

    private SoakKey anyKey() {
        return soak.keys().get(random.nextInt(soak.keys().size()));
    }

    private SoakKey ownKey() {
        return own.get(random.nextInt(own.size()));
    }
}
