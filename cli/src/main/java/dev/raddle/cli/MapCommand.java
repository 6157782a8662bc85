package dev.raddle.cli;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.value.Backoff;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.Journal;
import dev.raddle.cli.run.LineInput;
import dev.raddle.cli.run.LineTasks;
import dev.raddle.cli.run.LineWork;
import dev.raddle.cli.run.RunDirectory;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.RunSession;
import dev.raddle.cli.run.WorkFiles;
import dev.raddle.cli.show.Console;
import dev.raddle.cli.show.Displays;
import dev.raddle.cli.show.DryRun;
import dev.raddle.cli.show.OutputPrinter;
import dev.raddle.cli.show.Screen;
import dev.raddle.task.Rate;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a command for every line of standard input. */
@Command(
        name = "map",
        description = "Runs a command for every line of standard input, in groups with limits.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "In the command and in --group-by, {} and $${line} stand for the line, $${n}",
            "for its number, $${host} for the host of a line that is a URL. A command",
            "without any of them gets the line as its last argument. Commands start while",
            "the input is still open; the output of each is printed when it has ended.",
            "",
            "Examples:",
            "  Two at once for each host, three attempts:",
            "    raddle map --group-by '$${host}' --limit 2 --retry 3 curl -fsS < urls.txt",
            "  Eight at once, output in the order of the lines:",
            "    find . -name '*.log' | raddle map --limit 8 --keep-order gzip -kv",
            "  Grouped by the first word, with a shell, for which {} is quoted:",
            "    raddle map --group-by '/^(\\w+)/' --shell 'grep -c x {} || true' < files.txt"
        })
final class MapCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

    @Mixin
    private CommonOptions options = new CommonOptions();

    @Parameters(arity = "1..*", paramLabel = "CMD", description = "The command; options must precede it.")
    private List<String> command = new ArrayList<>();

    @Option(
            names = {"-g", "--group-by"},
            paramLabel = "WHAT",
            description =
                    "The group of a line: a text with placeholders, such as $${host}, or a regular expression between"
                            + " slashes, of which the first group counts (default: all lines are one group).")
    private @Nullable String groupBy;

    @Option(
            names = {"-j", "--limit"},
            paramLabel = "N",
            description =
                    "How many run at once in each group (default: 1 with --group-by, else one for each processor).")
    private @Nullable Integer limit;

    @Option(
            names = "--queue",
            paramLabel = "N",
            description = "How many may wait in each group; further lines are rejected (default: no limit).")
    private @Nullable Integer queue;

    @Option(
            names = "--global",
            paramLabel = "N",
            description = "How many run at once in all (default: 256, or --limit if that is more).")
    private @Nullable Integer global;

    @Option(
            names = "--rate",
            paramLabel = "N/TIME",
            converter = CommonOptions.RateConverter.class,
            description = "How many start per time in each group, such as 5/s or 300/m (default: no limit).")
    private @Nullable Rate rate;

    @Option(
            names = "--burst",
            paramLabel = "N",
            description = "How many of a group may start at once after a pause (default: the number of --rate).")
    private @Nullable Integer burst;

    @Option(
            names = "--global-rate",
            paramLabel = "N/TIME",
            converter = CommonOptions.RateConverter.class,
            description = "How many start per time in all (default: no limit).")
    private @Nullable Rate globalRate;

    @Option(
            names = "--global-burst",
            paramLabel = "N",
            description = "How many may start at once in all after a pause (default: the number of --global-rate).")
    private @Nullable Integer globalBurst;

    @Option(
            names = "--read-ahead",
            paramLabel = "N",
            defaultValue = "10000",
            description = "How many lines may be unfinished before reading pauses (default: ${DEFAULT-VALUE}).")
    private int readAhead = 10_000;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            converter = CommonOptions.DurationConverter.class,
            description = "How long an attempt may take, such as 30s.")
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
            names = {"-o", "--out"},
            paramLabel = "DIR",
            description = "Keep what each command prints, a journal and a report in this run directory.")
    private @Nullable Path out;

    @Option(names = "--keep-order", description = "Print output in the order of the lines.")
    private boolean keepOrder;

    @Option(names = "--shell", description = "Run the command, one word, by sh -c; values are quoted for it.")
    private boolean shell;

    private final InstantSource clock = InstantSource.system();

    MapCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.checkReport(spec.commandLine());
        Limits limits = limits();
        LineTasks tasks = tasks();
        LineInput input = new LineInput(new BufferedInputStream(System.in));
        if (options.dryRun()) {
            return dryRun(input, tasks);
        }
        try (WorkFiles files = files()) {
            boolean reports = files.kept() || options.report() != null;
            if (!reports) {
                return run(new LineWork(input, tasks, limits, files, null, List.of(), readAhead), files);
            }
            try (Journal journal = Journal.open(files.directory().journal())) {
                return run(new LineWork(input, tasks, limits, files, journal, reports(files), readAhead), files);
            }
        }
    }

    private Limits limits() {
        int defaultLimit = groupBy == null ? Runtime.getRuntime().availableProcessors() : 1;
        GroupRule rule = new GroupRule(
                atLeast("--limit", 1, limit == null ? defaultLimit : limit),
                queue == null ? null : (Integer) atLeast("--queue", 0, queue),
                null,
                rate(rate, burst, "--"));
        int total = global == null ? Limits.defaultTotal(rule, Map.of()) : atLeast("--global", 1, global);
        atLeast("--read-ahead", 1, readAhead);
        return new Limits(rule, Map.of(), total, Limits.UNLIMITED, rate(globalRate, globalBurst, "--global-"));
    }

    private @Nullable Rate rate(@Nullable Rate given, @Nullable Integer tasks, String prefix) {
        if (tasks == null) {
            return given;
        }
        if (given == null) {
            throw wrong(prefix + "burst needs " + prefix + "rate");
        }
        return given.burst(atLeast(prefix + "burst", 1, tasks));
    }

    private LineTasks tasks() {
        Path here = Path.of("").toAbsolutePath();
        if (shell && command.size() > 1) {
            throw wrong("with --shell the command must be one word, was " + command.size() + "; put it between quotes");
        }
        String first = command.getFirst();
        if (!shell && command.size() == 1 && first.contains(" ") && !Files.exists(here.resolve(first))) {
            throw wrong("there is no program \"" + first
                    + "\"; pass its words as separate arguments, or use --shell to have a shell parse them");
        }
        try {
            return new CommandLines(
                    shell ? CommandLines.script(first) : CommandLines.words(command),
                    GroupBy.parse(groupBy),
                    here,
                    timeout,
                    new Retry(atLeast("--retry", 1, attempts), Backoff.parse(backoff)));
        } catch (IllegalArgumentException e) {
            throw wrong(String.valueOf(e.getMessage()));
        }
    }

    private int atLeast(String option, int least, int value) {
        if (value < least) {
            throw wrong(option + " must be at least " + least + ", was " + value);
        }
        return value;
    }

    private WorkFiles files() throws IOException {
        try {
            if (out != null) {
                return new WorkFiles(RunDirectory.create(out), true);
            }
            return options.json()
                    ? new WorkFiles(RunDirectory.createFresh("map", clock.instant()), true)
                    : WorkFiles.temporary();
        } catch (FileAlreadyExistsException e) {
            throw wrong("--out must name a directory that contains no run yet, was \"" + out + "\"; name another");
        } catch (DirectoryNotEmptyException e) {
            throw wrong("--out must name a directory that is new or empty, was \"" + out
                    + "\", which contains other files; name another");
        }
    }

    private List<Path> reports(WorkFiles files) {
        List<Path> reports = new ArrayList<>();
        if (files.kept()) {
            reports.add(files.directory().report());
        }
        if (options.report() != null) {
            reports.add(options.report());
        }
        return reports;
    }

    private int run(LineWork work, WorkFiles files) throws IOException, InterruptedException {
        CommonOptions.warnOfProcesses(spec.commandLine());
        Map<String, String> environment = System.getenv();
        try (Console stdout = Console.out(environment);
                Console stderr = Console.err(environment)) {
            Screen screen = new Screen(stderr);
            List<RunListener> displays = new ArrayList<>();
            if (options.json()) {
                displays.add(Displays.json(stdout));
                displays.add(event -> {
                    if (event instanceof RunEvent.TaskEnded) {
                        work.finished();
                    }
                });
            } else {
                displays.add(new OutputPrinter(
                        stdout,
                        stderr,
                        screen,
                        id -> new OutputPrinter.Printed(files.out(id), files.err(id), files.kept()),
                        id -> work.finished(),
                        keepOrder));
                displays.add(
                        Displays.of(screen, options.quiet() ? Displays.Verbosity.QUIET : Displays.Verbosity.RESERVED));
            }
            return new RunSession(options.settings(), displays, List.of(), screen::restore, clock).run(work);
        }
    }

    private int dryRun(LineInput input, LineTasks tasks) throws IOException {
        int exitCode = ExitCode.OK;
        try (Console console = Console.out(System.getenv())) {
            DryRun dryRun = new DryRun(console, options.json());
            long number = 0;
            for (LineInput.Line line = input.next(); line != null; line = input.next()) {
                LineTasks.LineTask lineTask = tasks.of(line, ++number);
                if (lineTask.error().isEmpty()) {
                    dryRun.printWithGroup(lineTask.task());
                } else {
                    spec.commandLine().getErr().println("raddle: " + lineTask.error());
                    exitCode = ExitCode.FAILED;
                }
            }
        }
        return exitCode;
    }

    private ParameterException wrong(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
