package dev.raddle.cli;

import dev.raddle.cli.file.value.Durations;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Passwords;
import dev.raddle.cli.file.value.Rates;
import dev.raddle.cli.file.value.Spelling;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.OutputClosedException;
import dev.raddle.cli.run.SignalHandlers;
import dev.raddle.cli.run.StandardStreams;
import dev.raddle.task.Rate;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The {@code raddle} command. */
@Command(
        name = "raddle",
        description = "Runs commands in groups. Each group has a limit, so that many run at once, but not too many.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  Run a file of commands, show what would run, run the unsuccessful ones again:",
            "    raddle run checks.yaml",
            "    raddle run --dry-run checks.yaml",
            "    raddle run --resume raddle-runs/checks-20260131-093000",
            "  List the tasks of raddle.yaml, here or above, and run two of them:",
            "    raddle list",
            "    raddle run -j 8 build 'test-*'",
            "  Show the dependencies, and why a task did not run:",
            "    raddle graph build.yaml",
            "    raddle explain raddle-runs/build-20260131-093000 publish",
            "  Run a command for every line, two at once for each host:",
            "    raddle map --group-by '$${host}' --limit 2 curl -fsS < urls.txt",
            "  Show the limits that JVMs share through Redis:",
            "    raddle fleet --redis redis://localhost:6379",
            "  List the failed runs of flows in a database:",
            "    raddle flows list --state FAILED --db postgresql://localhost/shop",
            "",
            "Exit codes:",
            "    0  all succeeded",
            "    1  some failed",
            "    2  the file or the arguments are invalid; nothing ran",
            "    3  some were rejected by a queue limit",
            "    4  some failed, but no result of the flow depends on them",
            "   70  raddle itself could not continue",
            "  124  some timed out, or the run did",
            "  130  interrupted by Ctrl-C, SIGTERM or SIGHUP",
            "  141  the reader of the output closed it",
            "128+N  ended by another signal N",
            "If several apply: 70, 130, 141 and the 124 of a run before 4 before 1 before 124",
            "before 3."
        })
public final class Main implements Runnable {
    private static final List<String> COMMANDS = List.of(
            "run",
            "map",
            "check",
            "list",
            "graph",
            "explain",
            "schema",
            "completion",
            "man",
            "version",
            "fleet",
            "flows");

    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

    private Main() {}

    private static Object command(String name) {
        return switch (name) {
            case "run" -> new RunCommand();
            case "map" -> new MapCommand();
            case "check" -> new CheckCommand();
            case "list" -> new ListCommand();
            case "graph" -> new GraphCommand();
            case "explain" -> new ExplainCommand();
            case "schema" -> new SchemaCommand();
            case "fleet" -> new FleetCommand();
            case "flows" -> new FlowsCommand();
            case "completion" -> new CompletionCommand();
            case "man" -> new ManCommand();
            case "version" -> new VersionCommand();
            default -> throw new IllegalArgumentException("there is no command \"" + name + "\"");
        };
    }

    /** Starts the command. */
    public static void main(String[] args) {
        boolean any = args.length > 0 && args[0].equals("map"); // any bytes; others take names of files and tasks
        SignalHandlers.endByInterrupt();
        ExitCode.exit(run(any ? MapInput.exact(args) : args));
    }

    /** Returns the parser of all commands. */
    static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    private static CommandLine commandLine(List<String> commands) {
        CommandLine.tracer().setLevel(CommandLine.TraceLevel.OFF); // its warnings have the values of options
        CommandLine commandLine = new CommandLine(new Main());
        commands.forEach(name -> commandLine.addSubcommand(command(name)));
        commandLine.registerConverter(Duration.class, converter(Durations::parse));
        commandLine.registerConverter(Rate.class, converter(Rates::parse));
        commandLine.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Main::commandList);
        return commandLine;
    }

    /** Returns a converter of the texts of options, whose messages say what is right. */
    private static <T> ITypeConverter<T> converter(Function<String, T> parser) {
        return text -> {
            try {
                return parser.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        };
    }

    private static String commandList(Help help) {
        return help.commandList().replaceFirst("(?m)^(?=.*fleet)", "\nFleets of JVMs and flows in databases:\n");
    }

    /** Returns the commands of which the parser must know the options: reading those of the others takes time. */
    private static List<String> needed(String... args) {
        if (args.length == 1 && (args[0].equals("--version") || args[0].equals("-V"))) {
            return List.of();
        }
        boolean one = args.length > 0
                && COMMANDS.contains(args[0])
                && !args[0].equals("completion")
                && !args[0].equals("man");
        return one ? List.of(args[0]) : COMMANDS;
    }

    /** Runs the command and returns its exit code. */
    static int run(String... args) {
        CommandLine commandLine = commandLine(needed(args));
        for (String argument : args) {
            if (LocaleText.isDamaged(argument)) {
                return misused(new ParameterException(
                        commandLine,
                        "The locale's character set, " + LocaleText.CHARSET + ", cannot decode the argument '"
                                + Subcommand.shown(argument) + "'; set LC_ALL=C.UTF-8"));
            }
        }
        commandLine.setUsageHelpAutoWidth(true);
        commandLine.setExpandAtFiles(false); // an argument that begins with @ belongs to the command
        commandLine.setParameterExceptionHandler((e, given) -> misused(e));
        commandLine.setExecutionExceptionHandler((e, line, parsed) -> broken(e, line));
        // The arguments after the command of `map` belong to that command.
        CommandLine map = commandLine.getSubcommands().get("map");
        if (map != null) {
            map.setStopAtPositional(true);
        }
        try {
            int exitCode = commandLine.execute(args);
            // A PrintStream does not throw when a write fails.
            return exitCode == ExitCode.OK && System.out.checkError()
                    ? broken(StandardStreams.failureOfOutput(), commandLine)
                    : exitCode;
        } catch (Error e) {
            return broken(e, commandLine);
        }
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Name a command: " + String.join(", ", COMMANDS));
    }

    private static int misused(ParameterException e) {
        CommandLine line = e.getCommandLine();
        if (e instanceof CommandLine.UnmatchedArgumentException unmatched) {
            unmatched(unmatched, line);
        } else {
            line.getErr().println("raddle: " + Passwords.hidden(String.valueOf(e.getMessage())));
        }
        line.getErr().println("See: " + line.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.INVALID;
    }

    /**
     * Reports unknown arguments. The argument after an unknown option may be its value and has been parsed as something
     * else, so only the option is named.
     */
    private static void unmatched(CommandLine.UnmatchedArgumentException e, CommandLine line) {
        List<String> arguments = e.getUnmatched();
        String option = arguments.stream()
                .filter(argument -> argument.length() > 1 && argument.startsWith("-"))
                .findFirst()
                .orElse("");
        if (option.isEmpty()) {
            String first = Subcommand.shown(arguments.getFirst());
            Set<String> commands = line.getSubcommands().keySet();
            line.getErr()
                    .println(
                            commands.isEmpty()
                                    ? "raddle: One argument too many: '" + first + "'"
                                    : "raddle: There is no command '" + first + "'" + Spelling.hint(first, commands));
            return;
        }
        line.getErr().println("raddle: Unknown option: '" + Subcommand.shown(option) + "'");
        CommandLine.UnmatchedArgumentException.printSuggestions(e, line.getErr());
    }

    private static int broken(Throwable e, CommandLine line) {
        if (e instanceof OutputClosedException) {
            return ExitCode.OUTPUT_CLOSED; // such as before `| head`, where that is not an error
        }
        PrintWriter err = line.getErr();
        err.println("raddle: " + Failure.text(e));
        if (!(e instanceof IOException || e instanceof UncheckedIOException)) {
            e.printStackTrace(err);
        }
        return ExitCode.BROKEN;
    }
}
