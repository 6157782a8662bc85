package dev.raddle.bench;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Empty nodes, steps or tasks that are counted when they execute, and the number of them per second. */
final class EmptyNodes {

    static final String RATE = "rate";
    static final String UNIT = "/s";

    /** The number of nodes of a chain, and of the middle of a fan. */
    static final int LENGTH = 100;

    /** The number of runs at once, where it is more than one. */
    static final int RUNS = 32;

    /** The longest time of one run, after which the benchmark fails. */
    static final int PATIENCE_SECONDS = 30;

    /** Executes one run. */
    @FunctionalInterface
    interface Run {
        void execute(String id) throws Exception;
    }

    private final LongAdder executed = new LongAdder();
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private volatile boolean over;

    /** Executes one node. */
    String execute() {
        executed.increment();
        return "x";
    }

    /** Returns the number of nodes that have been executed. */
    long executed() {
        return executed.sum();
    }

    /** Returns a plan of which each node waits for the one before. */
    FlowPlan<String, String> chain() {
        FlowBuilder<String> f = FlowPlan.define("chain", String.class);
        Node<String> last = f.node("0", context -> execute());
        for (int i = 1; i < LENGTH; i++) {
            last = f.node(Integer.toString(i), last, before -> execute());
        }
        return f.returning(last);
    }

    /** Returns a plan with a first node, nodes that wait only for that one, and a last node that waits for all. */
    FlowPlan<String, String> fan() {
        FlowBuilder<String> f = FlowPlan.define("fan", String.class);
        Node<String> first = f.node("first", context -> execute());
        List<Node<String>> middle = new ArrayList<>();
        for (int i = 0; i < LENGTH; i++) {
            middle.add(f.node(Integer.toString(i), first, before -> execute()));
        }
        Node<String> last = f.node("last", context -> execute());
        middle.forEach(each -> last.needs(Dependency.order(each)));
        return f.returning(last);
    }

    /**
     * Repeats runs in threads, and notes the number of nodes per second after a warm-up. Returns when all runs have
     * ended. May be called once.
     */
    void measure(int threads, int seconds, Run run) throws Exception {
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            started.add(Thread.ofVirtual().start(() -> repeat(run)));
        }
        try {
            measure(seconds);
        } finally {
            over = true;
        }
        for (Thread thread : started) {
            thread.join();
        }
        Exception failed = failure.get();
        if (failed != null) {
            throw failed;
        }
    }

    /** Notes the number of nodes per second after a warm-up; something else executes them. */
    void measure(int seconds) {
        warmUp(seconds);
        long begin = System.nanoTime();
        long before = executed();
        Flood.sleep(1000 * seconds);
        long nodes = executed() - before;
        Measured.note(RATE, nodes * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - begin), UNIT);
    }

    /** Waits half as long as the measurement takes, and until as many nodes as one run has were executed. */
    private void warmUp(int seconds) {
        long begin = System.nanoTime();
        Flood.sleep(1000 * seconds / 2);
        while (executed() < LENGTH && failure.get() == null) {
            if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                throw new IllegalStateException(
                        "only " + executed() + " nodes were executed within " + PATIENCE_SECONDS + " s");
            }
            Flood.sleep(5);
        }
    }

    private void repeat(Run run) {
        try {
            do {
                run.execute("run-" + runs.incrementAndGet());
            } while (!over && failure.get() == null);
        } catch (Exception e) {
            failure.compareAndSet(null, e);
        }
    }

    /** Fails unless as many nodes were recorded as were executed. */
    void requireRecorded(long recorded) {
        if (recorded != executed()) {
            throw new IllegalStateException(executed() + " nodes were executed, and " + recorded + " are recorded");
        }
    }
}
