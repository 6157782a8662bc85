package dev.raddle.cli;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.value.Backoff;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.Halt;
import dev.raddle.cli.run.JobLog;
import dev.raddle.cli.run.Journal;
import dev.raddle.cli.run.LineTasks;
import dev.raddle.cli.run.LineWork;
import dev.raddle.cli.run.RunClock;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.RunSession;
import dev.raddle.cli.run.WorkFiles;
import dev.raddle.cli.show.Console;
import dev.raddle.cli.show.Displays;
import dev.raddle.cli.show.DryRun;
import dev.raddle.cli.show.OutputPrinter;
import dev.raddle.cli.show.RunList;
import dev.raddle.cli.show.Screen;
import dev.raddle.task.Rate;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a command for every line of standard input, of files, or for every argument after {@code :::}. */
@Command(
        name = "map",
        description = "Runs a command for every line of input, in groups with limits.",
        footer = {
            "",
            "The input is standard input, the files of -a, or the arguments after :::.",
            "Each line is one argument, whatever bytes it has. A command without a",
            "placeholder gets the line as its last argument; otherwise",
            "  {}   {.}   {/}    the line, without its extension, its last name,",
            "  {//} {/.}         its directory, its last name without extension,",
            "  {1}  {1.}  {NAME} one of several values, or a column, with the same parts,",
            "  {#}  $${n}         the number of the command,",
            "  $${line} $${host}   the line, the host of a line that is a URL.",
            "Other braces are text. Several values are several arguments. Commands start",
            "while the input is still open; their output is printed when they have ended.",
            "",
            "Examples:",
            "  Two at once for each host, three attempts:",
            "    raddle map --group-by '$${host}' -j 2 --retry 3 curl -fsS < urls.txt",
            "  Eight at once, output in the order of the arguments:",
            "    raddle map -j 8 -k lame {} -o {.}.mp3 ::: *.wav",
            "  As many names for each command as fit:",
            "    find . -name '*.log' -print0 | raddle map -0 -n max mv {} old",
            "  Every combination; a script for each line:",
            "    raddle map echo {1} {2} ::: red green ::: S M L",
            "    raddle map --shell 'grep -c x {} || true' < files.txt"
        })
final class MapCommand extends Subcommand {
    private static final Pattern LIMIT = Pattern.compile("([0-9]{1,9})(%?)");

    @Mixin
    private CommonOptions options = new CommonOptions();

    @Mixin
    private MapInput input = new MapInput();

    @Parameters(
            arity = "0..*",
            paramLabel = "CMD",
            description = "The command, which options must precede; after it, ::: and its arguments, also repeated.")
    private List<String> words = new ArrayList<>();

    @Option(names = "--commands", description = "There is no command: each line is a script for sh.")
    private boolean commands;

    @Option(names = "--dry-run", description = "Show what would run, in which group; run nothing.")
    private boolean dryRun;

    @Option(
            names = "--halt",
            paramLabel = "WHEN,WHY",
            description = "Stop when fail=N or success=N commands, or that percentage of those that have ended, have"
                    + " failed or succeeded: soon lets running commands end, now sends them SIGTERM.")
    private @Nullable String halt;

    @Option(names = "--fail-fast", description = "The same as --halt now,fail=1.")
    private boolean failFast;

    @Option(names = "--tag", description = "Print the arguments and a tab before each line of output.")
    private boolean tag;

    @Option(
            names = "--joblog",
            paramLabel = "FILE",
            description = "Write a line for each command that has ended to this file, in the columns of GNU parallel.")
    private @Nullable Path jobLog;

    @Option(names = "--resume", description = "Run only the commands that --joblog does not have.")
    private boolean resume;

    @Option(names = "--resume-failed", description = "The same, and those that failed.")
    private boolean resumeFailed;

    @Option(
            names = "--bar",
            description = "Show the progress on standard error also with --quiet, --json or without a terminal.")
    private boolean bar;

    @Option(
            names = {"-g", "--group-by"},
            paramLabel = "WHAT",
            description =
                    "The group of a line: a text with placeholders, such as $${host}, or a regular expression between"
                            + " slashes, of which the first group counts (default: all lines are one group).")
    private @Nullable String groupBy;

    @Option(
            names = {"-j", "-P", "--jobs", "--limit"},
            paramLabel = "N",
            description = "How many run at once in each group: a number, a percentage of the processors, or 0 for no"
                    + " limit (default: one for each processor).")
    private String limit = "100%";

    @Option(
            names = "--queue",
            paramLabel = "N",
            description = "How many may wait in each group; further lines are rejected (default: no limit).")
    private @Nullable Integer queue;

    @Option(
            names = "--total",
            paramLabel = "N",
            description = "How many run at once in all (default: 256, or --limit if that is more).")
    private @Nullable Integer total;

    @Option(
            names = "--rate",
            paramLabel = "N/TIME",
            description = "How many start per time in each group, such as 5/s or 300/m (default: no limit).")
    private @Nullable Rate rate;

    @Option(
            names = "--burst",
            paramLabel = "N",
            description = "How many of a group may start at once after a pause (default: the number of --rate).")
    private @Nullable Integer burst;

    @Option(
            names = "--total-rate",
            paramLabel = "N/TIME",
            description = "How many start per time in all (default: no limit).")
    private @Nullable Rate totalRate;

    @Option(
            names = "--total-burst",
            paramLabel = "N",
            description = "How many may start at once in all after a pause (default: the number of --total-rate).")
    private @Nullable Integer totalBurst;

    @Option(
            names = "--read-ahead",
            paramLabel = "N",
            defaultValue = "10000",
            description = "How many lines may be unfinished before reading pauses (default: ${DEFAULT-VALUE}).")
    private int readAhead = 10_000;

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

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Keep what each command prints, a journal and a report in this run directory.")
    private @Nullable Path results;

    @Option(
            names = {"-k", "--keep-order"},
            description = "Print output in the order of the input.")
    private boolean keepOrder;

    @Option(names = "--shell", description = "Run the command, one word, by sh -c; values are quoted for it.")
    private boolean shell;

    private final InstantSource clock = new RunClock();
    private final List<String> problems = new ArrayList<>();

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.checkReport(spec.commandLine());
        CommonOptions.checkFile(spec.commandLine(), "--joblog", jobLog);
        Limits limits = limits();
        Halt halting = halting();
        CommandLines tasks = tasks();
        if (tasks == null || !problems.isEmpty()) {
            throw wrong(String.join("\nraddle: ", problems));
        }
        if (dryRun) {
            return dryRun(tasks);
        }
        boolean keeps = results != null || options.json();
        try (WorkFiles files = keeps ? new WorkFiles(created(results, "map"), true) : WorkFiles.temporary()) {
            List<Path> reports = Stream.of(files.kept() ? files.directory().report() : null, options.report())
                    .filter(Objects::nonNull)
                    .toList();
            try (@Nullable
                    Journal journal = reports.isEmpty()
                            ? null
                            : Journal.open(files.directory().journal())) {
                LineWork work = new LineWork(tasks, limits, files, journal, reports, readAhead);
                return run(work, tasks, files, new RunSession.Settings(options.grace(), halting));
            }
        } catch (Journal.JournalInUseException e) {
            throw wrong("the run directory must not be in use: " + e.getMessage());
        }
    }

    private @Nullable Halt halting() throws IOException {
        String text = halt;
        if (text != null && failFast) {
            problems.add("--fail-fast cannot be combined with --halt; leave it out");
        }
        if (text == null) {
            return failFast ? Halt.failFast() : null;
        }
        return valid("--halt", () -> Halt.parse(text));
    }

    private Limits limits() throws IOException {
        GroupRule rule = new GroupRule(
                Objects.requireNonNullElse(valid("--limit", () -> limit(limit)), 1),
                queue == null ? null : (Integer) atLeast("--queue", 0, queue),
                null,
                rate(rate, burst, "--"));
        atLeast("--read-ahead", 1, readAhead);
        return new Limits(
                rule,
                Map.of(),
                total == null ? Limits.defaultTotal(rule, Map.of()) : atLeast("--total", 1, total),
                Limits.UNLIMITED,
                rate(totalRate, totalBurst, "--total-"));
    }

    private static int limit(String text) {
        Matcher number = LIMIT.matcher(text);
        if (!number.matches()) {
            throw new IllegalArgumentException("must be a number of commands at once, 0 for no limit, or a percentage"
                    + " of the processors such as 50%, was \"" + text + "\"");
        }
        int n = Integer.parseInt(number.group(1));
        if (!number.group(2).isEmpty()) {
            return (int) Math.max(1, (long) n * Runtime.getRuntime().availableProcessors() / 100);
        }
        return n == 0 ? Limits.UNLIMITED : n;
    }

    private @Nullable Rate rate(@Nullable Rate given, @Nullable Integer tasks, String prefix) {
        if (tasks != null && given == null) {
            problems.add(prefix + "burst needs " + prefix + "rate");
        }
        return tasks == null || given == null ? given : given.burst(atLeast(prefix + "burst", 1, tasks));
    }

    private @Nullable CommandLines tasks() throws IOException {
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
        checkWords(command);
        if (timeout != null && timeout.isZero()) {
            problems.add("--timeout must be longer than 0");
        }
        Backoff pauses = valid("--backoff", () -> Backoff.parse(backoff));
        Retry retry = new Retry(atLeast("--retry", 1, attempts), pauses == null ? Backoff.DEFAULT : pauses);
        if ((resume || resumeFailed) && jobLog == null) {
            problems.add("--resume needs a log of what has run; write --joblog FILE, here and in the run before");
        }
        if (problems.isEmpty() && input.readsStandardInput(arguments)) {
            warnOfTerminal(spec.commandLine(), "lines");
        }
        input.open(arguments, problems);
        if (!problems.isEmpty()) {
            return null;
        }
        Syntax syntax = input.syntax();
        CommandTemplate template = commands
                ? null
                : valid(
                        "the command",
                        () -> shell
                                ? CommandLines.script(command.getFirst(), syntax)
                                : CommandLines.words(command, syntax));
        GroupBy groups = valid("--group-by", () -> GroupBy.parse(groupBy, syntax));
        if (groups == null || !problems.isEmpty()) {
            return null;
        }
        Path here = Path.of("").toAbsolutePath();
        CommandLines tasks = new CommandLines(input, template, groups, here, timeout, retry, tag && !options.json());
        Path log = jobLog;
        return (resume || resumeFailed) && log != null
                ? valid("--joblog", () -> tasks.resume(JobLog.read(log), resumeFailed))
                : tasks;
    }

    private void checkWords(List<String> command) {
        String first = command.isEmpty() ? "" : command.getFirst();
        if (commands && !command.isEmpty()) {
            problems.add("with --commands each line is a command, so there must be no other, was \"" + first
                    + "\"; leave it or --commands out");
        } else if (commands && shell) {
            problems.add("--commands cannot be combined with --shell; a shell runs each line anyway");
        } else if (!commands && command.isEmpty()) {
            problems.add("name a command, such as echo; or use --commands if each line is one");
        } else if (shell && command.size() > 1) {
            problems.add(
                    "with --shell the command must be one word, was " + command.size() + "; put it between quotes");
        } else if (!shell && command.size() == 1 && first.contains(" ") && !new File(first).exists()) {
            problems.add("there is no program \"" + first
                    + "\"; pass its words as separate arguments, or use --shell to have a shell parse them");
        }
        for (String word : List.of("::::", ":::+", "::::+")) {
            if (words.contains(word)) {
                problems.add("\"" + word + "\" is not known; write -a FILE for a file, and --link to combine the"
                        + " first with the first");
            }
        }
    }

    private interface Reading<T> {
        T read() throws IOException;
    }

    /** Returns the value, or null if it is invalid, which is added to the problems. */
    private <T> @Nullable T valid(String name, Reading<T> reading) throws IOException {
        try {
            return reading.read();
        } catch (IllegalArgumentException e) {
            problems.add(name + " " + e.getMessage());
            return null;
        }
    }

    private int atLeast(String option, int least, int value) {
        if (value < least) {
            problems.add(option + " must be at least " + least + ", was " + value);
        }
        return Math.max(least, value);
    }

    private int run(LineWork work, CommandLines tasks, WorkFiles files, RunSession.Settings settings)
            throws IOException, InterruptedException {
        CommonOptions.warnOfProcesses(spec.commandLine());
        Map<String, String> environment = System.getenv();
        try (Console stdout = Console.out(environment);
                Console stderr = Console.err(environment);
                @Nullable JobLog log = jobLog == null ? null : new JobLog(jobLog, resume || resumeFailed, files::out)) {
            Consumer<String> printed = id -> {
                if (log != null) {
                    log.printed(id);
                }
                work.finished();
            };
            Screen screen = new Screen(stderr);
            List<RunListener> displays = new ArrayList<>();
            if (log != null) {
                displays.add(log);
            }
            if (options.json()) {
                displays.add(Displays.json(stdout));
                displays.add(event -> {
                    if (event instanceof RunEvent.TaskEnded ended) {
                        printed.accept(ended.result().id());
                    }
                });
            } else {
                displays.add(new OutputPrinter(
                        stdout,
                        stderr,
                        screen,
                        id -> new OutputPrinter.Printed(files.out(id), files.err(id), files.kept(), tasks.takeTag(id)),
                        printed,
                        keepOrder));
            }
            if (bar) {
                displays.addAll(Displays.bar(screen));
            } else if (!options.json()) {
                displays.add(Displays.of(screen, options.quiet()));
            }
            RunList list = new RunList(screen, spec.commandLine().getErr());
            displays.add(list);
            return new RunSession(settings, displays, List.of(), list, clock).run(work);
        } catch (Journal.JournalInUseException e) {
            throw wrong("--joblog must name a file that no other run writes to: " + e.getMessage());
        }
    }

    private int dryRun(LineTasks tasks) throws IOException {
        int exitCode = ExitCode.OK;
        try (Console console = Console.out(System.getenv())) {
            DryRun display = new DryRun(console, options.json());
            for (LineTasks.LineTask next = tasks.next(); next != null; next = tasks.next()) {
                if (next.error().isEmpty()) {
                    display.printWithGroup(next.task());
                } else {
                    spec.commandLine().getErr().println("raddle: " + next.error());
                    exitCode = ExitCode.FAILED;
                }
            }
        }
        return exitCode;
    }
}
