package dev.raddle.cli.show;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.TaskResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Gives commands to the runner of GitHub Actions, which reads them from the output of a step: a group for the output of
 * each task, and an error for each failure. All the rest is printed while commands are stopped, by a token that no task
 * knows, because a task may print what looks like a command. At the end writes the summary of the step.
 *
 * @see <a href="https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands">Workflow
 *     commands</a>
 */
final class GitHubActions {
    private static final int MAX_ROWS = 100;

    private final Console console;
    private final boolean present;
    private final String summary; // the file, or empty
    private final List<TaskResult> failures = new ArrayList<>();
    private String name = "";
    private String token = "";

    /** Creates the commands for the runner that reads a console; nothing happens if none does. */
    GitHubActions(Console console, Map<String, String> environment) {
        this.console = console;
        this.present = "true".equals(environment.get("GITHUB_ACTIONS")) && !console.isTerminal();
        this.summary = present ? environment.getOrDefault("GITHUB_STEP_SUMMARY", "") : "";
    }

    void begin(String run) throws IOException {
        name = run;
        stopCommands();
    }

    void beginGroup(String id) throws IOException {
        command("group", id);
    }

    void endGroup() throws IOException {
        command("endgroup", "");
    }

    /** Makes a failure visible outside the log. */
    void failed(TaskResult result) throws IOException {
        failures.add(result);
        String title = data(result.id()).replace(":", "%3A").replace(",", "%2C");
        command("error title=" + title, why(result));
    }

    /** Gives the output back to the commands that follow raddle, and writes the summary. */
    void end(RunEvent.RunEnded event) throws IOException {
        resumeCommands();
        if (summary.isEmpty()) {
            return;
        }
        StringBuilder text = new StringBuilder("### " + cell(name) + "\n\n" + EventText.totals(event) + "\n");
        if (!failures.isEmpty()) {
            text.append("\n| task | state | why |\n|---|---|---|\n");
        }
        for (TaskResult result : failures.subList(0, Math.min(MAX_ROWS, failures.size()))) {
            text.append("| " + cell(result.id()) + " | " + result.state().text() + " | " + cell(why(result)) + " |\n");
        }
        if (failures.size() > MAX_ROWS) {
            text.append("\nand ").append(failures.size() - MAX_ROWS).append(" more\n");
        }
        Files.writeString(Path.of(summary), text.append('\n'), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static String why(TaskResult result) {
        return result.error() == null ? result.state().text() : result.error();
    }

    private void command(String command, String data) throws IOException {
        resumeCommands();
        write("::" + command + "::" + data(data));
        stopCommands();
    }

    private void stopCommands() throws IOException {
        token = UUID.randomUUID().toString();
        write("::stop-commands::" + token);
    }

    private void resumeCommands() throws IOException {
        write("::" + token + "::");
    }

    private void write(String line) throws IOException {
        if (present) {
            console.write(line + "\n");
        }
    }

    private static String data(String text) {
        return Printable.oneLine(text).replace("%", "%25");
    }

    /** Returns a text without meaning in Markdown. */
    private static String cell(String text) {
        return Printable.oneLine(text).replaceAll("[\\p{Punct}&&[^.;=/-]]", "\\\\$0");
    }
}
