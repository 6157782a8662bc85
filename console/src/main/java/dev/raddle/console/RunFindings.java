package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.since;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What keeps a run from going on, in one sentence: the one reason that holds for the others. */
final class RunFindings {

    private record Held(String id, RunView.Node node, String why) {}

    private RunFindings() {}

    /** Returns the reason of the node that holds the run; null if a node runs, or the run has ended. */
    static @Nullable String why(RunView run) {
        Held held = held(run, run.nodes());
        return held == null ? null : "node \"" + held.id + "\" " + held.why;
    }

    /** Returns a finding about a run that began before a moment and does not go on; else null. */
    static @Nullable Finding of(RunView run, Finding.@Nullable Link link, long before) {
        if (run.endedAt() != null || run.startedAt().toEpochMilli() > before) {
            return null;
        }
        Map<String, ? extends RunView.Node> nodes = run.nodes();
        Held held = held(run, nodes);
        if (held == null) {
            return null;
        }
        Instant ready = held.node.readyAt();
        long since = (ready == null ? run.startedAt() : ready).toEpochMilli();
        long waiting = nodes.values().stream()
                .filter(node -> List.of("pending", "waiting").contains(node.state()))
                .count();
        Draft draft = new Draft(
                "run",
                held.node.takesSignal() ? Level.note : Level.slow,
                run.name() + " " + run.label() + " " + run.startedAt(),
                since,
                link);
        Object name = name(run.label().isEmpty() ? run.name() : run.name() + " " + run.label(), link);
        draft.say("Run {}: node {} {}, for {}.", name, name(held.id, link), held.why, since(since));
        if (waiting > 1) {
            draft.say(" {} for it or others.", counted(waiting - 1, "node waits", "nodes wait"));
        }
        return draft.done();
    }

    private static @Nullable Held held(RunView run, Map<String, ? extends RunView.Node> nodes) {
        Held held = null;
        for (Map.Entry<String, ? extends RunView.Node> each : nodes.entrySet()) {
            RunView.Node node = each.getValue();
            if (node.state().equals("running") || run.endedAt() != null) {
                return null;
            }
            String why = node.state().equals("waiting") ? node.why() : null;
            if (held == null && why != null) {
                held = new Held(each.getKey(), node, why);
            }
        }
        return held;
    }
}
