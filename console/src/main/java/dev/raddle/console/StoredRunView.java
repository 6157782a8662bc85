package dev.raddle.console;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.PlanEdge;
import dev.raddle.flow.PlanNode;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.RecordedNode;
import dev.raddle.flow.RecordedRun;
import dev.raddle.flow.ValueSource;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A run in a database, as its journal has it in one moment. */
final class StoredRunView implements RunView {

    /*
     * Overview.
     *
     * What the entries mean is known by RecordedRun; this class has the words for it. Ends that are not recorded follow
     * from others: such a node has the state that follows, and says from what. Other nodes without a recorded end have
     * none once the run has ended or compensates.
     *
     * Without a plan only nodes with entries are known, and their dependencies are not. Of a damaged journal only the
     * entries are shown: the worker says what is wrong.
     */

    private static final String NO_END = "no-end";

    /** What a node does now. */
    private record Now(String state, @Nullable String why) {}

    private final StoredRun run;
    private final List<StoredEntry> entries;
    private final RecordedRun recorded;
    private final List<PlanEdge> edges = new ArrayList<>();
    private final Map<String, NodeRow> rows = new LinkedHashMap<>(); // by the ids of nodes

    /**
     * Creates a view.
     *
     * @param reading returns what the entries say; throws if some are missing
     */
    StoredRunView(
            StoredRun run, List<StoredEntry> entries, @Nullable FlowPlan<?, ?> plan, Supplier<RecordedRun> reading) {
        this.run = run;
        this.entries = List.copyOf(entries);
        recorded = read(reading);
        Map<String, StringBuilder> texts = new LinkedHashMap<>();
        Map<String, PlanNode> known = new HashMap<>();
        for (PlanNode node : plan == null ? List.<PlanNode>of() : plan.nodes()) {
            texts.put(node.id(), new StringBuilder());
            known.put(node.id(), node);
            edges.addAll(node.upstreams());
        }
        this.entries.forEach(entry -> addText(entry, texts));
        texts.forEach((id, text) -> rows.put(id, row(known.get(id), recorded.node(id), text.toString())));
    }

    private static RecordedRun read(Supplier<RecordedRun> reading) {
        try {
            return reading.get();
        } catch (IllegalArgumentException damaged) {
            return RecordedRun.of(List.of());
        }
    }

    private static void addText(StoredEntry entry, Map<String, StringBuilder> texts) {
        if (entry.node() != null && !entry.isOfSubflow()) {
            StringBuilder text = texts.computeIfAbsent(entry.node(), unknown -> new StringBuilder());
            text.append(lineOf(entry.words())).append('\n');
            if (entry.failure() != null) {
                text.append(textOf(entry.failure()));
            }
        }
    }

    private NodeRow row(@Nullable PlanNode plan, RecordedNode node, String text) {
        Now now = nowOf(node);
        boolean isOfAnother = !node.isRecorded() && node.attempts() == 0;
        Map<String, String> facts = new LinkedHashMap<>();
        put("attempts", node.attempts() == 0 ? null : Integer.toString(node.attempts()), facts);
        put("value of", node.via() == ValueSource.FALLBACK ? "fallback" : null, facts);
        return new NodeRow(
                now.state,
                plan == null ? null : plan.group(),
                now.why,
                now.state.equals("waiting") && node.sleepsUntil() == null,
                node.failure() == null || isOfAnother ? null : lineOf(node.failure()),
                plan == null ? null : readyAt(plan),
                null,
                node.endedAt(),
                facts,
                text);
    }

    /** Returns when the last upstream of a node ended, or the run began; null if that is unknown. */
    private @Nullable Instant readyAt(PlanNode node) {
        Instant latest = run.begunAt();
        for (PlanEdge edge : node.upstreams()) {
            Instant end = recorded.node(edge.from()).endedAt();
            if (end == null || latest == null) {
                return null;
            }
            latest = end.isAfter(latest) ? end : latest;
        }
        return latest;
    }

    private Now nowOf(RecordedNode node) {
        if (node.isCompensated()) {
            return new Now("compensated", null);
        }
        if (node.isRecorded()) {
            return new Now(WatchedRun.wordOf(node.state()), null);
        }
        String others = String.join(", ", node.dueTo());
        if (node.state().isTerminal() && !others.isEmpty()) {
            return new Now(WatchedRun.wordOf(node.state()), "its end follows from that of " + others);
        }
        if (run.state().isEnd() || recorded.isCompensating() || node.state().isTerminal()) {
            return new Now(NO_END, "it was not reached, or its end follows from that of others or of the run");
        }
        return switch (node.state()) {
            case PENDING -> new Now("pending", others.isEmpty() ? null : "waits for " + others);
            case WAITING ->
                new Now(
                        "waiting",
                        node.sleepsUntil() == null
                                ? "waits for its signal"
                                : "sleeps until " + secondsOf(node.sleepsUntil()));
            case RUNNING ->
                run.state() == RunState.RUNNING
                        ? new Now("running", "runs, or waits for a permit or its next attempt")
                        : new Now("pending", "begins or continues with the run");
            case SUCCESS, FAILED, TIMED_OUT, CANCELLED, SKIPPED -> throw new AssertionError(node.state());
        };
    }

    @Override
    public String name() {
        return run.flow();
    }

    @Override
    public String label() {
        return run.id();
    }

    @Override
    public String state() {
        return wordOf(run.state());
    }

    static String wordOf(RunState state) {
        return state == RunState.SUCCESS ? "succeeded" : WatchedRun.word(state.name());
    }

    @Override
    public Instant startedAt() {
        return run.begunAt() == null ? run.createdAt() : run.begunAt();
    }

    @Override
    public @Nullable Instant endedAt() {
        return run.endedAt();
    }

    @Override
    public Map<String, ? extends Node> nodes() {
        return rows;
    }

    @Override
    public List<PlanEdge> edges() {
        return edges;
    }

    @Override
    public Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("flow", run.flow() + ", version " + run.version());
        put("waits", run.waitsUntil() == null ? null : untilWords(run.waitsUntil()), facts);
        put("problem", run.problem(), facts);
        put("failure", run.failure() == null ? null : run.failure().toString(), facts);
        put("worker", run.worker() == null ? null : run.worker() + ", claim " + run.claims(), facts);
        facts.put("next", next());
        facts.put("created", secondsOf(run.createdAt()));
        return facts;
    }

    private static String untilWords(Instant until) {
        return until.equals(Instant.MAX) ? "for a signal" : "until " + secondsOf(until);
    }

    /** Returns what happens by itself, and what a person can do. */
    private String next() {
        return switch (run.state()) {
            case WAITING ->
                run.waitsUntil() == null
                        ? "the next free worker of its version continues it; it can be cancelled"
                        : run.waitsUntil().equals(Instant.MAX)
                                ? "a signal continues it; it can be cancelled"
                                : "it continues by itself then, or at a signal; it can be cancelled";
            case WITHOUT_VERSION ->
                "it continues when a worker has version " + run.version() + " of its flow, with the plan that it began"
                        + " with; a cancel waits for that, too";
            case RUNNING -> "its worker goes on; it can be cancelled";
            case STUCK -> "when the cause is gone, run it again without naming nodes: it continues where it was";
            case SUCCESS -> "nothing is left to do; nodes that are named can run again, with all that depend on them";
            case DEGRADED, FAILED, TIMED_OUT, CANCELLED ->
                "it can run again: nodes that have succeeded keep their values, all others run";
        };
    }

    @Override
    public String text() {
        StringBuilder text = new StringBuilder();
        for (StoredEntry entry : entries) {
            text.append(entry.claim()).append("  ");
            String node = entry.node() == null ? "" : entry.node() + ": ";
            String failure = entry.failure() == null ? "" : ": " + entry.failure();
            text.append(lineOf(node + entry.words() + failure)).append('\n');
        }
        return text + (run.failure() == null ? "" : "\n" + textOf(run.failure()));
    }

    /** Returns a failure with the lines of its trace. */
    private static String textOf(RecordedFailure failure) {
        StringBuilder text = new StringBuilder(lineOf(failure)).append('\n');
        failure.trace().lines().forEach(line -> text.append("    ").append(line).append('\n'));
        return text.toString();
    }

    /** Returns a text in one line: a line break in a name must not look like another entry. */
    private static String lineOf(Object text) {
        return text.toString().replaceAll("\\R", " ");
    }

    private static String secondsOf(Instant moment) {
        return moment.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static void put(String name, @Nullable String value, Map<String, String> facts) {
        if (value != null) {
            facts.put(name, value);
        }
    }
}
