package dev.raddle.cli.flows;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.page.RecordedRun;
import dev.raddle.cli.page.RecordedRun.State;
import dev.raddle.console.DurableConsole;
import dev.raddle.console.RunView;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes a page of a run. */
final class FlowsPage {

    private FlowsPage() {}

    static RecordedRun of(StoredRun run, List<StoredEntry> entries) {
        List<RecordedRun.Node> nodes = new ArrayList<>();
        DurableConsole.view(run, entries).nodes().forEach((id, node) -> nodes.add(node(id, node)));
        return new RecordedRun(Printable.oneLine(run.id()), about(run), FlowsTable.run(run, entries), nodes);
    }

    private static RecordedRun.Node node(String id, RunView.Node node) {
        return new RecordedRun.Node(
                Printable.oneLine(id),
                stateOf(node.state()),
                Integer.parseInt(node.facts().getOrDefault("attempts", "0")),
                node.error() == null ? null : Printable.oneLine(node.error()),
                node.facts().get("value of"),
                printable(node.text()));
    }

    private static String printable(@Nullable String text) {
        return text == null
                ? ""
                : text.lines().map(line -> Printable.oneLine(line) + "\n").collect(Collectors.joining());
    }

    private static State stateOf(String state) {
        return switch (state) {
            case "succeeded" -> State.SUCCEEDED;
            case "failed" -> State.FAILED;
            case "timed-out" -> State.TIMED_OUT;
            case "skipped" -> State.SKIPPED;
            case "compensated" -> State.COMPENSATED;
            default -> State.NO_END;
        };
    }

    private static String about(StoredRun run) {
        String ended = run.endedAt() == null ? "" : " to " + FlowsTable.time(run.endedAt());
        return run.state() + " · flow " + Printable.oneLine(run.flow() + ", version " + run.version()) + " · "
                + FlowsTable.time(run.createdAt()) + ended;
    }
}
