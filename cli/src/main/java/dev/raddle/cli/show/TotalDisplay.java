package dev.raddle.cli.show;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import java.io.IOException;
import java.util.function.LongSupplier;

/** Prints the total of all groups as a line: each second in which a task has ended, and at the end. */
final class TotalDisplay implements RunListener {
    private static final long PAUSE_NANOS = 1_000_000_000L;
    private static final int ONLY_TOTAL = 2; // rows of the terminal

    private final Screen screen;
    private final LongSupplier nanos;
    private final ProgressView view;
    private long printed;
    private boolean changed;

    TotalDisplay(Screen screen, LongSupplier nanos) {
        this.screen = screen;
        this.nanos = nanos;
        this.view = new ProgressView(nanos, screen.console().canDrawBlocks());
        this.printed = nanos.getAsLong();
    }

    @Override
    public void on(RunEvent event) throws IOException {
        view.on(event);
        changed |= event instanceof RunEvent.TaskEnded;
        if (event instanceof RunEvent.RunEnded) {
            print();
        }
    }

    @Override
    public void tick() throws IOException {
        if (changed && nanos.getAsLong() - printed >= PAUSE_NANOS) {
            print();
        }
    }

    private void print() throws IOException {
        printed = nanos.getAsLong();
        changed = false;
        screen.print(view.lines(screen.console().columns(), ONLY_TOTAL));
    }
}
