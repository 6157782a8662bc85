package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs one case repeatedly, and stops at the first repetition that fails. */
final class CasePlayer {

    private static final long LATE_EVENTS_MS = 100; // how long the format waits for events after a run
    private static final int MOST_WAITING = 256; // repetitions that are checked together
    private static final int MOST_NODES = 200_000; // of these repetitions

    private final FlowCase flowCase;
    private final Options options;
    private final Map<String, Set<String>> upstreams;
    private final List<Repetition> waiting = new ArrayList<>();
    private List<String> threads = List.of();
    private int played;
    private ThreadPoolExecutor pool;

    CasePlayer(FlowCase flowCase, Options options) {
        this.flowCase = flowCase;
        this.options = options;
        upstreams = RunProbe.upstreams(flowCase);
    }

    /** Returns the complaints; empty if the case passes. */
    List<String> play() throws InterruptedException {
        if (flowCase.expect().buildError() != null) {
            return refusal();
        }
        CasePlan[] plans = new CasePlan[2];
        try {
            plans[0] = new CasePlan(flowCase, true);
            plans[1] = new CasePlan(flowCase, false);
        } catch (IllegalArgumentException refused) {
            return List.of("the plan was expected to be valid, was refused: " + refused.getMessage());
        }
        int threads = options.threads(flowCase);
        if (threads > 0) {
            AtomicInteger numbers = new AtomicInteger();
            pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(
                    threads,
                    task -> Thread.ofPlatform()
                            .name("iso-" + numbers.incrementAndGet())
                            .daemon()
                            .unstarted(task));
        }
        try {
            return repeat(plans);
        } finally {
            if (pool != null) {
                pool.shutdownNow();
            }
        }
    }

    private List<String> repeat(CasePlan[] plans) throws InterruptedException {
        boolean cancels =
                flowCase.script().stream().anyMatch(step -> step.then().equals(ScriptStep.CANCEL));
        long begin = System.nanoTime();
        while (options.needsMore(flowCase, played, System.nanoTime() - begin)) {
            // Alternates between handles and ids, and between start with join and run in one call.
            CasePlan plan = plans[played % 2];
            boolean started = cancels || played / 2 % 2 == 0;
            Repetition repetition = new Repetition(flowCase, plan, upstreams, pool, started, options.patienceSeconds());
            played++;
            repetition.play();
            waiting.add(repetition);
            if (!repetition.threads().isEmpty()) {
                threads = repetition.threads();
            }
            boolean failed = !repetition.monitor.complaints().isEmpty();
            if (failed
                    || waiting.size()
                            >= Math.min(
                                    MOST_WAITING, MOST_NODES / (flowCase.nodes().size() + 1) + 1)) {
                List<String> complaints = judge();
                if (!complaints.isEmpty()) {
                    return complaints;
                }
            }
        }
        List<String> complaints = judge();
        return complaints.isEmpty() ? blockedThreads() : complaints;
    }

    private List<String> judge() throws InterruptedException {
        if (waiting.isEmpty()) {
            return List.of();
        }
        TimeUnit.MILLISECONDS.sleep(LATE_EVENTS_MS);
        int number = played - waiting.size();
        for (Repetition repetition : waiting) {
            number++;
            List<String> complaints = Judge.judge(repetition);
            if (!complaints.isEmpty()) {
                List<String> numbered = new ArrayList<>(complaints);
                numbered.add("(repetition " + number + ")");
                return numbered;
            }
        }
        waiting.clear();
        return List.of();
    }

    /** Checks that no thread is inside the engine once all actions have returned. */
    private List<String> blockedThreads() throws InterruptedException {
        List<String> blocked = EngineThreads.inside();
        for (int attempts = 10; attempts > 0 && !blocked.isEmpty(); attempts--) {
            TimeUnit.MILLISECONDS.sleep(LATE_EVENTS_MS);
            blocked = EngineThreads.inside();
        }
        if (!blocked.isEmpty()) {
            threads = blocked;
            return List.of("no engine thread may be left once all actions have returned, was " + blocked.size());
        }
        if (pool != null && pool.getActiveCount() + pool.getQueue().size() > 0) {
            return List.of("the pool must be idle once all actions have returned, had " + pool.getActiveCount()
                    + " busy threads and " + pool.getQueue().size() + " waiting tasks");
        }
        return List.of();
    }

    private List<String> refusal() {
        List<String> complaints = new ArrayList<>();
        for (boolean handles : new boolean[] {true, false}) {
            try {
                new CasePlan(flowCase, handles);
                complaints.add("the plan was expected to be refused with "
                        + flowCase.expect().buildError() + ", was accepted");
            } catch (IllegalArgumentException refused) {
                String missing = MessageWords.missing(
                        flowCase.expect().buildError(), String.valueOf(refused.getMessage()), flowCase.ids());
                if (missing != null) {
                    complaints.add("the report of the invalid plan was expected to contain " + missing + ", was \""
                            + refused.getMessage() + "\"");
                }
            }
        }
        return complaints.stream().distinct().toList();
    }

    /** Returns the stacks of the threads that hung, or an empty list. */
    List<String> threads() {
        return threads;
    }
}
