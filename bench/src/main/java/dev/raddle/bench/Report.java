package dev.raddle.bench;

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
import java.util.function.Function;
import java.util.stream.Stream;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measures everything that has a goal, and prints the tables of {@code docs/performance.md}. Arguments choose sections
 * or chapters by name; none means all. With {@code write}, each section whose chapters have all been measured replaces
 * the one on the page. With {@code short} everything runs once and briefly, to show that it runs: the numbers mean
 * nothing.
 */
public final class Report {

    private record Chapter(String name, Class<?> benchmark, Function<Results, List<Row>> rows) {
        /** Returns the name of the section of the page that this chapter belongs to. */
        String section() {
            return PerformancePage.SECTIONS.stream()
                    .filter(section -> name.startsWith(section + "-"))
                    .findFirst()
                    .orElse(PerformancePage.GROUP);
        }

        boolean isChosenBy(String argument) {
            return name.startsWith(argument) || section().equals(argument);
        }
    }

    private static final List<Chapter> CHAPTERS = List.of(
            new Chapter("heap-task", HeapPerWaitingTask.class, HeapPerWaitingTask::rows),
            new Chapter("heap-group", HeapPerIdleGroup.class, HeapPerIdleGroup::rows),
            new Chapter("cpu", CpuPerTask.class, CpuPerTask::rows),
            new Chapter("cpu-serial", CpuPerSerialTask.class, CpuPerSerialTask::rows),
            new Chapter("cpu-reuse", CpuPerReusingTask.class, CpuPerReusingTask::rows),
            new Chapter("round-trip", RoundTrip.class, RoundTrip::rows),
            new Chapter("flood", WaitBehindFlood.class, WaitBehindFlood::rows),
            new Chapter("shares", ShareOfCap.class, ShareOfCap::rows),
            new Chapter("dispatch", Dispatch.class, Dispatch::rows),
            new Chapter("dispatch-threads", DispatchOnThreads.class, DispatchOnThreads::rows),
            new Chapter("cancel", Cancel.class, Cancel::rows),
            new Chapter("busy", StartBesideBusyGroups.class, StartBesideBusyGroups::rows),
            new Chapter("scope-structured", StructuredForkJoin.class, StructuredForkJoin::rows),
            new Chapter("scope-tasks", ScopeSubmitAwait.class, ScopeSubmitAwait::rows),
            new Chapter("scope-order", ScopeCompletionOrder.class, ScopeCompletionOrder::rows),
            new Chapter("scope-alarm", ArmAndDisarm.class, ArmAndDisarm::rows),
            new Chapter("flow-nodes", FlowNodes.class, FlowNodes::rows),
            new Chapter("flow-times", FlowTimes.class, FlowTimes::rows),
            new Chapter("pool-burst", PoolBurst.class, PoolBurst::rows),
            new Chapter("pool-bounded", PoolBounded.class, PoolBounded::rows),
            new Chapter("pool-busy", PoolBusy.class, PoolBusy::rows),
            new Chapter("pool-paced", PoolPaced.class, PoolPaced::rows),
            new Chapter("pool-blocking", PoolBlocking.class, PoolBlocking::rows),
            new Chapter("pool-bytes", PoolBytes.class, PoolBytes::rows),
            new Chapter("pool-isolation", PoolIsolation.class, PoolIsolation::rows));

    private static final PerformancePage PAGE = new PerformancePage(Path.of("docs", "performance.md"));

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
        chapters = CHAPTERS.stream()
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
                    + CHAPTERS.stream().map(Chapter::name).toList());
            System.exit(2);
        }
        report.run();
    }

    private void run() throws IOException, RunnerException {
        Instant begin = Instant.now();
        System.err.println("JMH writes to " + logs);
        Map<String, List<Row>> sections = new LinkedHashMap<>();
        for (Chapter chapter : chapters) {
            System.err.println(chapter.name + " ...");
            List<Row> found = measure(chapter);
            found.forEach(row -> System.err.println(row.line(!brief)));
            sections.computeIfAbsent(chapter.section(), section -> new ArrayList<>())
                    .addAll(found);
        }
        String machine = environment(Duration.between(begin, Instant.now()));
        for (Map.Entry<String, List<Row>> section : sections.entrySet()) {
            String table = PerformancePage.table(section.getKey(), section.getValue(), !brief, machine);
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
        } else {
            System.err.println("the page keeps its table \"" + section + "\": not all of its chapters were measured");
        }
    }

    private boolean isComplete(String section) {
        return CHAPTERS.stream()
                .filter(chapter -> chapter.section().equals(section))
                .allMatch(chapters::contains);
    }

    private List<Row> measure(Chapter chapter) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + chapter.benchmark.getName().replace(".", "\\.") + "\\.")
                .addProfiler(Measured.class)
                .shouldFailOnError(true)
                .output(logs.resolve(chapter.name + ".log").toString());
        if (brief) {
            options.forks(1)
                    .warmupIterations(1)
                    .warmupTime(TimeValue.milliseconds(200))
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(200))
                    .param("seconds", "1");
        }
        return chapter.rows.apply(new Results(new Runner(options.build()).run()));
    }

    private static String environment(Duration taken) {
        return "%s, %d processors, %s %s; %s %s; load %.1f; %d min."
                .formatted(
                        processor(),
                        Runtime.getRuntime().availableProcessors(),
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        System.getProperty("java.vm.name"),
                        System.getProperty("java.vm.version"),
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
