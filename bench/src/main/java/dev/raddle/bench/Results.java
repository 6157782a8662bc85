package dev.raddle.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/**
 * The results of JMH, by method and parameters of the form {@code "name=value"}. The number of a fork is the median of
 * its iterations.
 */
final class Results {

    private final List<Fork> forks;

    Results(List<Fork> forks) {
        this.forks = List.copyOf(forks);
    }

    /** Returns the benchmark's own score. */
    Stat score(String method, String... params) {
        return ofForks(fork -> Stat.median(scores(fork)), method, params);
    }

    /** Returns a number that {@link Measured} has added. */
    Stat note(String label, String method, String... params) {
        return ofForks(fork -> Stat.median(notes(fork, label)), method, params);
    }

    /** Returns the ratio of the lowest score of an iteration to the median. */
    Stat lowestOfMedian(String method, String... params) {
        return ofForks(Results::lowestOfMedian, method, params);
    }

    /** Returns all numbers of a fork: by the label and the unit the score and what {@link Measured} has added. */
    static Map<String, Double> numbers(BenchmarkResult fork) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        numbers.put("score, " + fork.getPrimaryResult().getScoreUnit(), Stat.median(scores(fork)));
        fork.getSecondaryResults()
                .forEach((label, result) ->
                        numbers.put(label + ", " + result.getScoreUnit(), Stat.median(notes(fork, label))));
        return numbers;
    }

    private Stat ofForks(ToDoubleFunction<BenchmarkResult> value, String method, String... params) {
        List<Fork> matching = forks.stream()
                .filter(fork -> matches(fork.result().getParams(), method, params))
                .toList();
        return new Stat(matching, matching.stream().map(Fork::result).mapToDouble(value));
    }

    private static boolean matches(BenchmarkParams benchmark, String method, String... params) {
        boolean equal = benchmark.getBenchmark().endsWith("." + method);
        for (String param : params) {
            int equals = param.indexOf('=');
            equal &= param.substring(equals + 1).equals(benchmark.getParam(param.substring(0, equals)));
        }
        return equal;
    }

    private static double lowestOfMedian(BenchmarkResult fork) {
        double[] scores = scores(fork);
        return scores[0] / Stat.median(scores);
    }

    private static double[] scores(BenchmarkResult fork) {
        return fork.getIterationResults().stream()
                .mapToDouble(iteration -> iteration.getPrimaryResult().getScore())
                .sorted()
                .toArray();
    }

    private static double[] notes(BenchmarkResult fork, String label) {
        return fork.getIterationResults().stream()
                .mapToDouble(iteration -> note(iteration, label))
                .sorted()
                .toArray();
    }

    private static double note(IterationResult iteration, String label) {
        Result<?> result = iteration.getSecondaryResults().get(label);
        if (result == null) {
            throw new IllegalStateException("\"" + label + "\" was not noted, only "
                    + iteration.getSecondaryResults().keySet());
        }
        return result.getScore();
    }
}
