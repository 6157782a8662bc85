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
 */
public final class Compare {

    private static final String HEAD = """
            | benchmark | number | old | new | new / old | lost |
            |---|---|---|---|---|---|""";

    /** What the forks of a trial have measured, fork i of one checkout beside fork i of the other. */
    private record Pairs(List<Fork> old, List<Fork> current) {

        /** Returns a line for each number that all forks have. */
        List<String> lines(String name) {
            List<Map<String, Double>> before = numbers(old);
            List<Map<String, Double>> after = numbers(current);
            Set<String> common = new LinkedHashSet<>(after.getFirst().keySet());
            Stream.concat(before.stream(), after.stream()).forEach(fork -> common.retainAll(fork.keySet()));
            return common.stream()
                    .map(number -> line(name, number, values(before, number), values(after, number)))
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

        private String line(String name, String number, double[] before, double[] after) {
            List<Fork> both = Stream.concat(old.stream(), current.stream()).toList();
            Stat ratio = new Stat(both, IntStream.range(0, after.length).mapToDouble(i -> after[i] / before[i]));
            return String.join(
                    " | ",
                    "| " + name,
                    number,
                    Row.text(new Stat(old, Arrays.stream(before)), ""),
                    Row.text(new Stat(current, Arrays.stream(after)), ""),
                    Row.text(ratio, " ×"),
                    Row.lostText(both.stream()) + " |");
        }
    }

    private final boolean brief;
    private final List<String> names;
    private final List<String> params;
    private final Path logs;
    private final Forks old;
    private final Forks current;

    private Compare(String oldClassPath, List<String> args) throws IOException {
        brief = args.contains("short");
        params = args.stream().filter(arg -> arg.contains("=")).toList();
        names = args.stream()
                .filter(arg -> !arg.contains("=") && !arg.equals("short"))
                .toList();
        logs = Files.createTempDirectory("raddle-compare-");
        old = forks(oldClassPath, "old.log");
        current = forks(JmhJvms.ownClassPath(), "new.log");
    }

    private Forks forks(String classPath, String log) {
        return new Forks(
                new JmhJvms(classPath, logs.resolve(log), brief),
                () -> CpuTimes.read(CpuTimes.PROC),
                brief ? 0 : Forks.REPEATS_MAX);
    }

    /**
     * Compares two checkouts.
     *
     * @param args the class path of the old checkout's benchmarks; then {@code short}, names of sections, of chapters
     *     or of benchmark methods, or their beginnings, and values of parameters of the form {@code name=value}
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
        compare.run(trials);
    }

    private List<Trial> trials() {
        List<Trial> trials = new ArrayList<>();
        for (Chapter chapter : Chapter.ALL) {
            if (!chapter.missing().get().isEmpty()) {
                continue; // its benchmark cannot run on this machine
            }
            Trial.of(chapter.benchmark()).stream()
                    .filter(trial -> isChosen(chapter, trial))
                    .map(trial -> brief ? trial.brief() : trial)
                    .forEach(trials::add);
        }
        return trials;
    }

    private boolean isChosen(Chapter chapter, Trial trial) {
        return (names.isEmpty()
                        || names.stream()
                                .anyMatch(name -> chapter.isChosenBy(name)
                                        || trial.shortName().startsWith(name)))
                && params.stream().allMatch(trial::agreesWith);
    }

    private void run(List<Trial> trials) throws RunnerException {
        System.err.println("JMH writes to " + logs);
        List<String> lines = new ArrayList<>();
        for (Trial trial : trials) {
            for (String line : compare(trial)) {
                System.err.println(line);
                lines.add(line);
            }
        }
        System.out.println(HEAD);
        lines.forEach(System.out::println);
        if (brief) {
            System.out.println("A short run: it shows that the benchmarks run, and measures nothing.");
        }
    }

    private List<String> compare(Trial trial) throws RunnerException {
        List<Fork> before = new ArrayList<>();
        List<Fork> after = new ArrayList<>();
        for (int i = 0; i < trial.forks(); i++) {
            try {
                before.add(old.run(trial));
            } catch (RunnerException e) { // such as a method that the old checkout does not have
                return List.of("| " + trial + " | failed in the old checkout, see old.log | | | | |");
            }
            after.add(current.run(trial));
        }
        return new Pairs(before, after).lines(trial.toString());
    }
}
