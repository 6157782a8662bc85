package dev.raddle.cli.flows;

import dev.raddle.cli.run.Json;
import dev.raddle.cli.run.WholeFile;
import dev.raddle.console.DurableConsole;
import dev.raddle.console.RunPage;
import dev.raddle.console.RunView;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A run in a database with its journal as a text, for a page. */
record FlowsPage(RunView run, String text) implements RunView {

    /** Writes or replaces the page of a run. */
    static void write(StoredRun run, List<StoredEntry> entries, Path file) throws IOException {
        FlowsPage page = new FlowsPage(DurableConsole.view(run, entries), FlowsTable.run(run, entries));
        WholeFile.writeNamed(file, writer -> RunPage.write(page, Json::text, writer));
    }

    @Override
    public String name() {
        return run.name();
    }

    @Override
    public String label() {
        return run.label();
    }

    @Override
    public String state() {
        return run.state();
    }

    @Override
    public Instant startedAt() {
        return run.startedAt();
    }

    @Override
    public @Nullable Instant endedAt() {
        return run.endedAt();
    }

    @Override
    public Map<String, ? extends Node> nodes() {
        return run.nodes();
    }

    @Override
    public Map<String, String> facts() {
        return run.facts();
    }
}
