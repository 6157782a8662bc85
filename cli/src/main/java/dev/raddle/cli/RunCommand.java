package dev.raddle.cli;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.page.PlanRun;
import dev.raddle.cli.page.RunConsole;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.Journal;
import dev.raddle.cli.run.Past;
import dev.raddle.cli.run.PlanWork;
import dev.raddle.cli.run.ReportForm;
import dev.raddle.cli.run.RunClock;
import dev.raddle.cli.run.RunDirectory;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.RunSession;
import dev.raddle.cli.show.Console;
import dev.raddle.cli.show.Displays;
import dev.raddle.cli.show.DryRun;
import dev.raddle.cli.show.OutputMode;
import dev.raddle.cli.show.RunList;
import dev.raddle.cli.show.Screen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a file of commands. */
@Command(
        name = "run",
        description = "Runs the commands of a file in groups with limits.",
        footer = {
            "",
            "A run file:",
            "  groups: { db: { limit: 1 }, web: { limit: 4 } }",
            "  tasks:",
            "    - { id: vacuum, group: db, run: [psql, -c, vacuum], timeout: 5m }",
            "    - { forEach: urls.txt, id: 'page-$${n}', group: web, run: 'curl -fsS $${line}' }",
            "    - { id: report, run: 'wc -c $${vacuum.stdout}', needs: [vacuum, { any: [page-1, page-2] }] }",
            "",
            "A text is run by sh -c, a list without a shell. Values are quoted, so that no",
            "line of data becomes code. The run directory keeps what each task printed, a",
            "journal, report.json and report.html.",
            "",
            "Examples:",
            "  raddle run checks.yaml",
            "  raddle run --dry-run checks.yaml",
            "  raddle run --fail-fast --json --results build/checks checks.yaml",
            "  raddle run --param day=monday nightly.yaml report",
            "  raddle run -j 8 'test-*'",
            "  raddle run --resume build/checks checks.yaml"
        })
final class RunCommand extends Subcommand {
    @Mixin
    private RunOptions options = new RunOptions();

    @Mixin
    private FileArguments arguments = new FileArguments();

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "TASK",
            description = "Run only these tasks and their upstream tasks. In an id, * stands for any characters and ?"
                    + " for one.")
    private List<String> tasks = new ArrayList<>();

    @Option(
            names = {"-j", "--jobs"},
            paramLabel = "N",
            description = "How many run at once in all, and in each group without a limit of its own; 0 for no limit"
                    + " (default: what the file says).")
    private @Nullable Integer jobs;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            description = "How long the run may take; then it ends as on Ctrl-C, with exit code 124 (default: what the"
                    + " file says).")
    private @Nullable Duration timeout;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "The run directory (default: raddle-runs/NAME-TIME).")
    private @Nullable Path results;

    @Option(
            names = "--resume",
            paramLabel = "DIR",
            description = "Continue in this run directory: run the tasks that have not succeeded there, with its copy"
                    + " of the file and data. With FILE, tasks that it changes and their downstream tasks run as well.")
    private @Nullable Path resume;

    @Option(
            names = "--output",
            paramLabel = "HOW",
            completionCandidates = Modes.class,
            converter = Modes.class,
            description = "How to print the output of tasks: files for not at all, because the run directory has it;"
                    + " group for that of each task as a whole at its end; prefix for each line as it comes, after the"
                    + " id of its task (default: files on a terminal, otherwise group).")
    private @Nullable OutputMode output;

    /** The names of the output modes. */
    static final class Modes extends Choice<OutputMode> {
        Modes() {
            super(OutputMode.class);
        }
    }

    @Option(
            names = "--console",
            paramLabel = "PORT",
            description = "Show the run in a browser while it goes on, at this port of this machine; 0 for a free one.")
    private @Nullable Integer port;

    private final List<String> problems = new ArrayList<>();
    private final InstantSource clock = new RunClock();

    RunCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        refuse(
                resume != null && results != null,
                "--results cannot be combined with --resume, which continues in the directory it names");
        refuse(output != null && options.json(), "--output cannot be combined with --json, which prints only events");
        refuse(jobs != null && jobs < 0, "--jobs must be at least 0, was " + jobs);
        refuse(port != null && (port < 0 || port > 65_535), "--console must be a port from 0 to 65535, was " + port);
        refuse(timeout != null && timeout.isZero(), "--timeout must be longer than 0");
        throwIfAny();
        options.checkReport(spec.commandLine());
        try {
            RunDirectory old = resume == null ? null : reopened(resume);
            RunFile source =
                    old == null || arguments.namesFile() ? arguments.read(spec.commandLine()) : kept(old.origin());
            Plan plan = source.plan(jobs != null && jobs == 0 ? (Integer) Limits.UNLIMITED : jobs, timeout);
            Set<String> only = targets(plan);
            if (options.dryRun()) {
                return dryRun(plan, past(old, plan), only);
            }
            refuse(
                    plan.secrets().isIn(paths()),
                    "neither --results nor --report may contain a secret, because they are kept and printed; name"
                            + " others");
            throwIfAny();
            try (RunConsole page = opened(plan.name())) { // before anything is written
                RunDirectory directory = old == null ? created(results, plan.name()) : old;
                try (Journal journal = Journal.open(directory.journal())) {
                    Past past = past(old, plan);
                    if (old == null || arguments.namesFile()) {
                        directory.keep(source.origin(), plan, clock.instant());
                    }
                    return run(plan, directory, journal, past, only, page);
                }
            }
        } catch (Journal.JournalInUseException e) {
            throw wrong("the run directory must not be in use: " + e.getMessage());
        } catch (InvalidFileException e) {
            String advice = resume == null || arguments.namesFile() ? "" : "; restore the file, or begin a new run";
            RunFile.print(e, ", nothing was run" + advice, spec.commandLine());
            return ExitCode.INVALID;
        }
    }

    /** Returns a kept file with the values of params that were not kept. */
    private RunFile kept(RunDirectory.Origin origin) throws InvalidFileException {
        Set<String> given = arguments.params().keySet();
        refuse(
                !given.isEmpty()
                        && !new RunFile(origin).draft().secrets().names().containsAll(given),
                "--param needs a FILE beside --resume, except for a secret; the other values are those of the earlier"
                        + " run");
        throwIfAny();
        return new RunFile(origin.with(arguments.params()));
    }

    private static Past past(@Nullable RunDirectory old, Plan plan) throws IOException, InvalidFileException {
        return old == null ? new Past() : old.past(plan);
    }

    private RunDirectory reopened(Path path) throws IOException {
        try {
            return RunDirectory.reopen(path);
        } catch (NoSuchFileException e) {
            throw noRun("--resume", path, e.getFile(), "; restore it, or begin a new run");
        } catch (IOException e) {
            throw wrong(Failure.text(e));
        }
    }

    private String paths() {
        return Stream.of(Path.of(""), results, resume, options.report())
                .filter(Objects::nonNull)
                .map(RunDirectory::shown)
                .collect(Collectors.joining("\n"));
    }

    private @Nullable RunConsole opened(String title) {
        try {
            return port == null ? null : new RunConsole(port, title);
        } catch (UncheckedIOException e) {
            throw wrong("--console: " + e.getMessage());
        }
    }

    private int run(
            Plan plan, RunDirectory directory, Journal journal, Past past, Set<String> only, @Nullable RunConsole page)
            throws IOException, InterruptedException {
        CommonOptions.warnOfProcesses(spec.commandLine());
        PlanWork work = new PlanWork(plan, directory, journal, past, options.report(), only, options.keepGoing());
        boolean onOut = options.json() || !options.quiet();
        try (Console console = onOut ? Console.out(System.getenv()) : Console.err(System.getenv())) {
            Screen screen = new Screen(console);
            RunListener display = options.json()
                    ? Displays.json(console)
                    : Displays.withOutput(screen, options.quiet(), output, work.logs(), System.getenv());
            PlanRun view = new PlanRun(plan, directory.page(), clock.instant());
            view.begin(directory.path(), past::done);
            RunList list = new RunList(screen, spec.commandLine().getErr());
            List<RunListener> listeners = new ArrayList<>(List.of(display, view, list));
            List<ReportForm> forms = new ArrayList<>(List.of(view));
            RunSession.Settings settings = options.settings(
                    page == null
                            ? null
                            : executor -> {
                                page.watch(executor);
                                view.watch(executor);
                            });
            if (page != null) {
                listeners.add(page);
                forms.add(page);
                spec.commandLine().getErr().println("raddle: the run is shown at " + page.show(view));
            }
            return new RunSession(settings, listeners, forms, list, clock).run(work);
        }
    }

    /** Returns the ids of the tasks that the arguments name; none if they name none. */
    private Set<String> targets(Plan plan) {
        List<String> words = new ArrayList<>(tasks);
        String first = arguments.other(spec);
        if (first != null) {
            words.addFirst(first);
        }
        Set<String> ids = plan.byId().keySet();
        Set<String> targets = new HashSet<>();
        for (String word : words) {
            Pattern glob = Pattern.compile(
                    Pattern.quote(word).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q"), Pattern.DOTALL);
            List<String> found = ids.contains(word)
                    ? List.of(word)
                    : ids.stream().filter(glob.asMatchPredicate()).toList();
            targets.addAll(found);
            if (found.isEmpty()) {
                problems.add("no task of the file is \"" + shown(word) + "\"" + hint(plan, word));
            }
        }
        throwIfAny();
        return targets;
    }

    private static String hint(Plan plan, String word) {
        int end = word.indexOf('=');
        if (end > 0) {
            return "; a param is set by --param " + Printable.oneLine(word.substring(0, end)) + "=VALUE";
        }
        String hint = plan.hint(word);
        return hint.isEmpty() ? "; raddle list names them (a FILE ends in .yaml, .yml or .json)" : hint;
    }

    private int dryRun(Plan plan, Past past, Set<String> only) throws IOException {
        Set<String> done = new HashSet<>(plan.byId().keySet());
        done.removeIf(id -> past.done(id) == null);
        Set<String> left = new HashSet<>(only.isEmpty() ? done : plan.byId().keySet()); // the tasks that would not run
        left.removeAll(plan.closure(only));
        left.addAll(done);
        try (Console console = Console.out(System.getenv())) {
            new DryRun(console, options.json()).print(plan, left, done.size());
        }
        return ExitCode.OK;
    }

    private void refuse(boolean isWrong, String problem) {
        if (isWrong) {
            problems.add(problem);
        }
    }

    private void throwIfAny() {
        if (!problems.isEmpty()) {
            throw wrong(String.join("\nraddle: ", problems));
        }
    }
}
