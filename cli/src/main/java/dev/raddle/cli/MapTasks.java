package dev.raddle.cli;

import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.value.Backoff;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of {@code raddle map} about what runs for which input, in which group, and how often it is tried. */
final class MapTasks {
    @Mixin
    private MapInput input = new MapInput();

    @Option(names = "--commands", description = "There is no command: each line is a script for sh.")
    private boolean commands;

    @Option(
            names = {"-g", "--group-by"},
            paramLabel = "WHAT",
            description =
                    "The group of a line: a text with placeholders, such as $${host}, or a regular expression between"
                            + " slashes, of which the first group counts (default: all lines are one group).")
    private @Nullable String groupBy;

    @Option(names = "--timeout", paramLabel = "TIME", description = "How long an attempt may take, such as 30s.")
    private @Nullable Duration timeout;

    @Option(
            names = "--retry",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many attempts to make at most (default: 1).")
    private int attempts = 1;

    @Option(
            names = "--backoff",
            paramLabel = "TIME",
            defaultValue = "200ms..5s",
            description =
                    "The first pause between attempts, doubled each time, and the longest (default: ${DEFAULT-VALUE}).")
    private String backoff = "200ms..5s";

    @Option(names = "--shell", description = "Run the command, one word, by sh -c; values are quoted for it.")
    private boolean shell;

    /**
     * Opens the input, and returns the tasks.
     *
     * @param words the command, and after each {@code :::} its arguments
     * @param tagged whether the arguments precede each line of output
     * @param wrong the list to which invalid arguments and unreadable files are added
     * @return null if anything is wrong
     */
    @Nullable
    CommandLines read(List<String> words, boolean tagged, WrongArguments wrong, CommandLine commandLine)
            throws IOException {
        List<String> command = new ArrayList<>();
        List<List<String>> arguments = new ArrayList<>();
        List<String> current = command;
        for (String word : words) {
            if (word.equals(MapInput.ARGUMENTS)) {
                current = new ArrayList<>();
                arguments.add(current);
            } else {
                current.add(word);
            }
        }
        checkWords(words, command, wrong);
        wrong.addIf(timeout != null && timeout.isZero(), "--timeout must be longer than 0");
        Backoff pauses = wrong.valid("--backoff", () -> Backoff.parse(backoff));
        Retry retry =
                new Retry(wrong.atLeast("--retry", 1, attempts), Objects.requireNonNullElse(pauses, Backoff.DEFAULT));
        if (wrong.isEmpty() && input.readsStandardInput(arguments)) {
            Subcommand.warnOfTerminal(commandLine, "lines");
        }
        input.open(arguments, wrong);
        if (!wrong.isEmpty()) {
            return null;
        }
        Syntax syntax = input.syntax();
        CommandTemplate template = commands ? null : wrong.valid("the command", () -> template(command, syntax));
        GroupBy groups = wrong.valid("--group-by", () -> GroupBy.parse(groupBy, syntax));
        Path here = Path.of("").toAbsolutePath();
        return groups == null || !wrong.isEmpty()
                ? null
                : new CommandLines(input, template, groups, here, timeout, retry, tagged);
    }

    private CommandTemplate template(List<String> command, Syntax syntax) {
        return shell ? CommandLines.script(command.getFirst(), syntax) : CommandLines.words(command, syntax);
    }

    private void checkWords(List<String> words, List<String> command, WrongArguments wrong) {
        String first = command.isEmpty() ? "" : command.getFirst();
        if (commands && !command.isEmpty()) {
            wrong.add("with --commands each line is a command, so there must be no other, was \"" + first
                    + "\"; leave it or --commands out");
        } else if (commands && shell) {
            wrong.add("--commands cannot be combined with --shell; a shell runs each line anyway");
        } else if (!commands && command.isEmpty()) {
            wrong.add("name a command, such as echo; or use --commands if each line is one");
        } else if (shell && command.size() > 1) {
            wrong.add("with --shell the command must be one word, was " + command.size() + "; put it between quotes");
        } else if (!shell && command.size() == 1 && first.contains(" ") && !new File(first).exists()) {
            wrong.add("there is no program \"" + first
                    + "\"; pass its words as separate arguments, or use --shell to have a shell parse them");
        }
        for (String word : List.of("::::", ":::+", "::::+")) {
            wrong.addIf(
                    words.contains(word),
                    "\"" + word + "\" is not known; write -a FILE for a file, and --link to combine the first with the"
                            + " first");
        }
    }
}
