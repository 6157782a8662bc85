package dev.raddle.bench;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * A benchmark method with one value for each of its parameters.
 *
 * @param benchmark the qualified name of the method
 * @param params the values by the names of the parameters
 * @param forks the number of JVMs that run it
 */
record Trial(String benchmark, Map<String, String> params, int forks) {

    /** Returns the trials of a class, in the order of JMH. */
    static List<Trial> of(Class<?> benchmark) {
        OutputFormat silent = OutputFormatFactory.createFormatInstance(
                new PrintStream(OutputStream.nullOutputStream()), VerboseMode.SILENT);
        List<Trial> trials = new ArrayList<>();
        for (BenchmarkListEntry method : BenchmarkList.defaultList()
                .find(silent, List.of("^" + benchmark.getName().replace(".", "\\.") + "\\."), List.of())) {
            int forks = method.getForks().orElse(1);
            combinations(new TreeMap<>(method.getParams().orElse(Map.of())))
                    .forEach(params -> trials.add(new Trial(method.getUsername(), params, forks)));
        }
        return trials;
    }

    /** Returns each combination of one value for each name. */
    static List<Map<String, String>> combinations(Map<String, String[]> values) {
        List<Map<String, String>> all = List.of(Map.of());
        for (Map.Entry<String, String[]> param : values.entrySet()) {
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> begin : all) {
                for (String value : param.getValue()) {
                    Map<String, String> combination = new LinkedHashMap<>(begin);
                    combination.put(param.getKey(), value);
                    longer.add(combination);
                }
            }
            all = longer;
        }
        return all;
    }

    /** Returns a trial that runs once, and briefly if a parameter sets its length. */
    Trial brief() {
        Map<String, String> values = new LinkedHashMap<>(params);
        values.replace("seconds", "1");
        return new Trial(benchmark, values, 1);
    }

    /** Returns whether the trial has no such parameter, or has it with this value. */
    boolean agreesWith(String param) {
        int equals = param.indexOf('=');
        return params.getOrDefault(param.substring(0, equals), param.substring(equals + 1))
                .equals(param.substring(equals + 1));
    }

    /** Returns the class and the method without the package. */
    String shortName() {
        return benchmark.substring(benchmark.lastIndexOf('.', benchmark.lastIndexOf('.') - 1) + 1);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(shortName());
        params.forEach(
                (name, value) -> text.append(", ").append(name).append('=').append(value));
        return text.toString();
    }
}
