package dev.raddle.cli.show;

import dev.raddle.cli.run.Account;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/**
 * Shows bars on a terminal, and prints above them the end of each task; or only the end of each that failed, with its
 * last lines of output.
 */
final class LiveDisplay implements RunListener {
    private static final int LAST_LINES = 5;

    private final Screen screen;
    private final ProgressView view;
    private final boolean onlyFailures;
    private boolean begun;
    private boolean ended;

    LiveDisplay(Screen screen, LongSupplier nanos, boolean onlyFailures) {
        this.screen = screen;
        this.onlyFailures = onlyFailures;
        this.view = new ProgressView(nanos, screen.console().canDrawBlocks());
    }

    @Override
    public void on(RunEvent event) throws IOException {
        view.on(event);
        switch (event) {
            case RunEvent.RunStarted started -> {
                begun = true;
                screen.print(List.of(EventText.begin(started)));
            }
            case RunEvent.AttemptFailed failed -> screen.print(List.of(EventText.retry(failed)));
            case RunEvent.TaskUndone undone -> screen.print(List.of(EventText.undone(undone)));
            case RunEvent.RunStopping stopping -> screen.print(List.of(EventText.stopping(stopping.reason())));
            case RunEvent.TaskEnded task when !onlyFailures -> screen.print(List.of(EventText.ended(task.result())));
            case RunEvent.TaskEnded task when EventText.isFailure(event) -> failure(task);
            case RunEvent.RunEnded end -> {
                ended = true;
                List<AttributedString> last = new ArrayList<>(
                        view.lines(screen.console().columns(), screen.console().rows()));
                Account account = end.summary().account();
                if (account != null) {
                    last.add(EventText.account(account));
                }
                last.add(EventText.end(end));
                screen.clear();
                screen.print(last);
            }
            default -> {}
        }
    }

    private void failure(RunEvent.TaskEnded event) throws IOException {
        List<AttributedString> lines = new ArrayList<>();
        lines.add(EventText.ended(event.result()));
        for (String line : Tail.of(event.result().output(), LAST_LINES)) {
            lines.add(new AttributedString("    " + line, AttributedStyle.DEFAULT.faint()));
        }
        screen.print(lines);
    }

    @Override
    public void tick() throws IOException {
        if (begun && !ended) {
            screen.draw(view.lines(screen.console().columns(), screen.console().rows()));
        }
    }
}
