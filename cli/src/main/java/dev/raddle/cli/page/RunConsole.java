package dev.raddle.cli.page;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.console.RunView;
import dev.raddle.group.GroupExecutor;

/** Shows a run in a browser while it goes on. Pages that are open at the end keep its last state: the report. */
public final class RunConsole implements AutoCloseable {
    private final Console console;

    /**
     * Opens a port.
     *
     * @param port the port on the loopback address, or 0 for a free one
     * @throws java.io.UncheckedIOException if the port is not free
     */
    public RunConsole(int port) {
        console = Console.start(ConsoleOptions.defaults().withPort(port));
    }

    /** Shows a run, and returns the address of its page. Called once. */
    public String show(RunView run) {
        console.watch(run);
        return console.uri() + "#/flow?id=r1";
    }

    /** Shows the groups of the run. */
    public void watch(GroupExecutor executor) {
        console.watch("run", executor);
    }

    /** Lets open pages have the last state, and ends. */
    @Override
    public void close() {
        console.close();
    }
}
