package dev.raddle.bench;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Measures everything that has a goal, and prints the tables of {@code docs/performance.md}. Arguments choose sections
 * or chapters by name; none means all. With {@code write}, each section whose chapters have all been measured replaces
 * the one on the page. A benchmark whose forks do not decide whether a goal is met has more of them, at most
 * {@value #FORKS_MAX}. With {@code short} everything runs once and briefly, to show that it runs: the numbers mean
 * nothing.
 */
public final class Report {

    private static final int FORKS_MAX = 10;
    private static final PerformancePage PAGE = new PerformancePage(Path.of("docs", "performance.md"));
    private static final Path PICTURES = Path.of("docs", "pictures");

    private final boolean brief;
    private final boolean writing;
    private final List<Chapter> chapters;
    private final Path logs;

    private Report(List<String> args) throws IOException {
        brief = args.contains("short");
        writing = args.contains("write") && !brief;
        List<String> names = args.stream()
                .filter(arg -> !arg.equals("short") && !arg.equals("write"))
                .toList();
        chapters = Chapter.ALL.stream()
                .filter(chapter -> names.isEmpty() || names.stream().anyMatch(chapter::isChosenBy))
                .toList();
        logs = Files.createTempDirectory("raddle-bench-");
    }

    /**
     * Runs the report.
     *
     * @param args {@code short}, {@code write}, names of sections, names of chapters or their beginnings
     * @throws IOException if JMH's log or the page cannot be written
     * @throws RunnerException if a benchmark fails
     */
    public static void main(String[] args) throws IOException, RunnerException {
        Report report = new Report(Arrays.asList(args));
        if (report.chapters.isEmpty()) {
            System.err.println("no such chapter; there are "
                    + Chapter.ALL.stream().map(Chapter::name).toList());
            System.exit(2);
        }
        report.run();
    }

    private void run() throws IOException, RunnerException {
        System.err.println("JMH writes to " + logs);
        Map<String, List<Chapter>> sections =
                chapters.stream().collect(groupingBy(Chapter::section, LinkedHashMap::new, toList()));
        for (Map.Entry<String, List<Chapter>> section : sections.entrySet()) {
            Instant begin = Instant.now();
            List<Row> rows = new ArrayList<>();
            for (Chapter chapter : section.getValue()) {
                System.err.println(chapter.name() + " ...");
                List<Row> found = measure(chapter);
                found.forEach(row -> System.err.println(row.line(!brief, null)));
                rows.addAll(found);
            }
            String machine = environment(Duration.between(begin, Instant.now()));
            String table = PerformancePage.table(section.getKey(), rows, !brief, machine);
            System.out.println(table);
            if (writing) {
                write(section.getKey(), table);
            }
        }
        if (brief) {
            System.out.println("A short run: it shows that the benchmarks run, and measures nothing.");
        }
    }

    private void write(String section, String table) throws IOException {
        if (isComplete(section)) {
            PAGE.replace(section, table);
            Files.writeString(
                    PICTURES.resolve("peers.svg"),
                    Comparisons.of(Files.readString(PAGE.file())).svg());
        } else {
            System.err.println("the page keeps its table \"" + section + "\": not all of its chapters were measured");
        }
    }

    private boolean isComplete(String section) {
        return Chapter.ALL.stream()
                .filter(chapter -> chapter.section().equals(section))
                .allMatch(chapters::contains);
    }

    private List<Row> measure(Chapter chapter) throws IOException, RunnerException {
        String missing = chapter.missing().get();
        if (!missing.isEmpty()) {
            return List.of(Row.skipped(chapter.name(), missing));
        }
        Path log = logs.resolve(chapter.name() + ".log");
        Effort effort = brief ? Effort.SHORT : Effort.FULL;
        Forks runner = new Forks(
                new JmhJvms(JmhJvms.ownClassPath(), log, effort),
                () -> CpuTimes.read(CpuTimes.PROC),
                effort.repeatsMax());
        Map<Trial, List<Fork>> forks = new LinkedHashMap<>();
        for (Trial trial : Trial.of(chapter.benchmark())) {
            forks.put(trial, runner.runAll(brief ? trial.brief() : trial));
        }
        while (true) {
            Results results =
                    new Results(forks.values().stream().flatMap(List::stream).toList());
            List<Row> rows = chapter.rows().apply(results);
            List<Trial> undecided = undecided(rows, forks);
            if (undecided.isEmpty()) {
                if (writing && chapter.benchmark() == Scale.class) {
                    draw(Scale.curves(results));
                }
                return rows;
            }
            for (Trial trial : undecided) {
                requireNonNull(forks.get(trial)).add(runner.run(trial));
            }
        }
    }

    private static void draw(List<Curve> curves) throws IOException {
        Files.createDirectories(PICTURES);
        for (Curve curve : curves) {
            Files.writeString(PICTURES.resolve("scale-" + curve.name() + ".svg"), curve.svg());
        }
    }

    /** Returns the trials that need one more fork, because a row to which they contribute cannot tell. */
    private List<Trial> undecided(List<Row> rows, Map<Trial, List<Fork>> forks) {
        if (brief) {
            return List.of();
        }
        Set<Fork> used = rows.stream()
                .filter(row -> row.verdict() == Row.Verdict.UNDECIDED)
                .flatMap(Row::forks)
                .collect(toSet());
        return forks.entrySet().stream()
                .filter(trial -> trial.getValue().size() < FORKS_MAX
                        && trial.getValue().stream().anyMatch(used::contains))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static String environment(Duration taken) {
        return "%s, %d processors, %s %s, JDK %s; load %.1f; %d min"
                .formatted(
                        processor(),
                        Runtime.getRuntime().availableProcessors(),
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        Runtime.version(),
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                        taken.toMinutes());
    }

    private static String processor() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            Optional<String> model = lines.filter(
                            line -> line.toLowerCase(Locale.ROOT).startsWith("model name"))
                    .findFirst();
            return model.map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException unknown) {
            return System.getProperty("os.arch");
        }
    }
}
