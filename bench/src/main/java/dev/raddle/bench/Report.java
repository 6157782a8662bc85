package dev.raddle.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measures everything that has a goal, and prints one table. Arguments choose chapters by name; none means all. The
 * argument {@code short} makes everything run once and briefly, to see that it runs: its numbers mean nothing.
 */
public final class Report {

    private record Chapter(String name, Class<?> benchmark, Function<Results, List<Row>> rows) {}

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

    private static final String MEANING = """
            Numbers are medians of the forks, in brackets the forks' range; three forks, five for round trips, one for
            the fair semaphore. A goal is judged by the median, with two decimals.
            """;

    private final boolean brief;
    private final List<Chapter> chapters;
    private final Path logs;

    private Report(List<String> args) throws IOException {
        brief = args.contains("short");
        List<String> names = args.stream().filter(arg -> !arg.equals("short")).toList();
        chapters = CHAPTERS.stream()
                .filter(chapter -> names.isEmpty() || names.stream().anyMatch(chapter.name::startsWith))
                .toList();
        logs = Files.createTempDirectory("raddle-bench-");
    }

    /**
     * Runs the report.
     *
     * @param args {@code short}, names of chapters or their beginnings
     * @throws IOException if there is no place for JMH's log
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

    private void run() throws RunnerException {
        Instant begin = Instant.now();
        System.err.println("JMH writes to " + logs);
        List<Row> rows = new ArrayList<>();
        for (Chapter chapter : chapters) {
            System.err.println(chapter.name + " ...");
            List<Row> found = measure(chapter);
            found.forEach(row -> System.err.println(row.line(!brief)));
            rows.addAll(found);
        }
        System.out.println(Row.HEAD);
        rows.forEach(row -> System.out.println(row.line(!brief)));
        System.out.println();
        System.out.println(circumstances(Duration.between(begin, Instant.now())));
        if (brief) {
            System.out.println("A short run: it shows that the benchmarks run, and measures nothing.");
        }
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

    private static String circumstances(Duration taken) {
        return MEANING
                + "%s, %d processors, %s %s; %s %s; load %.1f; %d min."
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
