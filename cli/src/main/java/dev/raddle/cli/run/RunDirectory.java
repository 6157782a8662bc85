package dev.raddle.cli.run;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.data.InputFiles;
import dev.raddle.cli.file.data.JsonLine;
import dev.raddle.cli.file.value.FileSize;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The directory in which a run keeps its input and its results.
 *
 * <pre>
 * run.json        the run file's name and directory, and the time
 * plan.yaml       the run file; plan-2.yaml and so on if the run was resumed with another
 * inputs/         its data files; inputs-2/ and so on
 * journal.jsonl   a line for every process that was started and every task that ended
 * output/         the output of the tasks
 * values/         the standard output of tasks that others read
 * report.json     written at the end
 * report.html     the same for a browser
 * </pre>
 *
 * <p>run.json is written last, so a directory that contains it contains everything that a resumed run needs.
 */
public final class RunDirectory {
    /** Of the directories that are created: commands and their output may contain secrets. */
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneId.systemDefault());
    private static final String RUN = "run.json";
    private static final String JOURNAL = "journal.jsonl";
    private static final String PLAN = "plan.yaml";
    private static final String INPUTS = "inputs";
    private static final String OUTPUT = "output";
    private static final String VALUES = "values";

    private final Path path;

    private RunDirectory(Path path) {
        this.path = path;
    }

    /**
     * The input of a run.
     *
     * @param file the name of the run file, as the user gave it
     * @param directory the directory of the run file
     * @param text the content of the run file
     * @param inputs the data files
     * @param params the values of params that were given, by name
     */
    public record Origin(String file, Path directory, String text, InputFiles inputs, Map<String, String> params) {
        /** Returns this input with the values of further params. */
        public Origin with(Map<String, String> values) {
            Map<String, String> all = new LinkedHashMap<>(params);
            all.putAll(values);
            return new Origin(file, directory, text, inputs, all);
        }
    }

    /** Creates a directory below {@code raddle-runs}, named after the run and the time. */
    public static RunDirectory createFresh(String name, Instant now) throws IOException {
        return createFresh(name, now, Path.of(""));
    }

    static RunDirectory createFresh(String name, Instant now, Path below) throws IOException {
        String start = new OutputNames().name(name) + "-" + STAMP.format(now);
        Path parent = Files.createDirectories(below.resolve("raddle-runs"), PRIVATE);
        for (int i = 1; ; i++) {
            Path path = parent.resolve(i == 1 ? start : start + "-" + i);
            try {
                Files.createDirectory(path, PRIVATE);
                return prepared(path);
            } catch (FileAlreadyExistsException e) {
                // another run began in the same second
            }
        }
    }

    /**
     * Creates a directory that the user named, or uses it if it exists and contains at most what a run leaves that is
     * killed before it begins.
     *
     * @throws NotDirectoryException if it is a file
     * @throws FileAlreadyExistsException if it already contains a run
     * @throws DirectoryNotEmptyException if it contains anything else
     */
    public static RunDirectory create(Path path) throws IOException {
        if (Files.isRegularFile(path)) {
            throw new NotDirectoryException(path.toString());
        }
        Files.createDirectories(path, PRIVATE);
        try (Stream<Path> files = Files.list(path)) {
            if (!files.allMatch(RunDirectory::precedesRun)) {
                throw Files.exists(path.resolve(JOURNAL))
                        ? new FileAlreadyExistsException(path.toString())
                        : new DirectoryNotEmptyException(path.toString());
            }
        }
        return prepared(path);
    }

    /** Returns whether the file may be from before run.json was written, and so before anything ran. */
    private static boolean precedesRun(Path file) {
        return switch (String.valueOf(file.getFileName())) {
            case JOURNAL, JOURNAL + ".lock", PLAN, INPUTS, RUN + ".new" -> true;
            case OUTPUT, VALUES -> Arrays.equals(file.toFile().list(), new String[0]);
            default -> false;
        };
    }

    private static RunDirectory prepared(Path path) throws IOException {
        OutputFiles.checkNoLink(path.resolve(JOURNAL));
        for (String name : List.of(OUTPUT, VALUES)) {
            prepare(path.resolve(name));
        }
        return new RunDirectory(path);
    }

    /** Creates a directory for files of the run. Refuses a symbolic link, which would redirect them. */
    private static void prepare(Path path) throws IOException {
        if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(path + " must be a directory and not a symbolic link; remove it");
            }
            Files.createDirectory(path, PRIVATE);
        }
    }

    /** Writes a file that does not exist or is a regular file. */
    static void write(Path path, byte[] bytes) throws IOException {
        OutputFiles.checkNoLink(path);
        Files.write(
                path,
                bytes,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
    }

    static void write(Path path, String text) throws IOException {
        write(path, text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Opens the directory of an earlier run.
     *
     * @throws NoSuchFileException if it contains no run
     */
    public static RunDirectory reopen(Path path) throws IOException {
        existing(path);
        return prepared(path);
    }

    /**
     * Opens the directory of an earlier run for reading only.
     *
     * @throws NoSuchFileException if it contains no run; its file is the name of what is missing or empty
     */
    public static RunDirectory existing(Path path) throws IOException {
        for (String name : List.of(RUN, JOURNAL)) {
            if (path.resolve(name).toFile().length() == 0) {
                throw new NoSuchFileException(name);
            }
        }
        return new RunDirectory(path);
    }

    public Path path() {
        return path;
    }

    public Path journal() {
        return path.resolve(JOURNAL);
    }

    public Path report() {
        return path.resolve("report.json");
    }

    /** Returns the path of the report for a browser. */
    public Path page() {
        return path.resolve("report.html");
    }

    /** Returns the path of a file in the output directory. */
    public Path output(String name) {
        return path.resolve(OUTPUT).resolve(name);
    }

    /** Returns the output files of tasks, by id. The same plan gets the same files. */
    Map<String, OutputFiles> outputs(Plan plan) {
        Set<String> ids = plan.byId().keySet();
        Set<String> captured = new HashSet<>(plan.results());
        plan.tasks().forEach(task -> captured.addAll(PlanFlow.read(task, ids)));
        OutputNames names = new OutputNames();
        Map<String, OutputFiles> outputs = new LinkedHashMap<>();
        for (PlannedTask task : plan.tasks()) {
            String name = names.name(task.id());
            Path file = output(name + ".log");
            Capture capture = captured.contains(task.id())
                    ? new Capture(path.resolve(VALUES).resolve(name + ".out"))
                    : null;
            outputs.put(task.id(), new OutputFiles(file, null, true, shown(file), capture));
        }
        return outputs;
    }

    /**
     * Returns the record of the runs in this directory, as far as the next run can use it.
     *
     * @throws InvalidFileException if the journal is damaged
     */
    public Past past(Plan plan) throws IOException, InvalidFileException {
        Past past = Journal.read(journal());
        past.apply(plan, outputs(plan));
        return past;
    }

    /** Returns the name of a file in results: its absolute path, so that it can be read from any directory. */
    public static String shown(Path file) {
        return file.toAbsolutePath().normalize().toString();
    }

    /**
     * Keeps the input that a resumed run needs, except secrets, beside that of earlier runs. Until this returns, that
     * is the input.
     *
     * @param content the plan that was made of it
     */
    public void keep(Origin origin, Plan content, Instant now) throws IOException {
        String plan = PLAN;
        String folder = INPUTS;
        for (int i = 2; Files.exists(path.resolve(plan)) || Files.exists(path.resolve(folder)); i++) {
            plan = "plan-" + i + ".yaml";
            folder = INPUTS + "-" + i;
        }
        write(path.resolve(plan), origin.text);
        Map<String, String> kept = new LinkedHashMap<>();
        if (!content.inputs().isEmpty()) {
            prepare(path.resolve(folder));
        }
        OutputNames names = new OutputNames();
        for (Map.Entry<String, byte[]> input : content.inputs().entrySet()) {
            String file = folder + "/" + names.name(input.getKey());
            write(path.resolve(file), input.getValue());
            kept.put(input.getKey(), file);
        }
        Map<String, Object> run = new LinkedHashMap<>();
        run.put("plan", plan);
        run.put("name", content.name());
        run.put("file", origin.file);
        run.put("directory", origin.directory.toAbsolutePath().normalize());
        run.put("startedAt", now);
        run.put("inputs", kept);
        Map<String, String> params = new LinkedHashMap<>(origin.params);
        params.keySet().removeAll(content.secrets().names());
        run.put("params", params);
        WholeFile.write(path.resolve(RUN), writer -> writer.write(Json.text(run) + "\n"));
    }

    /**
     * Returns the input that was kept last.
     *
     * @throws InvalidFileException if a file of it is damaged
     */
    public Origin origin() throws IOException, InvalidFileException {
        JsonLine run = JsonLine.parse(text(RUN))
                .orElseThrow(() -> damaged(path.resolve(RUN), "the file must be a JSON object"));
        JsonLine inputs = run.object("inputs");
        Path directory = Path.of(run.text("directory").orElse(""));
        return new Origin(
                run.text("file").orElse(PLAN),
                directory,
                text(run.text("plan").orElse(PLAN)),
                name -> Files.readAllBytes(
                        path.resolve(inputs.text(name).orElseThrow(() -> new NoSuchFileException(name)))),
                run.object("params").texts());
    }

    private String text(String name) throws IOException, InvalidFileException {
        Path file = path.resolve(name);
        if (!Files.exists(file)) {
            throw damaged(file, "the file is missing");
        }
        return PlanReader.decoded(file.toString(), FileSize.PARSED.read(file));
    }

    private static InvalidFileException damaged(Path file, String problem) {
        return new InvalidFileException(List.of(new Problem(new Location(file.toString(), 1, 1), problem)));
    }
}
