package dev.raddle.console;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RecordedRun;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunFilter;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import dev.raddle.jdbc.StoredSchedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Shows runs that are kept in a database in a console, for programs that have {@code raddle-jdbc}. */
public final class DurableConsole {

    private DurableConsole() {}

    /**
     * Watches the runs in the database of a service, those of other processes, too. While a browser looks at them, the
     * database is read once a second, or less often if that takes long; while one looks at other screens, the runs that
     * are stuck are counted every ten seconds.
     *
     * <p>The dependencies of nodes, and the signals for which a run waits, are shown of flows that the service has
     * registered; only their runs can be signalled.
     *
     * @param console the console
     * @param name the name to show
     * @param service the service, which is referenced until it is closed or the result is
     * @return what ends this
     */
    public static Console.Watch watch(Console console, String name, FlowService service) {
        Objects.requireNonNull(service, "service");
        return console.durable.add(Objects.requireNonNull(name, "name"), new Source(service));
    }

    /**
     * Returns a run and its journal as a console shows them.
     *
     * @param run the run
     * @param entries its journal, as {@link FlowService#entries} returns it
     * @return the run, which does not change any more; its dependencies are unknown
     */
    public static RunView view(StoredRun run, List<StoredEntry> entries) {
        return new StoredRunView(
                run,
                entries,
                null,
                () -> RecordedRun.of(
                        entries.stream().flatMap(each -> each.entry().stream()).toList()));
    }

    private record Source(FlowService service) implements Durable.Source {

        private static final int MOST_COUNTED = 10_000;
        private static final int MOST_STUCK = 1_000;
        private static final int PAGE = 50;
        private static final int MOST_ENTRIES = 500;

        /** Those first that do not go on without a person. */
        private static final List<RunState> ORDER = List.of(
                RunState.STUCK,
                RunState.WITHOUT_VERSION,
                RunState.FAILED,
                RunState.TIMED_OUT,
                RunState.WAITING,
                RunState.RUNNING,
                RunState.DEGRADED,
                RunState.CANCELLED,
                RunState.SUCCESS);

        @Override
        public boolean isClosed() {
            return service.stats().isClosed();
        }

        @Override
        public boolean isUp() {
            return service.stats().isDatabaseAvailable();
        }

        @Override
        public int stuck() {
            return service.count(RunFilter.all().in(RunState.STUCK).limit(MOST_STUCK))
                    .getOrDefault(RunState.STUCK, 0);
        }

        // The list.

        @Override
        public Durable.Page page(View view) {
            try {
                RunFilter all = view.text("flow").isEmpty()
                        ? RunFilter.all()
                        : RunFilter.all().flow(view.text("flow"));
                Map<RunState, Integer> counts = service.count(all.limit(MOST_COUNTED));
                boolean isCut =
                        counts.values().stream().mapToInt(Integer::intValue).sum() >= MOST_COUNTED;
                List<RunState> states = states(view, isCut ? Set.copyOf(ORDER) : counts.keySet());
                String id = view.text("filter");
                return page(counts, isCut, id.isEmpty() ? list(all, states, view) : listOf(id, all, states));
            } catch (IllegalArgumentException notStorable) { // no run has such an id or flow
                return page(Map.of(), false, List.of());
            }
        }

        private static List<RunState> states(View view, Set<RunState> known) {
            String wanted = view.text("state");
            return ORDER.stream()
                    .filter(state -> wanted.isEmpty()
                            ? known.contains(state)
                            : wordOf(state).equals(wanted))
                    .toList();
        }

        private List<StoredRun> listOf(String id, RunFilter all, List<RunState> states) {
            return service.status(id)
                    .filter(run -> states.contains(run.state()))
                    .filter(run -> all.flow() == null || run.flow().equals(all.flow()))
                    .map(List::of)
                    .orElse(List.of());
        }

        /** Returns one run more than a page has, if there are so many behind the cursor: a state, a space, an id. */
        private List<StoredRun> list(RunFilter all, List<RunState> states, View view) {
            String[] cursor = view.text("after").split(" ", 2);
            List<StoredRun> found = new ArrayList<>();
            boolean isBehind = cursor.length < 2;
            for (RunState state : states) {
                boolean isCursor = cursor.length == 2 && wordOf(state).equals(cursor[0]);
                isBehind |= isCursor;
                if (isBehind && found.size() <= PAGE) {
                    RunFilter filter = all.in(state).limit(PAGE + 1 - found.size());
                    found.addAll(isCursor ? listBehind(cursor[1], filter) : service.list(filter));
                }
            }
            return found;
        }

        private List<StoredRun> listBehind(String run, RunFilter filter) {
            try {
                return service.list(filter.after(run));
            } catch (NoSuchElementException removed) {
                return List.of(); // those of the next states follow
            }
        }

        private Map<String, Durable.ScheduleRow> schedules() {
            Map<String, Durable.ScheduleRow> rows = new LinkedHashMap<>();
            for (StoredSchedule each : service.schedules()) {
                String moments = each.schedule().cron() + " " + each.schedule().zone();
                Instant next = each.nextAt();
                String why = each.problem() == null ? null : Failures.cut(each.problem());
                Long nextAt = next == null ? null : next.toEpochMilli();
                rows.put(each.name(), new Durable.ScheduleRow(each.flow(), moments, nextAt, why));
            }
            return rows;
        }

        private Durable.Page page(Map<RunState, Integer> counts, boolean isCut, List<StoredRun> found) {
            Map<String, Integer> words = new LinkedHashMap<>();
            ORDER.stream().filter(counts::containsKey).forEach(state -> words.put(wordOf(state), counts.get(state)));
            Map<String, Durable.RunRow> rows = new LinkedHashMap<>();
            String last = "";
            for (StoredRun run : found.subList(0, Math.min(PAGE, found.size()))) {
                rows.put(run.id(), row(run));
                last = wordOf(run.state()) + " " + run.id();
            }
            String next = found.size() > PAGE ? last : null;
            return new Durable.Page(words, isCut, List.copyOf(rows.keySet()), rows, next, schedules());
        }

        private static String wordOf(RunState state) {
            return StoredRunView.wordOf(state);
        }

        private static Durable.RunRow row(StoredRun run) {
            Instant until = run.waitsUntil();
            boolean sleeps = run.problem() == null && until != null && !until.equals(Instant.MAX);
            String reason = run.reason();
            return new Durable.RunRow(
                    run.flow(),
                    run.version(),
                    wordOf(run.state()),
                    sleeps || reason == null ? null : Failures.cut(reason),
                    sleeps && until != null ? until.toEpochMilli() : null,
                    run.worker(),
                    run.createdAt().toEpochMilli(),
                    run.endedAt() == null ? null : run.endedAt().toEpochMilli());
        }

        // One run.

        @Override
        public @Nullable Map<String, Object> run(String id) {
            StoredRun run = find(id);
            if (run == null) {
                return null;
            }
            List<StoredEntry> entries = service.entries(id);
            FlowPlan<?, ?> plan = planOf(run);
            Map<String, Object> data =
                    RunData.of(new StoredRunView(run, entries, plan, () -> service.recorded(run, entries)));
            data.remove("text"); // the history has the same
            data.put("changeable", true);
            data.put("again", run.state().isEnd());
            data.put("registered", plan != null);
            data.put("entries", entries.size());
            Map<String, Object> history = new LinkedHashMap<>();
            entries.stream()
                    .skip(Math.max(0, entries.size() - MOST_ENTRIES))
                    .forEach(entry -> history.put(entry.claim() + "." + entry.number(), entry(entry)));
            data.put("history", history);
            return data;
        }

        private @Nullable StoredRun find(String id) {
            try {
                return service.status(id).orElse(null);
            } catch (IllegalArgumentException notStorable) { // no run has such an id
                return null;
            }
        }

        private @Nullable FlowPlan<?, ?> planOf(StoredRun run) {
            return service.plan(run.flow(), run.version()).orElse(null);
        }

        private static Map<String, Object> entry(StoredEntry entry) {
            Map<String, Object> data = new LinkedHashMap<>();
            data.put("claim", entry.claim());
            data.put("text", entry.words());
            if (entry.node() != null) {
                data.put("node", entry.node());
            }
            Instant at = entry.recordedAt();
            if (at != null && at.isAfter(Instant.EPOCH)) {
                data.put("at", at.toEpochMilli());
            }
            if (entry.failure() != null) {
                data.put("error", Failures.cut(entry.failure().toString()));
            }
            return data;
        }

        // Controls.

        @Override
        public String apply(String action, String id, String node, @Nullable String text) {
            if (action.equals("pauseSchedule")) {
                service.pauseSchedule(id);
                return "schedule \"" + Failures.cut(id) + "\" is paused";
            }
            if (action.equals("resumeSchedule")) {
                service.resumeSchedule(id);
                return "schedule \"" + Failures.cut(id) + "\" is resumed";
            }
            StoredRun run = find(id);
            if (run == null) {
                throw new Refusal(404, "there is no such run; it may have been removed after its end");
            }
            return switch (action) {
                case "cancelRun" -> cancel(run, text == null ? "cancelled in the console" : text);
                case "rerun" -> rerun(run, node);
                case "signal" -> signal(run, node, text);
                default -> throw new Refusal(400, "there is no such action");
            };
        }

        private String cancel(StoredRun run, String reason) {
            if (!service.cancel(run.id(), reason)) {
                throw new Refusal(409, "the run has ended before");
            }
            return "the run will be cancelled by its worker, or has ended if it had not begun";
        }

        private String rerun(StoredRun run, String node) {
            if (node.isEmpty() && run.state() == RunState.SUCCESS) {
                throw new Refusal(409, "the run was successful; name the node to run again");
            }
            if (!service.rerun(run.id(), node.isEmpty() ? new String[0] : new String[] {node})) {
                throw new Refusal(409, "the run has not ended: it is " + wordOf(run.state()));
            }
            return "the run will be run again by the next free worker";
        }

        private String signal(StoredRun run, String node, @Nullable String text) {
            FlowPlan<?, ?> plan = planOf(run);
            if (plan == null) {
                throw new Refusal(
                        409,
                        "version " + run.version() + " of flow \"" + run.flow()
                                + "\" is not registered in this program,"
                                + " which cannot encode the value; send the signal from a program that has it");
            }
            if (!service.signal(run.id(), node, text == null ? null : WatchedRun.typed(plan, node, text))) {
                throw new Refusal(409, "node \"" + node + "\" or the run has ended, or the node has had its signal");
            }
            return "node \"" + node + "\" has its signal";
        }
    }
}
