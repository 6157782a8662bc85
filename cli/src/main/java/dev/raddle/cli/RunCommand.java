package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.page.RunPage;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.Journal;
import dev.raddle.cli.run.PlanWork;
import dev.raddle.cli.run.RunDirectory;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.RunSession;
import dev.raddle.cli.show.Console;
import dev.raddle.cli.show.Displays;
import dev.raddle.cli.show.DryRun;
import dev.raddle.cli.show.Screen;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a file of commands. */
@Command(
        name = "run",
        description = "Runs the commands of a file in groups with limits.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
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
            "  raddle run --fail-fast --json --out build/checks checks.yaml",
            "  raddle run --param day=monday --only report nightly.yaml",
            "  raddle run --resume build/checks"
        })
final class RunCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

    @Mixin
    private CommonOptions options = new CommonOptions();

    @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = "The run file, in YAML or JSON.")
    private @Nullable Path file;

    @Option(
            names = {"-o", "--out"},
            paramLabel = "DIR",
            description = "The run directory (default: raddle-runs/NAME-TIME).")
    private @Nullable Path out;

    @Option(
            names = "--resume",
            paramLabel = "DIR",
            description = "Run the unsuccessful tasks of this run directory again, with its copy of the file and data.")
    private @Nullable Path resume;

    @Option(
            names = {"-p", "--param"},
            paramLabel = "NAME=VALUE",
            description = "The value of a param of the file; may be repeated.")
    private Map<String, String> params = new LinkedHashMap<>();

    @Option(
            names = "--only",
            paramLabel = "TARGET",
            description = "Run only this task and its upstream tasks; may be repeated.")
    private List<String> only = new ArrayList<>();

    private final InstantSource clock = InstantSource.system();

    RunCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        if ((file == null) == (resume == null)) {
            throw wrong("Name either a FILE or --resume DIR");
        }
        if (resume != null && out != null) {
            throw wrong("--out cannot be combined with --resume, which continues in the directory it names");
        }
        if (resume != null && !params.isEmpty()) {
            throw wrong("--param cannot be combined with --resume, which uses the values of the first run");
        }
        options.checkReport(spec.commandLine());
        try {
            return resume != null ? resume(resume) : runFile(Objects.requireNonNull(file));
        } catch (InvalidFileException e) {
            String advice = resume == null ? "" : "; restore the file, or begin a new run";
            RunFile.print(e, ", nothing was run" + advice, spec.commandLine());
            return ExitCode.INVALID;
        }
    }

    private int runFile(Path path) throws IOException, InterruptedException, InvalidFileException {
        RunFile source = RunFile.of(path, params, spec.commandLine());
        Plan plan = source.plan();
        checkTargets(plan);
        if (options.dryRun()) {
            return dryRun(plan, Journal.Past.NONE);
        }
        RunDirectory directory = created(plan);
        try (Journal journal = opened(directory)) {
            directory.keep(source.origin(), plan.name(), plan.inputs(), clock.instant());
            return run(plan, directory, journal, Journal.Past.NONE);
        }
    }

    private RunDirectory created(Plan plan) {
        try {
            return out == null ? RunDirectory.createFresh(plan.name(), clock.instant()) : RunDirectory.create(out);
        } catch (FileAlreadyExistsException e) {
            throw wrong("--out must name a directory that contains no run yet, was \"" + out
                    + "\"; continue in it with --resume, or name another");
        } catch (DirectoryNotEmptyException e) {
            throw wrong("--out must name a directory that is new or empty, was \"" + out
                    + "\", which contains other files; name another");
        } catch (IOException e) {
            throw wrong("the run directory cannot be created, " + Failure.text(e));
        }
    }

    private int resume(Path path) throws IOException, InterruptedException, InvalidFileException {
        RunDirectory directory;
        try {
            directory = RunDirectory.reopen(path);
        } catch (NoSuchFileException e) {
            throw wrong("--resume must name a run directory, \"" + path + "\" has no " + e.getFile());
        }
        Plan plan = new RunFile(directory.origin()).plan();
        checkTargets(plan);
        if (options.dryRun()) {
            return dryRun(plan, directory.past(plan));
        }
        try (Journal journal = opened(directory)) {
            return run(plan, directory, journal, directory.past(plan));
        }
    }

    private Journal opened(RunDirectory directory) throws IOException {
        try {
            return Journal.open(directory.journal());
        } catch (Journal.JournalInUseException e) {
            throw wrong("the run directory must not be in use: " + e.getMessage());
        }
    }

    private int run(Plan plan, RunDirectory directory, Journal journal, Journal.Past past)
            throws IOException, InterruptedException {
        CommonOptions.warnOfProcesses(spec.commandLine());
        PlanWork work =
                new PlanWork(plan, directory, journal, past, options.report(), Set.copyOf(only), options.keepGoing());
        boolean onOut = options.json() || !options.quiet();
        try (Console console = onOut ? Console.out(System.getenv()) : Console.err(System.getenv())) {
            Screen screen = new Screen(console);
            Displays.Verbosity verbosity = options.quiet() ? Displays.Verbosity.QUIET : Displays.Verbosity.NORMAL;
            RunListener display = options.json() ? Displays.json(console) : Displays.of(screen, verbosity);
            RunPage page = new RunPage(plan, directory.page());
            return new RunSession(options.settings(), List.of(display), List.of(page), screen::restore, clock)
                    .run(work);
        }
    }

    private void checkTargets(Plan plan) {
        Set<String> ids = plan.byId().keySet();
        for (String target : only) {
            if (!ids.contains(target)) {
                throw wrong("--only must name a task of the file, was \"" + target + "\"" + plan.hint(target));
            }
        }
    }

    private int dryRun(Plan plan, Journal.Past past) throws IOException {
        Set<String> wanted = plan.closure(Set.copyOf(only));
        Set<String> left = new HashSet<>(); // the tasks that would not run
        long succeededBefore = 0;
        for (PlannedTask task : plan.tasks()) {
            boolean done = past.done(task.id()) != null;
            succeededBefore += done ? 1 : 0;
            if (done || !(only.isEmpty() || wanted.contains(task.id()))) {
                left.add(task.id());
            }
        }
        try (Console console = Console.out(System.getenv())) {
            new DryRun(console, options.json()).print(plan, left, succeededBefore);
        }
        return ExitCode.OK;
    }

    private ParameterException wrong(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
