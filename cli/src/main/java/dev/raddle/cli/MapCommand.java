package dev.raddle.cli;

import dev.raddle.cli.file.Limits;
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
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
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
    @Mixin
    private CommonOptions options = new CommonOptions();

    @Mixin
    private MapTasks tasks = new MapTasks();

    @Mixin
    private MapLimits limits = new MapLimits();

    @Mixin
    private ResumeOptions log = new ResumeOptions();

    @Parameters(
            arity = "0..*",
            paramLabel = "CMD",
            description = "The command, which options must precede; after it, ::: and its arguments, also repeated.")
    private List<String> words = new ArrayList<>();

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
            names = "--bar",
            description = "Show the progress on standard error also with --quiet, --json or without a terminal.")
    private boolean bar;

    @Option(
            names = "--read-ahead",
            paramLabel = "N",
            defaultValue = "10000",
            description = "How many lines may be unfinished before reading pauses (default: ${DEFAULT-VALUE}).")
    private int readAhead = 10_000;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Keep what each command prints, a journal and a report in this run directory.")
    private @Nullable Path results;

    @Option(
            names = {"-k", "--keep-order"},
            description = "Print output in the order of the input.")
    private boolean keepOrder;

    private final InstantSource clock = new RunClock();
    private final WrongArguments problems = new WrongArguments();

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.checkReport(spec.commandLine());
        log.checkFile(spec.commandLine());
        Limits limit = limits.read(problems);
        problems.atLeast("--read-ahead", 1, readAhead);
        Halt halting = halting();
        log.check(problems);
        CommandLines commands = tasks();
        if (commands == null || !problems.isEmpty()) {
            throw wrong(problems.text());
        }
        if (dryRun) {
            return dryRun(commands);
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
                LineWork work = new LineWork(commands, limit, files, journal, reports, readAhead);
                return run(work, commands, files, new RunSession.Settings(options.grace(), halting));
            }
        } catch (Journal.JournalInUseException e) {
            throw wrong("the run directory must not be in use: " + e.getMessage());
        }
    }

    private @Nullable CommandLines tasks() throws IOException {
        CommandLines all = tasks.read(words, tag && !options.json(), problems, spec.commandLine());
        return all == null ? null : log.remaining(all, problems);
    }

    private @Nullable Halt halting() throws IOException {
        String text = halt;
        problems.addIf(text != null && failFast, "--fail-fast cannot be combined with --halt; leave it out");
        if (text == null) {
            return failFast ? Halt.failFast() : null;
        }
        return problems.valid("--halt", () -> Halt.parse(text));
    }

    private int run(LineWork work, CommandLines commands, WorkFiles files, RunSession.Settings settings)
            throws IOException, InterruptedException {
        CommonOptions.warnOfProcesses(spec.commandLine());
        Map<String, String> environment = System.getenv();
        try (Console stdout = Console.out(environment);
                Console stderr = Console.err(environment);
                @Nullable JobLog jobs = log.open(files::out)) {
            Consumer<String> printed = id -> {
                if (jobs != null) {
                    jobs.printed(id);
                }
                work.finished();
            };
            Screen screen = new Screen(stderr);
            List<RunListener> displays = new ArrayList<>();
            if (jobs != null) {
                displays.add(jobs);
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
                        id -> new OutputPrinter.Printed(
                                files.out(id), files.err(id), files.kept(), commands.takeTag(id)),
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

    private int dryRun(LineTasks commands) throws IOException {
        int exitCode = ExitCode.OK;
        try (Console console = Console.out(System.getenv())) {
            DryRun display = new DryRun(console, options.json());
            for (LineTasks.LineTask next = commands.next(); next != null; next = commands.next()) {
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
