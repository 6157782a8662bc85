package dev.raddle.console;

import static dev.raddle.console.Finding.counted;

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
        Finding.Draft draft = new Finding.Draft(
                "run",
                held.node.takesSignal() ? Finding.Level.note : Finding.Level.slow,
                run.name() + " " + run.label() + " " + run.startedAt());
        draft.text("Run ").name(run.label().isEmpty() ? run.name() : run.name() + " " + run.label(), link);
        draft.text(": node ")
                .name(held.id, link)
                .text(" " + held.why + ", for ")
                .since(since)
                .text(".");
        if (waiting > 1) {
            draft.text(" " + counted(waiting - 1, "node") + (waiting == 2 ? " waits" : " wait") + " for it or others.");
        }
        draft.beganAt(since);
        return link == null ? draft.done() : draft.link(link).done();
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
