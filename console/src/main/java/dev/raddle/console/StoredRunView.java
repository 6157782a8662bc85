package dev.raddle.console;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.PlanEdge;
import dev.raddle.flow.PlanNode;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A run in a database, as its journal has it in one moment. */
final class StoredRunView implements RunView {

    /*
     * Overview.
     *
     * The journal has the ends of nodes that have ended for a reason of their own, and when. What follows from these is
     * not recorded: the entries are applied as a run that continues does. A new try keeps only the nodes that have
     * succeeded and are not named by it.
     *
     * The journal has neither the dependencies nor the beginnings of nodes. If the plan is known, a node without an end
     * whose upstreams have ended is said to wait for its signal, or to run; without a plan only nodes with entries are
     * known. Once a run has ended or compensates, no node without a recorded end has a state of its own.
     */

    private static final String NO_END = "no-end";
    private static final Set<String> OF_SUBFLOWS = Set.of("SLEEP", "SIGNAL"); // their ends are not recorded

    /** A node after some entries. */
    private static final class Row implements Node {
        String state = NO_END;
        int attempts;
        boolean isSignal; // it waits for one, or would
        boolean hasBegun;
        boolean hasSignal;

        @Nullable
        Instant sleepsUntil;

        @Nullable
        Instant endedAt;

        @Nullable
        Instant readyAt;

        @Nullable
        RecordedFailure failure;

        @Nullable
        String why;

        @Nullable
        String via;

        final @Nullable PlanNode plan;
        final StringBuilder journal = new StringBuilder();

        Row(@Nullable PlanNode plan) {
            this.plan = plan;
        }

        void forget() {
            state = NO_END;
            attempts = 0;
            hasBegun = false;
            sleepsUntil = null;
            endedAt = null;
            failure = null;
            via = null;
        }

        @Override
        public String state() {
            return state;
        }

        @Override
        public @Nullable String group() {
            return plan == null ? null : plan.group();
        }

        @Override
        public @Nullable String why() {
            return why;
        }

        @Override
        public boolean takesSignal() {
            return isSignal && state.equals("waiting");
        }

        @Override
        public @Nullable String error() {
            return failure == null ? null : lineOf(failure);
        }

        @Override
        public @Nullable Instant readyAt() {
            return readyAt;
        }

        @Override
        public @Nullable Instant endedAt() {
            return endedAt;
        }

        @Override
        public Map<String, String> facts() {
            Map<String, String> facts = new LinkedHashMap<>();
            put("attempts", attempts == 0 ? null : Integer.toString(attempts), facts);
            put("value of", via, facts);
            return facts;
        }

        @Override
        public String text() {
            return journal.toString();
        }
    }

    private record Unended(String state, @Nullable String why) {}

    private final StoredRun run;
    private final List<StoredEntry> entries;
    private final List<PlanEdge> edges = new ArrayList<>();
    private final Map<String, Row> rows = new LinkedHashMap<>(); // by the ids of nodes
    private boolean isCompensating;

    StoredRunView(StoredRun run, List<StoredEntry> entries, @Nullable FlowPlan<?, ?> plan) {
        this.run = run;
        this.entries = List.copyOf(entries);
        if (plan != null) {
            for (PlanNode node : plan.nodes()) {
                Row row = new Row(node);
                row.isSignal = WatchedRun.takesSignals(plan, node.id());
                rows.put(node.id(), row);
                edges.addAll(node.upstreams());
            }
        }
        this.entries.forEach(this::add);
        rows.values().forEach(row -> row.readyAt = readyAt(row));
        Map<Row, Unended> unended = new LinkedHashMap<>(); // all follow from the recorded ends
        rows.values().stream().filter(row -> row.state.equals(NO_END)).forEach(row -> unended.put(row, unended(row)));
        unended.forEach((row, now) -> {
            row.state = now.state;
            row.why = now.why;
        });
    }

    private void add(StoredEntry entry) {
        String node = entry.node();
        switch (entry.kind()) {
            case "BEGUN" -> begin(entry);
            case "COMPENSATING" -> isCompensating = true;
            default -> {}
        }
        if (node != null && !(node.indexOf('/') >= 0 && OF_SUBFLOWS.contains(entry.kind()))) {
            Row row = rows.computeIfAbsent(node, unknown -> new Row(null));
            apply(entry, row);
            row.journal.append(lineOf(entry.words())).append('\n');
            if (entry.failure() != null) {
                row.journal.append(textOf(entry.failure()));
            }
        }
    }

    /** Begins a try, which keeps only the nodes that have succeeded. */
    private void begin(StoredEntry entry) {
        isCompensating = false;
        rows.forEach((id, row) -> {
            row.hasSignal &= !entry.nodes().contains(id);
            if (!row.state.equals("succeeded") || entry.nodes().contains(id)) {
                row.forget();
            }
        });
    }

    private static void apply(StoredEntry entry, Row row) {
        row.hasBegun = true;
        switch (entry.kind()) {
            case "NODE" -> {
                row.state = stateOf(entry.state());
                row.attempts = entry.count() == null ? row.attempts : entry.count();
                row.failure = entry.failure();
                row.via = "FALLBACK".equals(entry.via()) ? "fallback" : null;
                row.endedAt = momentOf(entry);
            }
            case "ATTEMPT" -> {
                row.attempts = entry.count() == null ? row.attempts : entry.count();
                row.failure = entry.failure();
            }
            case "MAP" -> {
                row.state = "succeeded";
                row.attempts = Math.max(1, row.attempts); // its elements have run
                row.endedAt = momentOf(entry);
            }
            case "COMPENSATED" -> row.state = "compensated";
            case "SLEEP" -> row.sleepsUntil = entry.at();
            case "SIGNAL" -> row.hasSignal = true;
            default -> {} // decides nothing
        }
    }

    /** Returns when a node ended; the ends that a later try has kept may have no moment. */
    private static @Nullable Instant momentOf(StoredEntry entry) {
        return Instant.EPOCH.equals(entry.at()) ? null : entry.at();
    }

    private static String stateOf(@Nullable String state) {
        return switch (state) {
            case "SUCCESS" -> "succeeded";
            case "FAILED" -> "failed";
            case "TIMED_OUT" -> "timed-out";
            case "SKIPPED" -> "skipped";
            case null, default -> NO_END; // of a later version
        };
    }

    /** Returns the upstreams without an end for which a node waits. */
    private List<String> openUpstreams(Row row) {
        Map<String, List<String>> open = new TreeMap<>(); // by the kind of the dependency
        Map<String, Integer> succeeded = new TreeMap<>();
        for (PlanEdge edge : upstreams(row)) {
            if (stateOf(edge).equals("succeeded")) {
                succeeded.merge(edge.kind(), 1, Integer::sum);
            } else if (stateOf(edge).equals(NO_END)) {
                open.computeIfAbsent(edge.kind(), made -> new ArrayList<>()).add(edge.from());
            }
        }
        open.keySet().removeIf(kind -> succeeded.getOrDefault(kind, 0) >= enough(kind));
        return open.values().stream().flatMap(List::stream).toList();
    }

    private static int enough(String kind) {
        if (kind.equals("any")) {
            return 1;
        }
        return kind.startsWith("atLeast ") ? Integer.parseInt(kind.substring(8)) : Integer.MAX_VALUE;
    }

    private static List<PlanEdge> upstreams(Row row) {
        return row.plan == null ? List.of() : row.plan.upstreams();
    }

    private String stateOf(PlanEdge upstream) {
        Row from = rows.get(upstream.from());
        return from == null ? NO_END : from.state;
    }

    /** Returns when the last upstream of a node ended, or the run began; null if that is unknown. */
    private @Nullable Instant readyAt(Row row) {
        Instant latest = row.plan == null ? null : run.begunAt();
        for (PlanEdge edge : upstreams(row)) {
            Row from = rows.get(edge.from());
            Instant end = from == null ? null : from.endedAt;
            if (end == null || latest == null) {
                return null;
            }
            latest = end.isAfter(latest) ? end : latest;
        }
        return latest;
    }

    /** Returns the state of a node without an end, which follows from those of its upstreams and its run. */
    private Unended unended(Row row) {
        List<String> open = openUpstreams(row);
        Optional<PlanEdge> without = upstreams(row).stream()
                .filter(edge -> edge.kind().equals("must")
                        && !Set.of("succeeded", NO_END).contains(stateOf(edge)))
                .findFirst();
        if (run.state().isEnd() || isCompensating) {
            return new Unended(NO_END, "it was not reached, or its end follows from that of others or of the run");
        }
        if (without.isPresent()) {
            return new Unended(
                    NO_END, "its end follows from that of " + without.get().from());
        }
        if (!open.isEmpty()) {
            return new Unended("pending", "waits for " + String.join(", ", open));
        }
        if (row.sleepsUntil != null) {
            return new Unended("waiting", "sleeps until " + secondsOf(row.sleepsUntil));
        }
        if (run.begunAt() == null || (row.plan == null && !row.hasBegun)) {
            return new Unended("pending", null);
        }
        if (row.isSignal && !row.hasSignal) {
            return new Unended("waiting", "waits for its signal");
        }
        return run.state() == RunState.RUNNING
                ? new Unended("running", "runs, or waits for a permit or its next attempt")
                : new Unended("pending", "begins or continues with the run");
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
