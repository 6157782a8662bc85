package dev.raddle.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Runs benchmarks on another checkout, the old one, and on this one, the new one, and prints the ratios of their
 * numbers. Forks of both alternate, so that a machine that becomes slower becomes slower for both.
 *
 * <p>The list of benchmarks, their parameters and the arguments of the JVMs are those of this checkout, and the code of
 * a benchmark is that of the checkout that it runs on.
 *
 * <p>With {@code quick} it compares CPU time and allocated bytes of the most common calls only, and the throughput
 * of a fleet, and fails if one of these numbers has become worse: each new fork is worse than each old one, and the
 * median by at least 2 %.
 */
public final class Compare {

    static final List<String> QUICK = List.of(
            "RoundTrip.raddle, caller=virtual",
            "CpuPerTask.raddle",
            "CpuPerSerialTask.raddle",
            "ScopeSubmitAwait.raddle, tasks=100",
            "StructuredForkJoin.raddle, n=100",
            "FlowNodes.inCallersThread, shape=chain 100",
            "PoolBurst.burst, peer=RADDLE, producers=1",
            "FleetPermits.raddleWithSlices, load=HOT, seconds=5");
    private static final int QUICK_FORKS = 4;
    private static final String THROUGHPUT = "throughput, tasks/s";
    private static final Set<String> QUICK_NUMBERS =
            Set.of(Measured.CPU + ", ns/op", Measured.ALLOCATED + ", B/op", THROUGHPUT);
    private static final double WORSE = 1.02;

    private static final String HEAD = """
            | benchmark | number | old | new | new / old | lost |
            |---|---|---|---|---|---|""";

    /** What the forks of a trial have measured, fork i of one checkout beside fork i of the other. */
    private record Pairs(List<Fork> old, List<Fork> current) {

        /** Returns a line for each number that all forks have. */
        List<Line> lines(Trial trial) {
            List<Map<String, Double>> before = numbers(old);
            List<Map<String, Double>> after = numbers(current);
            Set<String> common = new LinkedHashSet<>(after.getFirst().keySet());
            Stream.concat(before.stream(), after.stream()).forEach(fork -> common.retainAll(fork.keySet()));
            return common.stream()
                    .map(number -> line(trial, number, values(before, number), values(after, number)))
                    .toList();
        }

        private static List<Map<String, Double>> numbers(List<Fork> forks) {
            return forks.stream().map(fork -> Results.numbers(fork.result())).toList();
        }

        private static double[] values(List<Map<String, Double>> forks, String number) {
            return forks.stream()
                    .mapToDouble(fork -> fork.getOrDefault(number, Double.NaN))
                    .toArray();
        }

        private Line line(Trial trial, String number, double[] before, double[] after) {
            List<Fork> both = Stream.concat(old.stream(), current.stream()).toList();
            Stat ratio = new Stat(both, IntStream.range(0, after.length).mapToDouble(i -> after[i] / before[i]));
            return new Line(
                    trial,
                    number,
                    new Stat(old, Arrays.stream(before)),
                    new Stat(current, Arrays.stream(after)),
                    ratio);
        }
    }

    /** One number of a trial in both checkouts. */
    record Line(Trial trial, String number, Stat old, Stat current, Stat ratio) {

        /** Returns whether a number has become worse by more than its spread. */
        boolean isWorse() {
            return number.equals(THROUGHPUT) ? isMore(old, current) : isMore(current, old);
        }

        private static boolean isMore(Stat one, Stat other) {
            return one.smallest() > other.largest() && one.median() >= WORSE * other.median();
        }

        @Override
        public String toString() {
            return String.join(
                            " | ",
                            "| " + trial,
                            number,
                            Row.text(old, ""),
                            Row.text(current, ""),
                            Row.text(ratio, "×"),
                            Row.lostText(ratio.forks().stream()))
                    + " |";
        }
    }

    private final Effort effort;
    private final List<String> names;
    private final List<String> params;
    private final Path logs;
    private final Forks old;
    private final Forks current;

    private Compare(String oldClassPath, List<String> args) throws IOException {
        effort = args.contains("short") ? Effort.SHORT : args.contains("quick") ? Effort.QUICK : Effort.FULL;
        params = args.stream().filter(arg -> arg.contains("=")).toList();
        names = args.stream()
                .filter(arg -> !arg.contains("=") && !arg.equals("short") && !arg.equals("quick"))
                .toList();
        logs = Files.createTempDirectory("raddle-compare-");
        old = forks(oldClassPath, "old.log");
        current = forks(JmhJvms.ownClassPath(), "new.log");
    }

    private Forks forks(String classPath, String log) {
        return new Forks(
                new JmhJvms(classPath, logs.resolve(log), effort),
                () -> CpuTimes.read(CpuTimes.PROC),
                effort.repeatsMax());
    }

    /**
     * Compares two checkouts. Exits with 1 if a number of a quick comparison has become worse.
     *
     * @param args the class path of the old checkout's benchmarks; then {@code short} or {@code quick}, names of
     *     sections, of chapters or of benchmark methods, or their beginnings, and values of parameters of the form
     *     {@code name=value}
     * @throws IOException if no log can be written
     * @throws RunnerException if a benchmark of this checkout fails
     */
    public static void main(String[] args) throws IOException, RunnerException {
        Compare compare = new Compare(args[0], Arrays.asList(args).subList(1, args.length));
        List<Trial> trials = compare.trials();
        if (trials.isEmpty()) {
            System.err.println("no such benchmark; there are the chapters "
                    + Chapter.ALL.stream().map(Chapter::name).toList());
            System.exit(2);
        }
        List<Line> worse = compare.run(trials);
        if (!worse.isEmpty()) {
            System.out.println("\nWorse by more than their spread:");
            worse.forEach(System.out::println);
            System.exit(1);
        }
    }

    private List<Trial> trials() {
        List<Trial> trials = new ArrayList<>();
        for (Chapter chapter : Chapter.ALL) {
            if (!chapter.missing().get().isEmpty()) {
                continue; // its benchmark cannot run on this machine
            }
            Trial.of(chapter.benchmark()).stream()
                    .filter(trial -> isChosen(chapter, trial))
                    .map(this::shortened)
                    .forEach(trials::add);
        }
        return trials;
    }

    private boolean isChosen(Chapter chapter, Trial trial) {
        return (effort != Effort.QUICK || QUICK.contains(trial.toString()))
                && (names.isEmpty()
                        || names.stream()
                                .anyMatch(name -> chapter.isChosenBy(name)
                                        || trial.shortName().startsWith(name)))
                && params.stream().allMatch(trial::agreesWith);
    }

    private Trial shortened(Trial trial) {
        return switch (effort) {
            case FULL -> trial;
            case QUICK -> new Trial(trial.benchmark(), trial.params(), QUICK_FORKS);
            case SHORT -> trial.brief();
        };
    }

    /** Returns the numbers of a quick comparison that have become worse. */
    private List<Line> run(List<Trial> trials) throws RunnerException {
        System.err.println("JMH writes to " + logs);
        List<Line> lines = new ArrayList<>();
        for (Trial trial : trials) {
            for (Line line : compare(trial)) {
                System.err.println(line);
                lines.add(line);
            }
        }
        System.out.println(HEAD);
        lines.forEach(System.out::println);
        if (effort == Effort.SHORT) {
            System.out.println("A short run: it shows that the benchmarks run, and measures nothing.");
        }
        return lines.stream()
                .filter(line -> effort == Effort.QUICK && line.isWorse())
                .toList();
    }

    private List<Line> compare(Trial trial) throws RunnerException {
        List<Fork> before = new ArrayList<>();
        List<Fork> after = new ArrayList<>();
        for (int i = 0; i < trial.forks(); i++) {
            try {
                before.add(old.run(trial));
            } catch (RunnerException e) { // such as a method that the old checkout does not have
                System.err.println(trial + " failed in the old checkout, see old.log");
                return List.of();
            }
            after.add(current.run(trial));
        }
        return new Pairs(before, after)
                .lines(trial).stream()
                        .filter(line -> effort != Effort.QUICK || QUICK_NUMBERS.contains(line.number()))
                        .toList();
    }
}
