package dev.raddle.flow;

import dev.raddle.flow.RandomFlow.Clause;
import dev.raddle.flow.RandomFlow.Condition;
import dev.raddle.flow.RandomFlow.Kind;
import dev.raddle.flow.RandomFlow.Spec;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Runs a random flow and compares each step with the reference. A difference is an AssertionError. */
final class RandomFlowPlay {

    /** The way in which a flow is run. */
    enum Mode {
        /** Sequentially in the caller's thread, in the order that the engine chooses. */
        CALLERS_THREAD,
        /** The same on a separate thread. */
        ONE_THREAD,
        /** On virtual threads, where the test releases the actions one after the other, in a random order. */
        GATED,
        /** On virtual threads, concurrently. Only properties of every run are checked. */
        FREE,
        /** The same on a fork-join pool of two threads. */
        FORK_JOIN,
        /** Without threads, where the test reports the results one after the other, in a random order. */
        STEPPER
    }

    /** The pools of flows that do not run on virtual threads. */
    record Pools(ExecutorService oneThread, ForkJoinPool forkJoin) {}

    private enum What {
        ASKED,
        BEGUN,
        REPORTED,
        UNDONE
    }

    private record Event(What what, int node, NodeReport<?> report) {}

    private static final long PATIENCE_SECONDS = 120;

    /**
     * A journal that interrupts its run after some records: by a cancel, or by a simulated crash, after which nothing
     * is recorded.
     */
    private static final class Interrupting implements FlowJournal {
        private final FlowJournal kept;
        private final boolean dies;
        private int left;
        private FlowRun<?> run;

        Interrupting(FlowJournal kept, boolean dies, int left) {
            this.kept = kept;
            this.dies = dies;
            this.left = left;
        }

        @Override
        public List<Entry> open(Work work) throws Exception {
            return kept.open(work);
        }

        @Override
        public void record(Entry entry) throws Exception {
            boolean isValue = entry instanceof Entry.NodeEnded end && end.isSuccess();
            left -= isValue || entry instanceof Entry.Compensated ? 1 : 0;
            if (left >= 0 || !dies) {
                kept.record(entry);
            }
            if (isValue && left == 0 && !dies) {
                run.cancel("the test cancels it");
            }
        }
    }

    private final RandomFlow flow;
    private final Mode mode;
    private final MemoryJournal journal; // null if there is none
    private final NodeReport<?>[] restored; // the restored report of each node, or null
    private final Random random;
    private final FlowReference reference;
    private final VirtualTime time = new VirtualTime();
    private final CountDownLatch[] gates;
    private final List<Event> events = new ArrayList<>(); // guarded by this
    private final List<String> violations = new ArrayList<>(); // guarded by this
    private final int[] entered; // guarded by this
    private final NodeReport<?>[] reports; // the reports that were taken so far
    private final long[] expiry;
    private int seen; // the number of events that were taken
    private boolean over; // guarded by this

    private RandomFlowPlay(RandomFlow flow, Mode mode, Random random, MemoryJournal journal) {
        this.flow = flow;
        this.mode = mode;
        this.random = random;
        this.journal = journal;
        restored = new NodeReport<?>[flow.size()];
        List<Integer> order = new ArrayList<>();
        if (journal != null) {
            for (Entry.NodeEnded end : nextTry(plan().graph, journal).nodes.values()) {
                int node = IntStream.range(0, flow.size())
                        .filter(each -> RandomFlow.id(each).equals(end.id()))
                        .findFirst()
                        .orElseThrow();
                restored[node] =
                        new NodeReport<>(end.id(), NodeState.SUCCESS, end.value(), ValueSource.JOURNAL, null, -1, -1);
                order.add(node);
            }
        }
        reference = new FlowReference(flow, mode == Mode.GATED || mode == Mode.STEPPER, restored, order);
        gates = new CountDownLatch[flow.size()];
        Arrays.setAll(gates, node -> new CountDownLatch(mode == Mode.GATED ? 1 : 0));
        entered = new int[flow.size()];
        reports = new NodeReport<?>[flow.size()];
        expiry = new long[flow.size()];
    }

    /**
     * Drives a stepper through a run, in a random order of reports.
     *
     * @return all reports and steps as text
     */
    static String step(RandomFlow flow, Random random) throws Exception {
        return new RandomFlowPlay(flow, Mode.STEPPER, random, null).drive();
    }

    static void play(RandomFlow flow, Mode mode, Random random, Pools pools) throws Exception {
        new RandomFlowPlay(flow, mode, random, null).play(pools);
    }

    /** Interrupts a run, and resumes it by another one. */
    static void resume(RandomFlow flow, Mode mode, Random random, Pools pools) throws Exception {
        MemoryJournal journal = FlowJournal.inMemory();
        RandomFlow first = random.nextInt(4) == 0 ? flow.onlyFor(random.nextInt(flow.size())) : flow;
        new RandomFlowPlay(first, Mode.CALLERS_THREAD, random, journal).interruptedRun();
        journal.record(new Entry.RunEnded(FlowStatus.CANCELLED)); // also after a crash, so that a new try begins
        new RandomFlowPlay(flow, mode, random, journal).play(pools);
    }

    private static Recovered nextTry(Graph graph, MemoryJournal journal) {
        Recovered known = new Recovered(journal.entries());
        known.apply(new Entry.Begun(Instant.EPOCH, RunJournal.withDependents(graph, known, List.of())));
        return known;
    }

    private void interruptedRun() throws Exception {
        Interrupting cut = new Interrupting(journal, random.nextBoolean(), random.nextInt(2 * flow.size()));
        RunOptions options = options().inCallersThread().withJournal(cut);
        try (FlowRun<?> run = plan().start(null, options)) {
            cut.run = run;
            join(run);
        }
    }

    private RunOptions options() {
        return RunOptions.defaults()
                .withTimeSource(time)
                .withTimeout(Duration.ofDays(1))
                .withExceptionSink(ExceptionSink.to((source, failure) -> {}))
                .obsolete(flow.interruptObsolete() ? UnneededPolicy.INTERRUPT : UnneededPolicy.FINISH)
                .onFailure(flow.failFast() ? OnFailure.FAIL_FAST : OnFailure.CONTINUE)
                .only(flow.only().stream().map(RandomFlow::id).toArray(String[]::new));
    }

    private boolean isFree() {
        return mode == Mode.FREE || mode == Mode.FORK_JOIN;
    }

    private void play(Pools pools) throws Exception {
        FlowPlan<Void, ?> plan = plan();
        RunOptions options = journal == null ? options() : options().withJournal(journal);
        options = switch (mode) {
            case CALLERS_THREAD -> options.inCallersThread();
            case ONE_THREAD -> options.withScheduler(Scheduler.from(pools.oneThread()));
            case FORK_JOIN -> options.withScheduler(Scheduler.from(pools.forkJoin()));
            case GATED, FREE, STEPPER -> options;
        };
        try (FlowRun<?> run = plan.start(null, options)) {
            try {
                if (mode == Mode.GATED) {
                    stepByStep(run);
                }
                FlowResult<?> result = join(run);
                synchronized (this) {
                    over = true;
                }
                if (mode == Mode.CALLERS_THREAD || mode == Mode.ONE_THREAD) {
                    replay(result);
                }
                Arrays.stream(gates).forEach(CountDownLatch::countDown);
                run.close(); // an interrupted action may be about to be entered
                compare(run::state, result);
            } catch (Throwable failure) {
                run.cancel("the test has failed");
                throw failure;
            } finally {
                Arrays.stream(gates).forEach(CountDownLatch::countDown);
            }
        }
    }

    /** Waits for the end, with a timeout. */
    private static FlowResult<?> join(FlowRun<?> run) throws Exception {
        FlowResult<?>[] result = new FlowResult<?>[1];
        Throwable[] failure = new Throwable[1];
        Thread joiner = Thread.ofVirtual().start(() -> {
            try {
                result[0] = run.join();
            } catch (Throwable thrown) {
                failure[0] = thrown;
            }
        });
        if (!joiner.join(Duration.ofSeconds(PATIENCE_SECONDS))) {
            joiner.interrupt();
            throw new AssertionError("the run does not end");
        }
        if (failure[0] != null) {
            throw new AssertionError("join() threw " + failure[0], failure[0]);
        }
        return result[0];
    }

    private FlowPlan<Void, ?> plan() {
        FlowBuilder<Void> builder = FlowPlan.define("random");
        List<Node<Object>> nodes = new ArrayList<>();
        for (int node = 0; node < flow.size(); node++) {
            nodes.add(declare(builder, node, nodes));
        }
        return flow.output() < 0 ? builder.build() : builder.returning(nodes.get(flow.output()));
    }

    private Node<Object> declare(FlowBuilder<Void> builder, int number, List<Node<Object>> nodes) {
        Spec spec = flow.nodes().get(number);
        List<Dependency<?>> choices = new ArrayList<>();
        Node<Object> node =
                builder.node(RandomFlow.id(number), (NodeContext<Void> context) -> act(number, spec, context, choices));
        for (Clause clause : spec.clauses()) {
            Dependency<?> dependency =
                    (number + clause.upstreams().getFirst()) % 2 == 0 ? byHandle(clause, nodes) : byId(clause);
            if (clause.kind() == Kind.CHOICE && clause.successes() == 1) {
                choices.add(dependency);
            }
            node.needs(dependency);
        }
        node.onBegin(context -> begun(number, spec));
        node.onResult(report -> reported(number, spec, report));
        if (spec.retries() > 0) {
            node.retry(RetryPolicy.attempts(1 + spec.retries()));
        }
        if (spec.condition() != Condition.NONE) {
            node.when(context -> condition(number, spec.condition()));
        }
        if (spec.essential()) {
            node.essential();
        }
        if (spec.timeoutSeconds() > 0) {
            node.timeout(Duration.ofSeconds(spec.timeoutSeconds()));
        }
        if (spec.undo()) {
            node.compensate(value -> happened(new Event(What.UNDONE, number, null)));
        }
        recoveries(node, number, spec);
        return node;
    }

    private static void recoveries(Node<Object> node, int number, Spec spec) {
        switch (spec.defaultValue()) {
            case NONE -> {}
            case VALUE -> node.defaultValue(FlowReference.defaultValue(number));
            case NULL -> node.defaultValue(null);
            case THROWS ->
                node.defaultFrom(() -> {
                    throw new IllegalStateException("no default of " + number);
                });
        }
        switch (spec.fallback()) {
            case NONE -> {}
            case VALUE -> node.fallback(failure -> FlowReference.fallbackValue(number));
            case NULL -> node.fallbackValue(null);
            case THROWS ->
                node.fallback(failure -> {
                    throw new IllegalStateException(FlowReference.fallbackFailure(number));
                });
        }
    }

    private static Dependency<?> byHandle(Clause clause, List<Node<Object>> nodes) {
        List<Node<Object>> of = clause.upstreams().stream().map(nodes::get).toList();
        return switch (clause.kind()) {
            case MUST -> of.getFirst();
            case ORDER -> Dependency.order(of.getFirst());
            case OPTIONAL -> Dependency.optional(of.getFirst());
            case AFTER -> Dependency.after(of.getFirst());
            case CHOICE -> clause.successes() == 1 ? Dependency.anyOf(of) : Dependency.atLeast(clause.successes(), of);
        };
    }

    private static Dependency<?> byId(Clause clause) {
        String[] ids = clause.upstreams().stream().map(RandomFlow::id).toArray(String[]::new);
        return switch (clause.kind()) {
            case MUST -> Dependency.must(ids[0]);
            case ORDER -> Dependency.order(ids[0]);
            case OPTIONAL -> Dependency.optional(ids[0]);
            case AFTER -> Dependency.after(ids[0]);
            case CHOICE ->
                clause.successes() == 1 ? Dependency.anyOf(ids) : Dependency.atLeast(clause.successes(), ids);
        };
    }

    private Object act(int number, Spec spec, NodeContext<Void> context, List<Dependency<?>> choices)
            throws InterruptedException {
        int attempt;
        synchronized (this) {
            attempt = ++entered[number];
        }
        check(mayEndNodes() || !Thread.currentThread().isInterrupted(), number, "begins interrupted");
        gates[number].await();
        Object[] values = reads(number, spec, context, choices);
        if (attempt <= spec.failures()) {
            String message = FlowReference.failure(number, attempt);
            if (spec.error()) {
                throw new AssertionError(message);
            }
            throw new IllegalStateException(message);
        }
        return spec.nullValue() ? null : FlowReference.value(number, values);
    }

    /**
     * Returns whether nodes may be ended while they run. The condition or the action of such a node may be about to be
     * called.
     */
    private boolean mayEndNodes() {
        return mode == Mode.GATED || mode == Mode.STEPPER || flow.failFast() || flow.interruptObsolete();
    }

    /** Reads all upstreams in every possible way. */
    private Object[] reads(int number, Spec spec, NodeContext<Void> context, List<Dependency<?>> choices) {
        List<Object> values = new ArrayList<>();
        for (Clause clause : spec.clauses()) {
            for (int up : clause.upstreams()) {
                String id = RandomFlow.id(up);
                boolean terminal = clause.kind() != Kind.OPTIONAL && clause.kind() != Kind.CHOICE;
                NodeState state = context.state(id);
                if (terminal) {
                    context.outcome(id);
                    check(state != NodeState.PENDING && state != NodeState.RUNNING, number, "runs before " + id);
                }
                context.peek(id);
            }
            if (clause.kind() == Kind.MUST) {
                values.add(context.read(RandomFlow.id(clause.upstreams().getFirst())));
            }
        }
        for (Dependency<?> choice : choices) {
            String winner = context.winnerOf(choice);
            check(context.state(winner) == NodeState.SUCCESS, number, "says that " + winner + " won, which did not");
        }
        return values.toArray();
    }

    private boolean condition(int number, Condition condition) {
        happened(new Event(What.ASKED, number, null));
        if (condition == Condition.THROWS) {
            throw new IllegalStateException(FlowReference.conditionFailure(number));
        }
        return condition == Condition.TRUE;
    }

    private void begun(int number, Spec spec) {
        happened(new Event(What.BEGUN, number, null));
        fail(spec);
    }

    private void reported(int number, Spec spec, NodeReport<?> report) {
        happened(new Event(What.REPORTED, number, report));
        fail(spec);
    }

    private static void fail(Spec spec) {
        if (spec.badCallbacks()) {
            throw new IllegalStateException("a bad callback");
        }
    }

    private synchronized void happened(Event event) {
        if (over && !(event.what() == What.ASKED && mayEndNodes())) {
            violations.add(event.what() + " " + RandomFlow.id(event.node()) + " after the run has ended");
        }
        events.add(event);
        notifyAll();
    }

    private synchronized void check(boolean holds, int number, String otherwise) {
        if (!holds) {
            violations.add(RandomFlow.id(number) + " " + otherwise);
        }
    }

    // Step by step.

    private void stepByStep(FlowRun<?> run) throws InterruptedException {
        boolean[] begun = new boolean[flow.size()];
        settle(begun);
        while (!reference.hasEnded()) {
            List<Integer> running = running();
            if (running.isEmpty()) {
                throw new AssertionError("nothing runs, and not all has ended");
            }
            int choice = random.nextInt(60);
            int timed = running.stream()
                    .filter(node -> flow.nodes().get(node).timeoutSeconds() > 0)
                    .min((one, other) -> Long.compare(expiry[one], expiry[other]))
                    .orElse(-1);
            if (choice == 0) {
                reference.cancel();
                run.cancel("the test cancels it");
            } else if (choice == 1 && timed < 0) {
                reference.timeOut();
                time.advance(Duration.ofDays(2));
            } else if (choice < 15 && timed >= 0 && isAlone(timed, running)) {
                time.advance(Duration.ofNanos(expiry[timed] - time.nanoTime()));
                end(timed, begun, true);
            } else {
                int node = running.get(random.nextInt(running.size()));
                gates[node].countDown();
                end(node, begun, false);
            }
            settle(begun);
        }
        if (rest().stream().anyMatch(event -> event.what() != What.UNDONE)) {
            throw new AssertionError("more happened than had to: " + rest());
        }
    }

    // With a stepper.

    private FlowStepper<?> stepper;
    private final Map<Integer, Step.Work> works = new TreeMap<>(); // the latest calls
    private final Map<Integer, CallResult> called = new TreeMap<>(); // results that are not reported
    private final List<String> log = new ArrayList<>();

    private String drive() throws Exception {
        boolean[] begun = new boolean[flow.size()];
        stepper = plan().stepper(null, options());
        report("start", stepper.start(Instant.EPOCH));
        while (!stepper.isComplete()) {
            settle(begun);
            require(
                    running().equals(List.copyOf(called.keySet())),
                    0,
                    "is of a run in which " + running() + " run, and " + called.keySet() + " were started");
            act(begun);
        }
        synchronized (this) {
            over = true;
        }
        settle(begun);
        FlowResult<?> result = stepper.result();
        compare(id -> stepper.state(id), result);
        return String.join("\n", log);
    }

    private void act(boolean[] begun) throws Exception {
        List<Integer> running = List.copyOf(called.keySet());
        int choice = random.nextInt(60);
        long next = stepper.nextMoment();
        boolean isTimeout = next < Duration.ofHours(12).toNanos();
        if (choice == 0) {
            reference.cancel();
            report("cancel", stepper.cancel("the test cancels it", time.nanoTime()));
        } else if (choice == 1 && !isTimeout) {
            reference.timeOut();
            time.advance(Duration.ofDays(2));
            report("time", stepper.passed(time.nanoTime()));
        } else if (choice < 15 && isTimeout && isAloneAt(next, running)) {
            int timed = running.stream()
                    .filter(node -> expiry[node] == next)
                    .findFirst()
                    .orElseThrow();
            time.advance(Duration.ofNanos(next - time.nanoTime()));
            report("timeout of " + timed, stepper.passed(next));
            end(timed, begun, true);
        } else {
            int node = running.get(random.nextInt(running.size()));
            CallResult result = Objects.requireNonNull(called.remove(node));
            report("result of " + node, stepper.settled(works.get(node), result, time.nanoTime()));
            if (!called.containsKey(node)) {
                end(node, begun, false);
            }
        }
    }

    /** Whether one node is timed out next, which is known. */
    private boolean isAloneAt(long moment, List<Integer> running) {
        return running.stream().filter(node -> expiry[node] == moment).count() == 1;
    }

    /** Makes the calls of new steps, in their order, and keeps the results. */
    private void report(String what, List<Step> steps) throws Exception {
        log.add(what + " at " + time.nanoTime());
        List<Step> compensations = new ArrayList<>();
        for (Step step : steps) {
            log.add("  " + step);
            if (step instanceof Step.Start start) {
                int node = Integer.parseInt(start.node().substring(1));
                expiry[node] = start.attempt() == 1
                        ? time.nanoTime()
                                + TimeUnit.SECONDS.toNanos(
                                        flow.nodes().get(node).timeoutSeconds())
                        : expiry[node];
                works.put(node, start);
                called.put(node, stepper.call(start));
            } else if (step instanceof Step.Ended ended) {
                called.remove(Integer.parseInt(ended.node().substring(1)));
            } else if (step instanceof Step.Compensate) {
                compensations.add(step);
            }
        }
        for (Step step : compensations) {
            CallResult done = stepper.call((Step.Work) step);
            report(step.toString(), stepper.settled((Step.Work) step, done, time.nanoTime()));
        }
    }

    private boolean isAlone(int timed, List<Integer> running) {
        return running.stream()
                .noneMatch(node ->
                        node != timed && flow.nodes().get(node).timeoutSeconds() > 0 && expiry[node] == expiry[timed]);
    }

    private List<Integer> running() {
        List<Integer> running = new ArrayList<>();
        for (int node = 0; node < flow.size(); node++) {
            if (reference.isRunning(node)) {
                running.add(node);
            }
        }
        return running;
    }

    /** Takes the end of a node that was just released. Only events that it caused may precede it. */
    private void end(int node, boolean[] begun, boolean timedOut) throws InterruptedException {
        while (reports[node] == null) {
            take(begun);
        }
        require(reference.allowsEnd(node, reports[node], timedOut), node, "cannot end as " + reports[node]);
        reference.end(node, reports[node]);
    }

    /** Takes the consequences of the last step, until no more are due. */
    private void settle(boolean[] begun) throws InterruptedException {
        while (true) {
            boolean progress = true;
            while (progress) {
                progress = false;
                for (int node = 0; node < flow.size(); node++) {
                    progress |= advance(node, begun);
                }
            }
            if (hasNews() || isAwaited(begun)) {
                take(begun);
                continue;
            }
            checkUnexplained(begun);
            return;
        }
    }

    /** Returns whether an event of some node is due and was not taken. */
    private boolean isAwaited(boolean[] begun) {
        for (int node = 0; node < flow.size(); node++) {
            boolean isTaken = reports[node] != null || begun[node] && reference.isPending(node);
            if (reference.isDue(node) && !isTaken) {
                return true;
            }
        }
        return false;
    }

    private void checkUnexplained(boolean[] begun) {
        for (int node = 0; node < flow.size(); node++) {
            if (reference.isPending(node) && begun[node]) {
                throw disagreement(node, "has begun, and must not");
            }
            if ((reference.isPending(node) || reference.isRunning(node)) && reports[node] != null) {
                throw disagreement(node, "cannot be decided as " + reports[node]);
            }
        }
    }

    /** Applies the last transition of a node to the reference, if it is allowed by now. */
    private boolean advance(int node, boolean[] begun) {
        if (reference.isPending(node) && begun[node] && isBegin(node)) {
            reference.begin(node);
            expiry[node] = time.nanoTime()
                    + TimeUnit.SECONDS.toNanos(flow.nodes().get(node).timeoutSeconds());
            return true;
        }
        NodeReport<?> report = reports[node];
        if (report == null) {
            return false;
        }
        if (reference.isPending(node) && !begun[node] && reference.allows(node, report)) {
            reference.decide(node, report);
            return true;
        }
        if (reference.isRunning(node)
                && (reference.isOver() || reference.isObsolete(node))
                && reference.allowsEnd(node, report, false)) {
            reference.decide(node, report);
            return true;
        }
        return false;
    }

    private boolean isBegin(int node) {
        Condition condition = flow.nodes().get(node).condition();
        return reference.isReady(node) && (condition == Condition.NONE || condition == Condition.TRUE);
    }

    private int due() {
        for (int node = 0; node < flow.size(); node++) {
            if (reference.isDue(node)) {
                return node;
            }
        }
        return -1;
    }

    private synchronized boolean hasNews() {
        return seen < events.size();
    }

    private synchronized List<Event> rest() {
        return List.copyOf(events.subList(seen, events.size()));
    }

    /** Takes one more event, or fails after a timeout. */
    private void take(boolean[] begun) throws InterruptedException {
        Event event;
        synchronized (this) {
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(mode == Mode.STEPPER ? 0 : PATIENCE_SECONDS);
            while (seen == events.size()) {
                long left = until - System.nanoTime();
                if (left <= 0) {
                    int due = due();
                    throw due < 0
                            ? new AssertionError("a node that was released does not end")
                            : disagreement(due, "is due, and nothing happens to it");
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
            event = events.get(seen++);
        }
        note(event, begun);
    }

    private void note(Event event, boolean[] begun) {
        switch (event.what()) {
            case ASKED -> reference.ask(event.node());
            case BEGUN -> {
                require(!begun[event.node()], event.node(), "has begun twice");
                begun[event.node()] = true;
            }
            case REPORTED -> {
                require(reports[event.node()] == null, event.node(), "is reported twice");
                reports[event.node()] = event.report();
            }
            case UNDONE -> {}
        }
    }

    // Afterwards, in the order of the engine.

    private void replay(FlowResult<?> result) {
        List<Event> log = rest();
        boolean[] begins = new boolean[flow.size()];
        for (Event event : log) {
            begins[event.node()] |= event.what() == What.BEGUN;
        }
        for (int node = 0; node < flow.size(); node++) {
            // Ends without a run are applied as soon as they are allowed, regardless of the order of the callbacks.
            int number = node;
            boolean asks = log.stream().anyMatch(event -> event.what() == What.ASKED && event.node() == number);
            reports[node] = begins[node] || asks ? null : result.node(RandomFlow.id(node));
        }
        decideAll(begins);
        for (Event event : log) {
            int node = event.node();
            if (event.what() == What.ASKED) {
                require(reference.isReady(node), node, "is asked for its condition, and must not");
                reference.ask(node);
                reports[node] = begins[node] ? null : result.node(RandomFlow.id(node));
            } else if (event.what() == What.BEGUN) {
                require(isBegin(node), node, "begins, and must not");
                require(!reference.isObsolete(node), node, "begins, and is obsolete");
                reference.begin(node);
            } else if (event.what() == What.REPORTED && begins[node]) {
                for (int other = 0; other < flow.size(); other++) {
                    require(!reference.isOverdue(other), other, "is not skipped, and nobody needs it any more");
                }
                require(reference.allowsEnd(node, event.report(), false), node, "cannot end as " + event.report());
                reference.end(node, event.report());
            }
            decideAll(begins);
        }
        for (int node = 0; node < flow.size(); node++) {
            require(!reference.isPending(node), node, "cannot be decided as " + result.node(RandomFlow.id(node)));
        }
    }

    private void decideAll(boolean[] begins) {
        boolean progress = true;
        while (progress) {
            progress = false;
            for (int node = 0; node < flow.size(); node++) {
                progress |= !begins[node] && advance(node, new boolean[flow.size()]);
            }
        }
    }

    // In the end.

    private void compare(Function<String, NodeState> states, FlowResult<?> result) {
        if (!isFree()) {
            require(
                    result.status() == reference.status(),
                    0,
                    "is of a run that must be " + reference.status() + ", was " + result.status());
        }
        int[] begun = new int[flow.size()];
        int[] reportCount = new int[flow.size()];
        int[] asked = new int[flow.size()];
        List<Integer> undone = new ArrayList<>();
        List<Event> log;
        synchronized (this) {
            log = List.copyOf(events);
            require(violations.isEmpty(), 0, "is of a run with violations: " + violations);
        }
        for (Event event : log) {
            switch (event.what()) {
                case ASKED -> asked[event.node()]++;
                case BEGUN -> begun[event.node()]++;
                case REPORTED -> {
                    reportCount[event.node()]++;
                    reports[event.node()] = event.report();
                }
                case UNDONE -> undone.add(event.node());
            }
        }
        for (int node = 0; node < flow.size(); node++) {
            Spec spec = flow.nodes().get(node);
            NodeReport<?> report = result.node(RandomFlow.id(node));
            int runs = entered(node);
            boolean isRestored = restored[node] != null;
            reports[node] = isRestored ? restored[node] : reports[node];
            require(reportCount[node] == (isRestored ? 0 : 1), node, "is reported " + reportCount[node] + " times");
            require(!isRestored || runs == 0, node, "ran again");
            require(
                    begun[node] == (runs > 0 ? 1 : 0),
                    node,
                    "began " + begun[node] + " times, ran " + runs + " times, and is " + report);
            require(runs <= spec.attempts(), node, "ran " + runs + " times");
            require(isSame(report, reports[node]), node, "was " + reports[node] + " and is " + report);
            require(states.apply(RandomFlow.id(node)) == report.state(), node, "has two states");
            require(isTerminal(report.state()), node, "has not ended: " + report.state());
            require(!result.explain(RandomFlow.id(node)).isBlank(), node, "is not explained");
            if (report.state() == NodeState.SUCCESS && report.via() == ValueSource.ACTION) {
                require(runs == spec.attempts(), node, "needs " + spec.attempts() + " attempts, had " + runs);
                musts(node, spec, result);
            }
            if (!isFree()) {
                require(report.state() == reference.state(node), node, "must be " + reference.state(node));
            }
            require(asked[node] <= (isRestored ? 0 : 1), node, "was asked " + asked[node] + " times for its condition");
        }
        if (!isFree()) {
            require(
                    undone.equals(reference.undone()),
                    0,
                    "is of a run in which must be undone " + reference.undone() + ", was " + undone);
        }
        if (journal != null) {
            compareJournal(result, undone);
        }
    }

    /**
     * Checks that exactly the nodes that succeeded and were not undone are recorded, apart from races with their ends.
     */
    private void compareJournal(FlowResult<?> result, List<Integer> undone) {
        for (int node = 0; node < flow.size(); node++) {
            NodeReport<?> report = result.node(RandomFlow.id(node));
            JournalRecords.Recorded recorded = JournalRecords.find(journal, RandomFlow.id(node));
            boolean done = report.state() == NodeState.SUCCESS && !undone.contains(node);
            boolean mayBeBoth = mode == Mode.GATED || isFree();
            require(done ? recorded != null : recorded == null || mayBeBoth, node, "is " + report + " and " + recorded);
            require(!done || report.value() == recorded.value(), node, "is " + report + " and " + recorded);
        }
    }

    /** Checks that all musts of a node that ran have succeeded. */
    private static void musts(int node, Spec spec, FlowResult<?> result) {
        for (Clause clause : spec.clauses()) {
            if (clause.kind() == Kind.MUST || clause.kind() == Kind.ORDER) {
                NodeState state = result.node(RandomFlow.id(clause.upstreams().getFirst()))
                        .state();
                require(state == NodeState.SUCCESS, node, "ran without " + clause);
            }
        }
    }

    private synchronized int entered(int node) {
        return entered[node];
    }

    private static boolean isTerminal(NodeState state) {
        return state != NodeState.PENDING && state != NodeState.WAITING && state != NodeState.RUNNING;
    }

    private static boolean isSame(NodeReport<?> one, NodeReport<?> other) {
        return one.state() == other.state()
                && one.via() == other.via()
                && one.value() == other.value()
                && one.cause() == other.cause();
    }

    private static void require(boolean holds, int node, String otherwise) {
        if (!holds) {
            throw disagreement(node, otherwise);
        }
    }

    private static AssertionError disagreement(int node, String what) {
        return new AssertionError("node " + RandomFlow.id(node) + " " + what);
    }
}
