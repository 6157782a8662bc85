package dev.raddle.bench;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs each fork by a JMH run of its own. */
final class JmhJvms implements Forks.Jvms {

    private static final String CLASS_PATH = "java.class.path";

    private final String classPath;
    private final Path log;
    private final Effort effort;

    /**
     * Creates it.
     *
     * @param classPath the class path of the forked JVMs
     * @param log the file to which JMH's output is appended
     * @param effort the iterations of a fork
     */
    JmhJvms(String classPath, Path log, Effort effort) {
        this.classPath = classPath;
        this.log = log;
        this.effort = effort;
    }

    /** Returns the class path of this JVM. */
    static String ownClassPath() {
        return System.getProperty(CLASS_PATH);
    }

    @Override
    public BenchmarkResult run(Trial trial) throws RunnerException {
        String own = ownClassPath();
        System.setProperty(CLASS_PATH, classPath); // JMH passes this property to the forks
        try (PrintStream out =
                new PrintStream(new FileOutputStream(log.toFile(), true), true, StandardCharsets.UTF_8)) {
            return new Runner(options(trial), OutputFormatFactory.createFormatInstance(out, VerboseMode.NORMAL))
                    .runSingle()
                    .getBenchmarkResults()
                    .iterator()
                    .next();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            System.setProperty(CLASS_PATH, own);
        }
    }

    private Options options(Trial trial) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + Pattern.quote(trial.benchmark()) + "$")
                .addProfiler(Measured.class)
                .forks(1)
                .shouldFailOnError(true);
        trial.params().forEach(options::param);
        effort.shorten(options);
        return options.build();
    }
}
