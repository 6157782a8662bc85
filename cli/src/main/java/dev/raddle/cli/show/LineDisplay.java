package dev.raddle.cli.show;

import dev.raddle.cli.run.Account;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.TaskState;
import java.io.IOException;
import java.util.List;
import org.jline.utils.AttributedString;

/** Prints a line for every event, or only for failures. */
final class LineDisplay implements RunListener {
    private final Screen screen;
    private final boolean onlyFailures;

    LineDisplay(Screen screen, boolean onlyFailures) {
        this.screen = screen;
        this.onlyFailures = onlyFailures;
    }

    @Override
    public void on(RunEvent event) throws IOException {
        switch (event) {
            case RunEvent.RunStarted started -> detail(EventText.begin(started));
            case RunEvent.TaskQueued queued -> {}
            case RunEvent.AttemptStarted started -> detail(EventText.started(started));
            case RunEvent.AttemptFailed failed -> detail(EventText.retry(failed));
            case RunEvent.TaskEnded ended -> ended(ended);
            case RunEvent.TaskUndone undone -> {
                if (undone.error() == null) {
                    detail(EventText.undone(undone));
                } else {
                    print(EventText.undone(undone));
                }
            }
            case RunEvent.RunStopping stopping -> print(EventText.stopping(stopping.reason()));
            case RunEvent.RunEnded ended -> {
                if (!onlyFailures || ended.exitCode() != 0) {
                    Account account = ended.summary().account();
                    if (account != null) {
                        print(EventText.account(account));
                    }
                    print(EventText.end(ended));
                }
            }
        }
    }

    private void ended(RunEvent.TaskEnded event) throws IOException {
        TaskResult result = event.result();
        if (EventText.isFailure(event)) {
            print(EventText.ended(result));
        } else if (result.state() == TaskState.SKIPPED || !EventText.isDropped(result)) {
            detail(EventText.ended(result));
        }
    }

    private void detail(AttributedString line) throws IOException {
        if (!onlyFailures) {
            print(line);
        }
    }

    private void print(AttributedString line) throws IOException {
        screen.print(List.of(line));
    }
}
