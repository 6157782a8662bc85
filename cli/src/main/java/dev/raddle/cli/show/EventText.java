package dev.raddle.cli.show;

import dev.raddle.cli.file.value.Durations;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.Account;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunEvent.AttemptFailed;
import dev.raddle.cli.run.RunEvent.AttemptStarted;
import dev.raddle.cli.run.RunEvent.RunEnded;
import dev.raddle.cli.run.RunEvent.RunStarted;
import dev.raddle.cli.run.Stop;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.TaskState;
import java.nio.file.Path;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Formats each event as one line. */
final class EventText {
    private static final int MAX_COMMAND = 120;
    private static final int MAX_NAME = 120;
    private static final int MAX_ERROR = 1000;
    private static final int MAX_IDS = 10;
    private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;

    private EventText() {}

    static AttributedString begin(RunStarted event) {
        StringBuilder text = new StringBuilder(Printable.oneLine(event.name()));
        if (event.tasks() >= 0) {
            text.append(": ").append(TextFormat.count(event.tasks(), "task", "tasks"));
            text.append(" in ").append(TextFormat.count(event.groups(), "group", "groups"));
        }
        if (event.succeededBefore() > 0) {
            text.append(", ").append(event.succeededBefore()).append(" succeeded before");
        }
        if (event.directory() != null) {
            text.append("; output in ").append(path(event.directory()));
        }
        return new AttributedString(text);
    }

    static AttributedString started(AttemptStarted event) {
        String again = event.attempt() == 1 ? "" : ", attempt " + event.attempt() + " of " + event.attempts();
        return line("start", PLAIN, task(event.id(), event.group()) + again);
    }

    static AttributedString retry(AttemptFailed event) {
        return line(
                "retry",
                PLAIN.foreground(AttributedStyle.YELLOW),
                task(event.id(), event.group()) + ": " + Printable.oneLine(event.error()) + ", attempt "
                        + event.attempt() + " of " + event.attempts() + ", again in " + Durations.text(event.pause()));
    }

    static AttributedString ended(TaskResult result) {
        String task = task(result.id(), result.group());
        if (result.succeeded()) {
            return line(
                    "ok", PLAIN.foreground(AttributedStyle.GREEN), task + ", " + TextFormat.time(result.runMillis()));
        }
        AttributedStyle style = result.state() == TaskState.CANCELLED || result.state() == TaskState.SKIPPED
                ? PLAIN.foreground(AttributedStyle.YELLOW)
                : PLAIN.foreground(AttributedStyle.RED).bold();
        String why = result.error() == null
                ? result.state().text()
                : TextFormat.shortened(Printable.oneLine(result.error()), MAX_ERROR);
        String after = result.attempts() == 0 ? "" : ", " + TextFormat.time(result.runMillis());
        String output = result.output() == null ? "" : "; output in " + path(Path.of(result.output()));
        boolean unknown = result.output() == null && result.attempts() > 0;
        String command =
                unknown ? "; command: " + TextFormat.shortened(Printable.oneLine(result.command()), MAX_COMMAND) : "";
        return line(result.state().text(), style, task + ": " + why + after + output + command);
    }

    static AttributedString undone(RunEvent.TaskUndone event) {
        String error = event.error();
        return line(
                "undo",
                PLAIN.foreground(error == null ? AttributedStyle.YELLOW : AttributedStyle.RED),
                task(event.id(), event.group()) + (error == null ? ": undone" : ": " + Printable.oneLine(error)));
    }

    static AttributedString stopping(Stop.Reason reason) {
        String text = switch (reason) {
            case INTERRUPTED -> "interrupted: nothing new starts, running commands get SIGTERM (once more: SIGKILL)";
            case TERMINATED ->
                "terminated: nothing new starts, running commands may end, then get SIGTERM (once more: SIGKILL)";
            case FAIL_FAST -> "a task did not succeed: nothing new starts, running commands get SIGTERM";
            case TIMED_OUT -> "the time of the run is over: nothing new starts, running commands get SIGTERM";
            case FAILED -> "enough tasks failed: nothing new starts";
            case SUCCEEDED -> "enough tasks succeeded: nothing new starts";
            case OUTPUT_CLOSED -> "the output is closed: nothing new starts, running commands get SIGTERM";
            case BROKEN -> "raddle cannot continue: nothing new starts, running commands get SIGTERM";
        };
        return line("stop", PLAIN.foreground(AttributedStyle.YELLOW), text);
    }

    /** Formats the outcomes of all tasks of a run that was drained. */
    static AttributedString account(Account account) {
        List<String> ids = account.handedBack();
        StringBuilder text = new StringBuilder()
                .append(account.accepted() + " accepted: ")
                .append(account.completedBefore() + " completed before, ")
                .append(account.completedDuring() + " completed during, ")
                .append(account.interrupted() + " interrupted, ")
                .append(ids.size() + " handed back");
        if (!ids.isEmpty()) {
            List<String> named =
                    ids.stream().limit(MAX_IDS).map(EventText::name).toList();
            int more = ids.size() - named.size();
            text.append(" (").append(String.join(", ", named)).append(more > 0 ? " and " + more + " more)" : ")");
        }
        text.append(", ").append(account.stillRunning()).append(" still running");
        return line("account", PLAIN, text.toString());
    }

    static AttributedString end(RunEnded event) {
        boolean good = event.exitCode() == 0;
        String report = event.report() == null ? "" : "; report in " + path(event.report());
        AttributedStyle style = PLAIN.foreground(good ? AttributedStyle.GREEN : AttributedStyle.RED)
                .bold();
        return line("done", style, totals(event) + report);
    }

    /** Formats the outcomes of all tasks: 3 tasks: 2 succeeded, 1 failed, 3.21 s. */
    static String totals(RunEnded event) {
        return TextFormat.count(event.summary().totals().tasks(), "task", "tasks") + ": "
                + TextFormat.outcomes(event.summary().totals()) + ", "
                + TextFormat.time(event.summary().wall().toMillis());
    }

    /** Returns the name of a task or a group, shortened because data may have made it long. */
    private static String name(String text) {
        return TextFormat.shortened(Printable.oneLine(text), MAX_NAME);
    }

    private static String task(String id, String group) {
        return name(id) + " [" + name(group) + "]";
    }

    /** Returns the shortest form of a path, relative to the current directory if possible. */
    private static String path(Path path) {
        Path here = Path.of("").toAbsolutePath();
        Path absolute = path.toAbsolutePath().normalize();
        return Printable.oneLine((absolute.startsWith(here) ? here.relativize(absolute) : absolute).toString());
    }

    private static AttributedString line(String word, AttributedStyle style, String text) {
        return new AttributedStringBuilder()
                .styled(style, word)
                .append(" ".repeat(Math.max(1, 10 - word.length())))
                .append(text)
                .toAttributedString();
    }

    /** Returns whether the event is the end of a task that did not succeed, except a task that was only dropped. */
    static boolean isFailure(RunEvent event) {
        return event instanceof RunEvent.TaskEnded ended && !ended.result().succeeded() && !isDropped(ended.result());
    }

    /** Returns whether a task was never started because the run was stopped, or it was not needed. */
    static boolean isDropped(TaskResult result) {
        return result.attempts() == 0 && (result.state() == TaskState.CANCELLED || result.state() == TaskState.SKIPPED);
    }
}
