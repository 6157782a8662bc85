package dev.raddle.flow;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/**
 * A random plan with every kind of node, and runs of it under virtual time in one thread: uninterrupted, or interrupted
 * after some of its records and continued.
 */
final class ContinuedRun {

    /** What of a run must not depend on interruptions. */
    record Result(String status, Map<String, String> nodes, List<String> undone, Map<String, Integer> calls) {}

    private final Random random;
    private final long seed;
    private final int size;
    private final TreeMap<Long, String> signals = new TreeMap<>(); // the nodes that are signalled, by moment
    private final List<String> undone = new ArrayList<>();
    private final Map<String, Integer> calls = new ConcurrentSkipListMap<>(); // of fallbacks and compensations
    private final StepperTime time = new StepperTime();
    private final MemoryJournal journal = FlowJournal.inMemory();
    final FlowPlan<Void, ?> plan;
    final RunOptions options;

    ContinuedRun(long seed) {
        this.seed = seed;
        random = new Random(seed);
        size = 2 + random.nextInt(random.nextInt(4) == 0 ? 20 : 9);
        plan = plan();
        options = RunOptions.timeout(Duration.ofNanos(length(random.nextInt(4) == 0 ? 9 : 1_000)))
                .withTimeSource(time)
                .withExceptionSink(ExceptionSink.to((source, failure) -> {}))
                .obsolete(random.nextInt(3) == 0 ? UnneededPolicy.INTERRUPT : UnneededPolicy.FINISH)
                .onFailure(random.nextInt(4) == 0 ? OnFailure.FAIL_FAST : OnFailure.CONTINUE);
    }

    // The plan.

    private FlowPlan<Void, ?> plan() {
        FlowBuilder<Void> f = FlowPlan.define("random");
        List<Node<?>> nodes = new ArrayList<>();
        for (int number = 0; number < size; number++) {
            nodes.add(node(f, "n" + number, nodes));
        }
        return random.nextInt(3) == 0 ? f.returning(nodes.get(random.nextInt(size))) : f.build();
    }

    private Node<?> node(FlowBuilder<Void> f, String id, List<Node<?>> before) {
        Node<?> node = bare(f, id);
        List<String> upstreams = new ArrayList<>();
        for (int each = random.nextInt(4); each > 0 && !before.isEmpty(); each--) {
            String upstream = before.get(random.nextInt(before.size())).id();
            if (!upstreams.contains(upstream)) {
                upstreams.add(upstream);
            }
        }
        while (!upstreams.isEmpty()) {
            int count = 1 + random.nextInt(upstreams.size());
            List<String> some = List.copyOf(upstreams.subList(0, count));
            upstreams.subList(0, count).clear();
            needs(node, some);
        }
        options(node, id);
        return node;
    }

    private void needs(Node<?> node, List<String> ids) {
        String[] all = ids.toArray(String[]::new);
        switch (random.nextInt(7)) {
            case 0 -> ids.forEach(id -> node.needs(Dependency.optional(id)));
            case 1 -> ids.forEach(id -> node.needs(Dependency.after(id)));
            case 2, 3 -> node.needs(Dependency.anyOf(all));
            case 4 -> node.needs(Dependency.atLeast(1 + random.nextInt(all.length), all));
            default -> ids.forEach(id -> node.needs(Dependency.must(id)));
        }
    }

    private Node<?> bare(FlowBuilder<Void> f, String id) {
        int kind = random.nextInt(12);
        switch (kind) {
            case 0, 1 -> {
                return f.sleep(id, Duration.ofNanos(length(9)));
            }
            case 2, 3 -> {
                if (random.nextInt(4) > 0) {
                    signals.put(length(10), id);
                }
                return f.signal(id, String.class);
            }
            case 4 -> {
                FlowBuilder<Object> inner = FlowPlan.define("inner", Object.class);
                long length = length(4);
                Node<String> x = inner.node("x", c -> act(id + "/x", c, 0, length));
                Node<String> y = inner.node("y", x, value -> value + "y");
                if (random.nextBoolean()) {
                    inner.sleep("z", Duration.ofNanos(length(3))).needs(Dependency.order(x));
                }
                return f.subflow(id, inner.returning(y), in(f, id, "in"));
            }
            case 5 -> {
                int failing = random.nextInt(6);
                long[] lengths = {length(5), length(5), length(5)};
                return f.map(id, in(f, id, List.of(0, 1, 2)), element -> {
                    work(id + "[" + element + "]", null, lengths[element]);
                    if (element == failing) {
                        throw new IllegalStateException("no element " + element);
                    }
                    return "e" + element;
                });
            }
            default -> {
                int failures = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0;
                long length = kind == 6 ? Long.MAX_VALUE : length(6);
                Node<String> node = f.node(id, (NodeContext<Void> c) -> act(id, c, failures, length));
                if (kind == 6 || random.nextInt(5) == 0) {
                    node.timeout(Duration.ofNanos(length(5)));
                }
                if (random.nextInt(4) == 0) {
                    node.retry(RetryPolicy.attempts(1 + random.nextInt(3)));
                }
                if (random.nextInt(5) == 0) {
                    node.fallback(failure -> call("fallback of " + id) + " after " + failure.getMessage());
                }
                if (random.nextInt(5) == 0) {
                    node.defaultValue("default");
                }
                return node;
            }
        }
    }

    private <T> Node<T> in(FlowBuilder<Void> f, String id, T value) {
        long length = length(2);
        return f.node(id + "in", c -> {
            work(id + "in", c, length);
            return value;
        });
    }

    private void options(Node<?> node, String id) {
        if (random.nextInt(6) == 0) {
            node.essential();
        }
        if (random.nextInt(3) == 0) {
            node.compensateWith((c, value) -> {
                call("undo " + id);
                undone.add(id + "=" + value + seen(c));
            });
        }
        int asked = random.nextInt(20);
        if (asked < 4) {
            node.when(c -> {
                boolean odd = false;
                for (int each = 0; each < size; each++) {
                    odd ^= isUpstream(c, "n" + each) && c.state("n" + each) != NodeState.SUCCESS;
                }
                return asked % 2 == 0 ^ odd;
            });
        }
        if (random.nextInt(5) == 0) {
            node.timeout(Duration.ofNanos(length(9)));
        }
    }

    private static boolean isUpstream(NodeContext<?> c, String id) {
        try {
            c.state(id);
            return true;
        } catch (IllegalArgumentException notUpstream) {
            return false;
        }
    }

    // Actions.

    /** An action in progress, in a thread of its own. */
    private static final class Working {
        private final Thread thread = Thread.currentThread();
        private final NodeContext<?> node; // null for the elements of a map
        private final long until;
        private final CountDownLatch over = new CountDownLatch(1);

        Working(NodeContext<?> node, long until) {
            this.node = node;
            this.until = until;
        }

        boolean isOver(long now) {
            return until <= now || thread.isInterrupted() || (node != null && node.isCancelled());
        }
    }

    private final List<Working> working = new CopyOnWriteArrayList<>();
    private final Semaphore quiet = new Semaphore(0); // released by a thread that begins to work or has no more steps
    private final Map<String, Long> ends = new ConcurrentHashMap<>(); // of actions, the same in all processes

    private String call(String what) {
        calls.merge(what, 1, Integer::sum);
        return what;
    }

    /** Returns a length of so many digits that no two things happen at the same moment. */
    private long length(int seconds) {
        return random.nextLong(1_000_000_000L, seconds * 1_000_000_000L);
    }

    /** Takes virtual time: an action that is called again by another process ends when it would have ended here. */
    private void work(String what, NodeContext<?> c, long length) {
        long until = length == Long.MAX_VALUE ? length : ends.computeIfAbsent(what, id -> time.nanoTime() + length);
        Working mine = new Working(c, until);
        working.add(mine);
        quiet.release();
        try {
            mine.over.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            Wait.uninterruptibly(mine.over); // the driver decides when this thread goes on
        }
    }

    private String act(String id, NodeContext<?> c, int failures, long length) {
        call(id);
        long failed = journal.entries().stream()
                .filter(entry -> entry instanceof Entry.AttemptFailed(String node, int attempt, var _, boolean isLast)
                        && node.equals(id))
                .count();
        work(id + " " + failed, c, length);
        if (failed < failures) {
            throw new IllegalStateException(id + " fails " + failures + " times");
        }
        return id.contains("/") ? id : id + seen(c);
    }

    /** Returns the states and values of upstream nodes. */
    private String seen(NodeContext<?> c) {
        StringBuilder seen = new StringBuilder();
        for (int each = 0; each < size; each++) {
            if (isUpstream(c, "n" + each)) {
                seen.append(' ').append(c.state("n" + each)).append(c.peek("n" + each));
            }
        }
        return seen.toString();
    }

    /** Runs all steps that can be made now, one after the other. */
    private void runAll(StepScheduler steps) {
        boolean progress = true;
        while (progress) {
            progress = false;
            while (steps.size() > 0) {
                Thread.startVirtualThread(() -> {
                    steps.runNext();
                    quiet.release();
                });
                quiet.acquireUninterruptibly();
                progress = true;
            }
            for (Working each : working) {
                if (each.isOver(time.nanoTime())) {
                    working.remove(each);
                    each.over.countDown();
                    quiet.acquireUninterruptibly();
                    progress = true;
                    break;
                }
            }
        }
    }

    // Runs.

    /** Runs to the end without an interruption. */
    static ContinuedRun whole(long seed) throws Exception {
        ContinuedRun run = new ContinuedRun(seed);
        run.proceed(run.journal);
        return run;
    }

    /** Runs to the end in several processes. Each but the last ends after some records. */
    static Result interrupted(long seed, int... cuts) throws Exception {
        ContinuedRun run = new ContinuedRun(seed);
        for (int cut : cuts) {
            CuttingJournal cutting = new CuttingJournal(run.journal, cut, true);
            run.proceed(cutting);
            if (run.hasEnded()) {
                return run.result();
            }
        }
        run.proceed(run.journal);
        return run.result();
    }

    private boolean hasEnded() {
        return new Recovered(journal.entries()).ended != null;
    }

    int records() {
        return entries().size();
    }

    List<Entry> entries() {
        return journal.entries();
    }

    FlowResult<?> last;

    private void proceed(FlowJournal into) throws Exception {
        StepScheduler steps = new StepScheduler();
        try (FlowRun<?> run = plan.start(null, options.withScheduler(steps).withJournal(into))) {
            while (!run.isDone()) {
                runAll(steps);
                if (!run.isDone()) {
                    advance(run);
                }
            }
            working.forEach(each -> each.over.countDown()); // what was interrupted
            quiet.acquireUninterruptibly(working.size());
            working.clear();
            runAll(steps);
            last = run.join();
        }
    }

    /** Advances to the next moment at which something happens. */
    private void advance(FlowRun<?> run) {
        long action = working.stream().mapToLong(each -> each.until).min().orElse(Long.MAX_VALUE);
        long signal = signals.isEmpty() ? Long.MAX_VALUE : signals.firstKey();
        long next = Math.min(time.next(), Math.min(action, signal));
        if (next == Long.MAX_VALUE) {
            Thread.yield(); // another thread compensates
        } else if (next == time.next()) {
            time.fireNext(next);
        } else {
            time.moveTo(next);
        }
        if (next == signal) {
            send(run, signals.get(signal));
        }
    }

    private void send(FlowRun<?> run, String node) {
        try {
            run.signal(node, "signal");
            signals.pollFirstEntry();
        } catch (FencedException interrupted) {
            if (new Recovered(journal.entries()).signals.containsKey(node)) {
                signals.pollFirstEntry();
            }
        }
    }

    List<String> undone() {
        return undone.stream().map(each -> each.substring(0, each.indexOf('='))).toList();
    }

    Result result() {
        FlowResult<?> result = Objects.requireNonNull(last);
        Map<String, String> nodes = new TreeMap<>();
        for (NodeReport<?> node : result.nodes()) {
            nodes.put(
                    node.id(),
                    node.state() + " " + node.via() + " " + node.value() + " " + node.cause() + " "
                            + result.explain(node.id()));
        }
        Map<String, Integer> once = new TreeMap<>(calls); // an action that is not recorded may be called again
        once.keySet().removeIf(call -> !call.contains(" "));
        return new Result(result.status() + " " + result.compensationFailures(), nodes, undone, once);
    }

    @Override
    public String toString() {
        return "seed " + seed + " " + plan + "\n" + journal.entries();
    }
}
